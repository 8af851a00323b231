"""How a person wants prompts relayed and told, from their own config.

Reads the top of `config.toml` and its `[tell]` table. A repository has no say in it. Never writes.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from chorus.config.user_file import BadConfig, read_table, user_config_path

Relay = Literal["keys", "hook", "auto"]


class Tell(BaseModel):
    """How a prompt that waits makes itself known; nothing of it unless asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bell: bool = False  # ring the terminals that show the pane's tmux server
    tmux: bool = False  # keep tmux's option @chorus at what waits, for the status line
    command: tuple[str, ...] = ()  # run this with a title and a text, e.g. ["notify-send"]


class Preferences(BaseModel):
    model_config = ConfigDict(frozen=True)

    # How a person's answer reaches a client with hooks: by a key, by the permission hook, or the
    # hook where there is one and else a key.
    relay: Relay = "keys"
    tell: Tell = Tell()


def read_preferences(path: Path | None = None) -> Preferences:
    place = path or user_config_path()
    try:
        return Preferences.model_validate(read_table(place))
    except ValidationError as error:
        first = error.errors()[0]
        raise BadConfig(f"{place}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
