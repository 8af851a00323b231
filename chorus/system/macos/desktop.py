"""Desktop notifications, with osascript."""

import shutil
from collections.abc import Mapping

_SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")


def desktop_command(title: str, text: str, environment: Mapping[str, str]) -> list[str] | None:
    """The command that shows this notification; None without osascript.

    `title` and `text` must not begin with `-`. They are arguments of the script, never part of its source.
    """
    program = shutil.which("osascript", path=environment.get("PATH"))
    return [program, *(word for line in _SCRIPT for word in ("-e", line)), title, text] if program else None
