"""The user's own configuration, and what ships beside it.

Reads `$XDG_CONFIG_HOME/chorus/config.toml` (else `~/.config/chorus/config.toml`), a repository's
`.chorus.toml`, and the prompt rules that ship with Chorus. Gives plain tables for the core to check.
Never writes, never creates a file.
"""

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.dialogs.rules import PromptRules, parse_rules
from chorus.errors import ChorusError

REPOSITORY_FILE = ".chorus.toml"


class BadConfig(ChorusError):
    """A configuration file cannot be read as what it should be."""

    hint = "Correct the file, or move it away to go on with the defaults."


def user_config_path() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "chorus" / "config.toml"


def read_table(path: Path) -> dict[str, Any]:
    """The whole file as a table; an absent file is an empty one."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadConfig(f"cannot read {path}: {error}") from error


def read_section(path: Path, name: str) -> dict[str, Any]:
    """One table of the file; an absent one is empty."""
    section = read_table(path).get(name, {})
    if not isinstance(section, dict):
        raise BadConfig(f"{path}: {name} is not a table")
    return section


def read_prompt_rules(path: Path | None = None) -> PromptRules:
    """The shipped rules, with those of the user's `[prompts]` before them."""
    text = (
        resources.files("chorus.agents.claude_code.dialogs")
        .joinpath("rules.toml")
        .read_text(encoding="utf-8")
    )
    return parse_rules(tomllib.loads(text), read_section(path or user_config_path(), "prompts"))
