"""The edits every contender gets: a repository of a given size, and calls that change it, all different."""

import os
import subprocess
from pathlib import Path
from typing import Any

MODULES = 20
LINES = 40
Call = dict[str, Any]
GIT_CONFIG = "[user]\n\tname = Ada User\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"


def make_repository(project: Path, home: Path, *, files: int) -> None:
    """Make a repository of so many files, twenty of which are modules that get edited."""
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text(GIT_CONFIG)
    (project / "src").mkdir(parents=True)
    for number in range(MODULES):
        body = "".join(f"value_{line} = 0\n" for line in range(LINES))
        (project / "src" / f"m{number:02}.py").write_text(body)
    for number in range(files - MODULES):
        directory = project / "data" / f"{number // 100:03}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{number:05}.txt").write_text(f"file {number}\n" * 20)
    # Nothing goes on in the background once it is made.
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "gc.auto=0", "commit", "-qm", "start"],
        ["gc", "-q"],
    ):
        subprocess.run(["git", *command], cwd=project, check=True, env=environment(home))


def environment(home: Path) -> dict[str, str]:
    """Environment with its own home, and no network access of the tools while they are measured."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def plan_calls(count: int) -> list[Call]:
    """Plan calls; of every ten, eight are edits, one creates a file, one is a command that changes a file."""
    return [_call(number) for number in range(count)]


def _call(number: int) -> Call:
    module, line = f"src/m{number % MODULES:02}.py", number // MODULES
    call_id = f"toolu_compare_{number:03}"
    if number % 10 == 5:
        command = f"sed -i 's/^value_{line} = 0$/value_{line} = {number}/' {module}"
        return {"tool": "Bash", "input": {"command": command, "description": "Set it"}, "id": call_id}
    if number % 10 == 9:
        path = f"{{cwd}}/notes/n{number:03}.txt"
        return {
            "tool": "Write",
            "input": {"file_path": path, "content": f"note {number}\n"},
            "id": call_id,
        }
    arguments = {
        "file_path": f"{{cwd}}/{module}",
        "old_string": f"value_{line} = 0\n",
        "new_string": f"value_{line} = {number + 1}\n",
    }
    return {"tool": "Edit", "input": arguments, "id": call_id}
