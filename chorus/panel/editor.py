"""Open a file of the work tree in the user's editor."""

import shlex
from collections.abc import Mapping
from pathlib import Path

# Editors that take the line to start at as `+N`.
LINE_EDITORS = frozenset({"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe"})


def editor_command(environment: Mapping[str, str], path: Path, line: int) -> list[str]:
    """Return the command that opens `path`, at `line` where the editor is known to take one."""
    command = shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "vi") or ["vi"]
    at = [f"+{line}"] if Path(command[0]).name in LINE_EDITORS else []
    return [*command, *at, str(path)]
