"""Help, version, unknown words, and `chorus` without a command."""

import shlex
from pathlib import Path

import pytest

from chorus import __version__
from chorus.cli import main
from chorus.commands.parser.catalog import COMMANDS, GROUPS, load
from chorus.errors import ExitCode, UsageError
from tests.commands.conftest import Shell
from tests.repos import UserRepo


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown and summary in shown for name, summary in COMMANDS.items())


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == ExitCode.OK
    assert capsys.readouterr().out == f"chorus {__version__}\n"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("revrt", "unknown command 'revrt'; did you mean `chorus revert`? see `chorus --help`"),
        ("xyzzy", "unknown command 'xyzzy'; see `chorus --help`"),
        ("--jsn", "unknown option '--jsn'; see `chorus --help`"),
    ],
)
def test_an_unknown_command_or_option_is_reported_with_a_suggestion(
    capsys: pytest.CaptureFixture[str], word: str, expected: str
) -> None:
    assert main([word]) == ExitCode.USAGE
    assert capsys.readouterr().err == f"chorus: {expected}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["log", "--opne"], "unrecognized arguments: --opne; did you mean --open?"),
        (["log", "--xyzzy"], "unrecognized arguments: --xyzzy"),
        (["log", "-n", "0"], "argument -n: '0' is not a positive number"),
        (["log", "-n", "-1"], "argument -n: '-1' is not a positive number"),
        (["prompts", "--screen", "-", "--width", "0"], "argument --width: '0' is not a positive number"),
        (["inspect", "-", "--width", "0"], "argument --width: '0' is not a positive number"),
        (["answer"], "the following arguments are required: ID"),
        (["hooks", "remove"], "argument install|uninstall|status: invalid choice: 'remove'"),
    ],
)
def test_a_wrong_argument_is_a_usage_error_with_the_reason(
    capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == ExitCode.USAGE
    assert capsys.readouterr().err.splitlines()[-1] == f"chorus {words[0]}: error: {expected}"


def test_each_of_several_hints_has_a_line_and_none_can_be_forged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> int:
        raise UsageError("no", hint="Do this.\nhint: Do that.")

    monkeypatch.setattr("chorus.cli._dispatch", refuse)
    assert main(["log"]) == ExitCode.USAGE
    assert capsys.readouterr().err == "chorus: no\nhint: Do this.\n      hint: Do that.\n"


def test_a_bug_is_reported_with_the_versions_and_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorus.cli._dispatch", lambda _: 1 // 0)
    assert main(["log"]) == ExitCode.BUG
    *trace, last = capsys.readouterr().err.splitlines()
    assert "ZeroDivisionError" in trace[-1]
    assert last.startswith(f"chorus: this is a bug (chorus {__version__}, ")
    assert last.endswith("); please report the lines above")


def test_the_help_is_grouped(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert [line[:-1] for line in lines if line.endswith(":") and line[:-1] in GROUPS] == list(GROUPS)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_a_terminal_and_its_examples_parse(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main([name, "--help"])
    shown = capsys.readouterr().out
    summary = COMMANDS[name]
    assert f"{summary[0].upper()}{summary[1:]}." in shown
    assert max(map(len, shown.splitlines())) <= 110
    command, parser = load(name)
    for line, meaning in getattr(command, "EXAMPLES", ()):
        assert f"{line}  " in shown
        assert meaning in shown
        words = shlex.split(line.rsplit("|", 1)[-1])
        assert words[:2] == ["chorus", name]
        parser.parse_args(words[2 : words.index("--")] if "--" in words else words[2:])


def test_without_a_command_outside_a_repository_the_help_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([]) == ExitCode.OK
    shown = capsys.readouterr().out
    main(["--help"])
    assert shown == capsys.readouterr().out


@pytest.mark.parametrize("command", [["status"], ["log"], ["stop"], ["prompts"]])
def test_a_file_in_place_of_choruss_directory_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, repo: UserRepo, command: list[str]
) -> None:
    monkeypatch.chdir(repo.path)
    (repo.git_dir / "chorus").write_text("somebody else's")
    assert main(command) == ExitCode.SYSTEM_ERROR
    shown = "".join(capsys.readouterr())
    assert f"cannot reach the watcher at {repo.git_dir}/chorus/watcher.sock: Not a directory" in shown
    assert "move it away" in shown


def test_without_a_command_the_status_and_the_next_step_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, worked: UserRepo, chorus: Shell
) -> None:
    monkeypatch.chdir(worked.path)
    assert main([]) == ExitCode.OK
    stopped = capsys.readouterr().out.splitlines()
    assert stopped[0] == "no watcher is running for this repository"
    assert any(line.startswith("  chorus claude") for line in stopped)
    chorus("keep", "1")
    assert main([]) == ExitCode.OK
    running = capsys.readouterr().out
    assert "2 open actions, 0 prompts waiting" in running
    assert "\n  chorus log --open  list the open actions\n" in running


def test_without_a_command_nothing_is_created_in_an_unused_repository(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, repo: UserRepo
) -> None:
    monkeypatch.chdir(repo.path)
    before = repo.fingerprint()
    assert main([]) == ExitCode.OK
    assert "chorus demo" in capsys.readouterr().out
    assert not (repo.path / ".git" / "chorus").exists()
    assert repo.fingerprint() == before


def test_help_before_a_command_shows_the_help_of_that_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help", "revert"])
    assert left.value.code == ExitCode.OK
    assert capsys.readouterr().out.startswith("usage: chorus revert ")
