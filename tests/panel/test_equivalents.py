"""Every command the panel shows is one that `chorus` understands."""

import argparse
import importlib
import re
import shlex

import pytest

from chorus.commands.parser.catalog import COMMANDS
from chorus.panel import equivalents
from chorus.panel.keys import ALL

SHOWN = [
    equivalents.show(7),
    equivalents.keep([7, 8]),
    equivalents.keep_turn("t 1"),
    equivalents.revert([7]),
    equivalents.revert([7], with_dependents=True),
    equivalents.revert_turn("t1", with_dependents=True),
    equivalents.redo([7]),
    equivalents.answer("3.1.ab", "allow"),
    equivalents.answer("3.1.ab", "allow-always"),
    equivalents.answer("3.1.ab", "deny"),
    equivalents.answer("3.1.ab", "deny", message="don't; $(rm)"),
    equivalents.answer("3.1.ab", "option", option="2"),
    equivalents.land("chorus/x", "turn"),
    equivalents.land("chorus/x", "all", onto="main", message="It's done"),
    *(re.sub(r"\bN\b", "7", key.command) for key in ALL if key.command.startswith("chorus")),
]


@pytest.mark.parametrize("shown", SHOWN)
def test_a_command_the_panel_shows_is_understood(shown: str) -> None:
    words = shlex.split(shown)
    assert words[0] == "chorus"
    assert words[1] in COMMANDS
    parser = argparse.ArgumentParser()
    importlib.import_module(f"chorus.commands.{words[1]}").configure(parser)
    if "--help" not in words:
        parser.parse_args(words[2:])


def test_what_comes_from_outside_is_quoted_for_a_shell() -> None:
    command = equivalents.answer("p", "deny", message="$(touch x); echo `y`")
    assert shlex.split(command)[-1] == "$(touch x); echo `y`"
