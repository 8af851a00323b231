"""Output follows the user's git settings: pager, colours, diffs; and the newest comes first."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from chorus.commands import log
from chorus.commands.access.history import read_log
from chorus.history.recorder import Recorder
from chorus.model.api.json_api import LogEntryJson
from chorus.model.api.requests import LogView
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start
from tests.commands.conftest import Shell, on_a_terminal
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

MARK = "sed s/^/PAGED:/"


def shown(repo: UserRepo, *words: str, **variables: str) -> str:
    code, out = on_a_terminal(repo, b"", *words, **variables)
    assert code == 0, out
    return out.decode()


@pytest.mark.parametrize("how", ["GIT_PAGER", "core.pager", "PAGER", "pager.show"])
def test_the_pager_is_the_one_git_would_use(worked: UserRepo, how: str) -> None:
    if "." in how:
        worked.git("config", how, MARK)
        assert "PAGED:" in shown(worked, "show", "1", PAGER="false")
    else:
        assert "PAGED:" in shown(worked, "show", "1", **{how: MARK})


def test_no_pager_if_the_user_turned_it_off_or_stdout_is_not_a_terminal(
    worked: UserRepo, chorus: Shell
) -> None:
    assert "PAGED" not in chorus("show", "1", GIT_PAGER=MARK).out
    assert "+x = 9" in shown(worked, "show", "1", GIT_PAGER="cat")
    worked.git("config", "pager.show", "false")
    assert "PAGED" not in shown(worked, "show", "1", GIT_PAGER=MARK)


def test_the_pager_gets_gits_own_defaults(worked: UserRepo) -> None:
    assert "LESS=FRX" in shown(worked, "log", GIT_PAGER="cat >/dev/null; env")
    assert "LESS=mine" in shown(worked, "log", GIT_PAGER="cat >/dev/null; env", LESS="mine")


def test_diffs_have_the_users_colours(worked: UserRepo, chorus: Shell) -> None:
    assert "\x1b[32m+x = 9\x1b[m" in shown(worked, "diff", "1", GIT_PAGER="cat")
    worked.git("config", "color.diff.new", "bold blue")
    assert "\x1b[1;34m+x = 9\x1b[m" in shown(worked, "diff", "1", GIT_PAGER="cat")
    assert "\x1b" not in chorus("diff", "1").out
    assert "\x1b" not in shown(worked, "diff", "1", GIT_PAGER="cat", NO_COLOR="1")
    worked.git("config", "color.ui", "false")
    assert "\x1b" not in shown(worked, "diff", "1", GIT_PAGER="cat")


def test_diffs_follow_the_users_diff_settings(worked: UserRepo, chorus: Shell) -> None:
    worked.git("config", "diff.noprefix", "true")
    worked.git("config", "diff.context", "0")
    shown_to_people = chorus("show", "1").out
    assert "\n--- app.py\n" in shown_to_people
    assert "y = 2" not in shown_to_people
    assert "--- a/app.py" in chorus("show", "1", "--json").json()["patch"]
    connect_or_start(find_home(worked.path)).close()
    assert chorus("show", "1").out == shown_to_people
    assert "--- a/app.py" in chorus("show", "1", "--json").json()["patch"]


def test_the_content_of_a_file_cannot_control_the_terminal(repo: UserRepo, chorus: Shell) -> None:
    with Recorder.open(repo.path) as recorder:
        Agent(repo, recorder).edit("evil.txt", b"\x1b[8mhidden\x1b]0;title\x07\n")
    out = shown(repo, "show", "1", GIT_PAGER="cat")
    assert "\x1b[8m" not in out
    assert "\x1b]" not in out
    assert "hidden" in out
    assert "\x1b" not in chorus("blame", "evil.txt").out


def test_the_name_of_a_file_cannot_control_the_terminal(repo: UserRepo, chorus: Shell) -> None:
    name = "\x1b[8mred\n.txt"
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        agent.edit(name, b"one\n")
        agent.bash(lambda: [repo.write(f"{place}{name}", b"two\n") for place in ("", *"abcdef")])
    refused, done = chorus("revert", "1"), chorus("revert", "2")
    assert (refused.code, done.code) == (5, 0)
    assert "\x1b" not in refused.err + done.out
    assert "  \ufffd[8mred\ufffd.txt was changed after" in refused.err
    assert done.out.endswith(" and 2 more; this is action 3\n")


def test_the_first_page_is_shown_before_older_entries_are_read(
    worked: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(worked.path)
    monkeypatch.setattr(log, "FIRST_PAGE_SIZE", 2)
    asked: list[dict[str, Any]] = []

    def counted(**wanted: Any) -> list[LogEntryJson]:
        asked.append(wanted)
        return read_log(**wanted)

    monkeypatch.setattr(log, "read_log", counted)
    first = read_log(limit=2)
    entries = log.newest_first(first, {}, None)
    assert [entry["n"] for entry in itertools.islice(entries, 2)] == [3, 2]
    assert asked == []
    assert [entry["n"] for entry in entries] == [1]


@pytest.mark.parametrize("screen", [1, 3])
def test_every_entry_is_shown_once_with_any_page_size(
    repo: UserRepo, monkeypatch: pytest.MonkeyPatch, screen: int
) -> None:
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        for number in range(9):
            if number not in (4, 5):
                agent.edit("one.txt", b"%d\n" % number)
            if number % 3:
                repo.write("mine.txt", b"%d\n" % number)
                recorder.record_outside()
    monkeypatch.chdir(repo.path)
    monkeypatch.setattr(log, "FIRST_PAGE_SIZE", screen)
    selections: list[LogView] = [{"outside": True}, {"status": "outside"}, {"turns": ["turn"]}]
    for wanted in selections:
        every = read_log(**wanted)[::-1]
        assert len(every) > screen
        for limit in (None, 4):
            shown_first = every[: min(limit or screen, screen)][::-1]
            assert list(log.newest_first(shown_first, wanted, limit)) == every[:limit]


def test_a_diff_is_complete_from_any_directory(worked: UserRepo, chorus: Shell) -> None:
    worked.git("config", "diff.relative", "true")
    assert "+x = 9" in chorus("show", "1", cwd=Path(worked.path / "src")).out
