"""Every command line the panel shows can be parsed by `chorus`."""

import argparse
import importlib
import re
import shlex

import pytest

from chorus.commands.parser.catalog import COMMANDS
from chorus.panel import command_lines
from chorus.panel.keys import ALL_KEYS

SHOWN = [
    command_lines.show("7"),
    command_lines.keep([7, 8]),
    command_lines.keep_turn("t 1"),
    command_lines.revert([7]),
    command_lines.with_dependents(command_lines.revert([7])),
    command_lines.with_dependents(command_lines.revert_turn("t1")),
    command_lines.redo([7]),
    command_lines.answer("3.1.ab", "allow"),
    command_lines.answer("3.1.ab", "allow-always"),
    command_lines.answer("3.1.ab", "deny"),
    command_lines.answer("3.1.ab", "deny", message="don't; $(rm)"),
    command_lines.answer("3.1.ab", "option", option="2"),
    command_lines.land("chorus/x", "turn"),
    command_lines.land("chorus/x", "all", onto="main", message="It's done"),
    *(re.sub(r"\bN\b", "7", key.command) for key in ALL_KEYS if key.command.startswith("chorus")),
]


@pytest.mark.parametrize("shown", SHOWN)
def test_every_command_the_panel_shows_can_be_parsed(shown: str) -> None:
    words = shlex.split(shown)
    assert words[0] == "chorus"
    assert words[1] in COMMANDS
    parser = argparse.ArgumentParser()
    importlib.import_module(f"chorus.commands.{words[1]}").configure(parser)
    if "--help" not in words:
        parser.parse_args(words[2:])


def test_text_of_others_is_quoted_for_a_shell() -> None:
    command = command_lines.answer("p", "deny", message="$(touch x); echo `y`")
    assert shlex.split(command)[-1] == "$(touch x); echo `y`"
