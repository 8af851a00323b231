"""The plain parser gives what argparse gives, or leaves the command line to it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorus.commands.parser.catalog import COMMANDS, load, load_command
from chorus.commands.parser.plain_parser import NotPlain, PlainParser

WORDS = [
    "a",
    "12",
    "-1",
    "-",
    "--",
    "x y",
    "",
    "ab:3",
    "-h",
    "--help",
    "--he",
    "--nothing",
    "--json=1",
    "-n5",
]


def plain_parser(name: str) -> PlainParser | None:
    parser = PlainParser()
    try:
        load_command(name).configure(parser)  # type: ignore[arg-type]  # it takes the same calls
    except NotPlain:
        return None
    return parser


PLAIN = {name: parser for name in COMMANDS if (parser := plain_parser(name)) is not None}


def by_argparse(name: str, words: list[str]) -> dict[str, Any] | None:
    try:
        return vars(load(name)[1].parse_args(words))
    except SystemExit:
        return None


def flags_of(name: str) -> list[str]:
    return [flag for action in load(name)[1]._actions for flag in action.option_strings]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.filterwarnings("ignore")
def test_both_parsers_agree_on_every_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for flag in flags_of(name):
        for words in (
            [flag],
            [flag, "1"],
            [flag, "1", "a"],
            ["a", flag, "1"],
            ["a", "b", flag, "1", flag, "2"],
        ):
            found = PLAIN[name].parse(words)
            assert found is None or vars(found) == by_argparse(name, words), words


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_both_parsers_agree_on_any_words(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(PLAIN)))
    words = data.draw(st.lists(st.sampled_from(WORDS + flags_of(name)), max_size=5))
    found = PLAIN[name].parse(words)
    assert found is None or vars(found) == by_argparse(name, words)


@pytest.mark.parametrize(
    "line",
    [
        "status --short", "status", "prompts", "prompts --json", "log", "log -n 40", "log --open --json",
        "log --path src --since 2h", "log --turn a --turn b", "show 5", "show 5 --json", "show --turn a",
        "blame app.py:12", "diff 1 2", "lanes", "keep 1 2 3", "revert 12", "revert --turn 3f2a",
    ],
)  # fmt: skip
def test_common_command_lines_need_no_argparse(line: str) -> None:
    name, *words = line.split()
    assert PLAIN[name].parse(words) is not None


@pytest.mark.parametrize(
    "line",
    [
        "status --help", "status --sho", "status --short --json", "status extra", "log --status none",
        "log -n 0", "log -n", "log --limit=3", "show 1 2", "diff 1 --json 2", "show -- 5",
    ],
)  # fmt: skip
def test_uncertain_or_wrong_arguments_are_left_to_argparse(line: str) -> None:
    name, *words = line.split()
    assert PLAIN[name].parse(words) is None


def test_subcommands_are_left_to_argparse() -> None:
    assert plain_parser("hooks") is None
    assert plain_parser("policy") is None
