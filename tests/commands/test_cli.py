"""What the command line says of itself, and of what it does not know."""

import pytest

from chorus import __version__
from chorus.cli import main
from chorus.commands.parser.catalog import COMMANDS
from chorus.errors import ExitCode


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == ExitCode.OK
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said and summary in said for name, summary in COMMANDS.items())


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == ExitCode.OK
    assert capsys.readouterr().out == f"chorus {__version__}\n"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("revrt", "there is no command 'revrt'; did you mean `chorus revert`? `chorus --help` lists them"),
        ("xyzzy", "there is no command 'xyzzy'; `chorus --help` lists them"),
        ("--jsn", "there is no option '--jsn'; `chorus --help` lists them"),
    ],
)
def test_an_unknown_word_is_named_with_what_was_likely_meant(
    capsys: pytest.CaptureFixture[str], word: str, said: str
) -> None:
    assert main([word]) == ExitCode.USAGE
    assert capsys.readouterr().err == f"chorus: {said}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["log", "--opne"], "unrecognized arguments: --opne; did you mean --open?"),
        (["log", "--xyzzy"], "unrecognized arguments: --xyzzy"),
        (["log", "-n", "0"], "argument -n: '0' is not a number from 1 on"),
        (["log", "-n", "-1"], "argument -n: '-1' is not a number from 1 on"),
        (["prompts", "--screen", "-", "--width", "0"], "argument --width: '0' is not a number from 1 on"),
        (["answer"], "the following arguments are required: ID"),
    ],
)
def test_an_option_that_makes_no_sense_is_a_usage_error_that_says_why(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == ExitCode.USAGE
    assert capsys.readouterr().err.splitlines()[-1] == f"chorus {words[0]}: error: {said}"


def test_help_for_one_command_may_be_asked_for_before_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help", "revert"])
    assert left.value.code == ExitCode.OK
    assert capsys.readouterr().out.startswith("usage: chorus revert ")
