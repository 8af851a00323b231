"""Which tmux this is, and whether it can do what Chorus needs."""

import re
import subprocess

from chorus.tmux.errors import TmuxMissing

# `attach-session -f`, `-N` and `#{C:}` in conditions.
OLDEST = (3, 2)


def read_version() -> str:
    """As tmux says it: `3.3a`, `next-3.5`, `master`."""
    try:
        done = subprocess.run(["tmux", "-V"], capture_output=True, text=True)
    except FileNotFoundError:
        raise TmuxMissing from None
    return done.stdout.strip().removeprefix("tmux ")


def is_supported(version: str) -> bool:
    """A version without a number is built from the newest source."""
    numbers = re.search(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= OLDEST
