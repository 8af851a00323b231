"""The user's configuration file, `$XDG_CONFIG_HOME/chorus/config.toml` (else `~/.config/chorus/config.toml`).

A missing file counts as empty.
"""

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chorus.errors import ChorusError

REPOSITORY_FILE = ".chorus.toml"

RelayMode = Literal["mod", "keys", "hook", "auto"]


DesktopMode = Literal["auto", "terminal", "off"]


class BadConfig(ChorusError):
    """A configuration file cannot be read, or does not have the expected form."""

    hint = "Correct the file, or rename it to use the defaults."


class Notifications(BaseModel):
    """Settings for notifications of pending prompts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # How the user is notified of a prompt that is still pending after `desktop_seconds`: by the desktop's own
    # program if there is one ("auto"), through the terminals attached to the pane's tmux server ("terminal"),
    # or not at all ("off").
    desktop: DesktopMode = "auto"
    desktop_seconds: float = Field(default=5.0, ge=0, le=3600)
    bell: bool = False  # ring the terminals attached to the pane's tmux server
    tmux: bool = False  # set the tmux option @chorus to what is pending, for the status line
    command: tuple[str, ...] = ()  # run this with a title and a text, e.g. ["notify-send"]


# The parts of a landed commit's message; the trailers follow.
LANDING_TEMPLATE = "{subject}\n\n{request}\n\n{actions}"


class LandingSettings(BaseModel):
    """Settings for the messages of landed commits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    template: str = LANDING_TEMPLATE
    co_authored_by: str = ""  # NAME <EMAIL>; empty: no such trailer


class Preferences(BaseModel):
    """The user's settings: the top of the config, `[notify]` and `[land]`. A repository cannot set them."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    # How the user's answer reaches an interactive client. "mod": through the mod if it runs, otherwise with
    # keys. "keys": always with keys. "hook": only through the mod or the permission hook. "auto": through the
    # mod or the hook if one waits, otherwise with keys.
    relay: RelayMode = "mod"
    notifications: Notifications = Field(default=Notifications(), alias="notify")
    landing: LandingSettings = Field(default=LandingSettings(), alias="land")


def user_config_path() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "chorus" / "config.toml"


def read_table(path: Path) -> dict[str, Any]:
    """Return the whole file as a table; empty if the file is missing."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadConfig(
            f"cannot read {path}: {error}", hint="Make the file readable, then run the command again."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfig(f"cannot read {path}: {error}") from error


def read_section(path: Path, name: str) -> dict[str, Any]:
    """Return one table of the file; empty if the table is missing."""
    section = read_table(path).get(name, {})
    if not isinstance(section, dict):
        raise BadConfig(f"{path}: {name} is not a table")
    return section


def read_user_section(name: str) -> dict[str, Any]:
    return read_section(user_config_path(), name)


def read_preferences(path: Path | None = None) -> Preferences:
    file = path or user_config_path()
    try:
        return Preferences.model_validate(read_table(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise BadConfig(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
