"""`python -m chorus.agent COMMON_DIR`: the agent of one repository, in this process."""

import sys
from pathlib import Path

from chorus.agent.agent import Agent
from chorus.agent.process import run_until_stopped
from chorus.wire.home import Home


def main(arguments: list[str]) -> int:
    home = Home(Path(arguments[0]))
    run_until_stopped(home, lambda stopping: Agent(home).serve(stopping))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
