"""`chorus inbox`: every repository in one list, from any directory, whatever state its watcher is in."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.cli import main
from chorus.errors import ExitCode
from chorus.inbox.repositories import name_repositories
from chorus.model.api.json_api import InboxJson
from chorus.model.api.schema import validator
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, connect_started, stop
from tests.inbox.conftest import OddWatcher, odd_watcher, scripted
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import prompt
from tests.repos import UserRepo

__all__ = ["odd_watcher", "scripted"]  # fixtures


@pytest.fixture
def two_watched(worked: UserRepo, tmp_path: Path) -> Iterator[list[Path]]:
    """Two repositories with a real watcher each; the agent made three edits in the first."""
    other = tmp_path / "other" / worked.path.name
    other.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=other, check=True)
    homes = [find_home(path) for path in (worked.path, other)]
    for home in homes:
        connect_or_start(home).close()
    yield [worked.path, other]
    for home in homes:
        stop(home)


def inbox(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["inbox", *words]) == ExitCode.OK
    return capsys.readouterr().out


def test_every_repository_is_listed_with_what_waits_there(
    two_watched: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # outside of both
    shown = json.loads(inbox(capsys, "--json"))

    validator(InboxJson).validate_python(shown)
    by_path = {one["path"]: one for one in shown["repositories"]}
    first, second = (by_path[str(path)] for path in two_watched)
    assert first["name"] != second["name"]
    assert first["name"].endswith(two_watched[0].name)
    assert [one["state"] for one in (first, second)] == ["watched", "watched"]
    assert [action["paths"] for action in first["actions"]] == [["app.py"], ["new.txt"], ["run.sh"]]
    assert (first["open"], second["open"], shown["open"], shown["prompts"]) == (3, 0, 3, 0)
    assert inbox(capsys, "--short") == "3 open\n"
    plain = inbox(capsys, "--plain")
    assert "open     3 Edit run.sh +1 -1" in plain
    assert plain.endswith("3 open in 2 of 2 repositories\n")


def test_stopped_hung_other_and_removed_repositories_spoil_nothing(
    two_watched: list[Path],
    odd_watcher: Callable[..., OddWatcher],
    scripted: Callable[[str], ScriptedWatcher],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stop(find_home(two_watched[1]))
    odd_watcher("hung")
    odd_watcher("newer", lambda request: json.dumps({"v": 2, "id": request["id"]}).encode() + b"\n")
    removed = scripted("removed")
    removed.stop()
    shutil.rmtree(tmp_path / "removed")

    listed = json.loads(inbox(capsys, "--json"))["repositories"]

    states = {one["path"]: one["state"] for one in listed}
    assert states == {
        str(two_watched[0]): "watched",
        str(two_watched[1]): "stopped",
        str(tmp_path / "hung"): "unresponsive",
        str(tmp_path / "newer"): "unresponsive",
    }
    assert all(one["problem"] for one in listed if one["state"] == "unresponsive")
    plain = inbox(capsys, "--plain")
    assert "problem: the watcher does not respond" in plain
    assert "no watcher: " in plain
    assert inbox(capsys, "--short") == "3 open\n"


def test_a_prompt_is_shown_with_the_command_that_answers_it_from_anywhere(
    scripted: Callable[[str], ScriptedWatcher],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    watcher = scripted("shop")
    watcher.add_prompt(prompt("7.1.ab", body="rm -rf build\x1b[2J"))
    plain = inbox(capsys, "--plain")
    assert "    | rm -rf build\ufffd[2J\n" in plain
    assert "answer it with `chorus approve shop:7.1.ab`, or `chorus deny` or `chorus answer`\n" in plain

    monkeypatch.chdir(tmp_path)
    assert main(["approve", "shop:7.1.ac"]) == ExitCode.NOT_FOUND
    assert main(["approve", "shop:7.1.ab"]) == ExitCode.OK
    assert main(["approve", "web:7.1.ab"]) == ExitCode.NOT_FOUND
    assert "the inbox lists shop" in capsys.readouterr().err
    (answered,) = watcher.requests_for("answer")
    assert answered["prompt"] == "7.1.ab"


def test_a_prompt_that_cannot_be_answered_here_says_where(
    scripted: Callable[[str], ScriptedWatcher], capsys: pytest.CaptureFixture[str]
) -> None:
    scripted("shop").add_prompt(prompt("7.unknown.ab", kind="unknown", options=[]))
    plain = inbox(capsys, "--plain")
    assert "Chorus does not recognise this prompt; answer it in its pane\n" in plain
    assert "chorus approve" not in plain


def test_without_any_repository_the_hint_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inbox", "--plain"]) == ExitCode.NOT_FOUND
    assert "hint: Start a session" in capsys.readouterr().err
    assert json.loads(inbox(capsys, "--json")) == {"repositories": [], "prompts": 0, "open": 0}
    assert inbox(capsys, "--short") == ""


def test_a_watcher_that_cannot_register_still_works(repo: UserRepo, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-m", "chorus.watcher", str(repo.path / ".git")]
    process = subprocess.Popen(command, env=environment)
    home = find_home(repo.path)
    connect_started(home).close()
    assert stop(home)
    assert process.wait(timeout=30) == 0
    assert "the inbox will not list this repository" in home.log.read_text()


def test_names_are_as_short_as_they_can_be() -> None:
    paths = [Path(text) for text in ("/a/shop", "/b/shop", "/b/x/shop", "/c/web", "/")]
    assert list(name_repositories(paths).values()) == ["a/shop", "b/shop", "x/shop", "web", "/"]
