"""What the command line says of itself, and of what it does not know."""

import pytest

from chorus import __version__
from chorus.cli import main
from chorus.commands.table import COMMANDS
from chorus.errors import ExitCode


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == ExitCode.DONE
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said and summary in said for name, summary in COMMANDS.items())


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == ExitCode.DONE
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
