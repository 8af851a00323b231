"""Desktop notifications, with notify-send."""

import shutil
from collections.abc import Mapping

# Variables of a desktop session. Without a session, notify-send waits for a server that never comes.
SESSION_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")


def desktop_command(title: str, text: str, environment: Mapping[str, str]) -> list[str] | None:
    """The command that shows this notification; None without a desktop session or notify-send."""
    if not any(environment.get(name) for name in SESSION_VARIABLES):
        return None
    if (program := shutil.which("notify-send", path=environment.get("PATH"))) is None:
        return None
    # The desktop reads markup in the text, but not in the title.
    return [program, "--app-name=Chorus", "--", title, escape_markup(text)]


def escape_markup(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
