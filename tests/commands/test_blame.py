"""`chorus blame`: from a line to its action, before and after it is committed."""

from typing import Any

from chorus.history.recorder import Recorder
from chorus.watcher.server.review_requests import MAX_TRACED
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start
from tests.commands.conftest import Shell
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


def numbers(chorus: Shell, file: str) -> list[Any]:
    return [line["n"] for line in chorus("blame", file, "--json").json()]


def test_an_uncommitted_line_leads_to_its_action(worked: UserRepo, chorus: Shell) -> None:
    assert numbers(chorus, "app.py") == [1, None]
    (line,) = chorus("blame", "new.txt:1", "--json").json()
    wanted = (2, "Edit", "Make it better", "session-a", None)
    assert (line["n"], line["tool"], line["message"], line["session"], line["commit"]) == wanted
    assert "no action" in chorus("blame", "app.py:2").out


def test_a_watcher_answers_as_the_history_on_disk_does(repo: UserRepo, chorus: Shell) -> None:
    repo.write("short.txt", b"one\n")
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        for number in range(MAX_TRACED + 5):  # more than a watcher follows from memory
            agent.edit("long.txt", b"same\n%d\n" % number)
        agent.edit("short.txt", b"one\ntwo\n")
    files = ("short.txt", "long.txt", "long.txt:2", "short.txt:9", "none.txt", "../outside")
    alone = [chorus("blame", file, "--json") for file in files]
    connect_or_start(find_home(repo.path)).close()
    assert [chorus("blame", file, "--json") for file in files] == alone
    assert [answer.code for answer in alone] == [0, 0, 0, 3, 3, 3]


def test_lines_the_user_adds_belong_to_no_action_and_shift_the_others(
    worked: UserRepo, chorus: Shell
) -> None:
    worked.write("app.py", b"import os\nx = 9\nz = 0\ny = 2\n")
    assert numbers(chorus, "app.py") == [None, 1, None, None]


def test_a_line_restored_by_a_revert_does_not_belong_to_the_revert(worked: UserRepo, chorus: Shell) -> None:
    chorus("revert", "1")
    assert numbers(chorus, "app.py") == [None, None]
    chorus("redo", "1")
    assert numbers(chorus, "app.py") == [1, None]


def test_a_landed_line_leads_to_its_action_also_after_a_squash(worked: UserRepo, chorus: Shell) -> None:
    lane = chorus("lanes", "--json").json()[0]["name"]
    assert chorus("land", lane, "--by", "action").code == 0
    first = chorus("log", "--json").json()[0]["id"]
    assert numbers(chorus, "app.py") == [1, None]
    bodies = worked.git("log", "--reverse", "--format=%B", "v1..main")
    worked.git("stash", "-q", "-u")
    worked.git("reset", "-q", "--soft", "v1")
    worked.git("commit", "-qm", bodies)
    assert numbers(chorus, "app.py") == [1, None]

    # Without the timeline, only the commit's trailers are left.
    chorus("drop", "--all")
    assert chorus("gc", "--all").code == 0
    squashed = chorus("blame", "app.py:1", "--json").json()[0]
    assert (squashed["id"], squashed["n"]) == (None, None)
    worked.git("commit", "-q", "--amend", "-m", f"One\n\nChorus-Action: {first}\nChorus-Session: session-a")
    (line,) = chorus("blame", "app.py:1", "--json").json()
    assert (line["id"], line["n"], line["session"]) == (first, None, "session-a")


def test_blame_works_after_a_squashing_rebase_and_a_rename(worked: UserRepo, chorus: Shell) -> None:
    lane = chorus("lanes", "--json").json()[0]["name"]
    assert chorus("land", lane, "--by", "action").code == 0
    worked.git("stash", "-q", "-u")
    squash = "sed -i -e '2,$s/^pick/squash/'"
    worked.git("rebase", "-q", "-i", "v1", GIT_SEQUENCE_EDITOR=squash, GIT_EDITOR="true")
    assert worked.git("rev-list", "--count", "v1..main").strip() == "1"
    assert [numbers(chorus, name)[0] for name in ("app.py", "new.txt")] == [1, 2]

    worked.git("mv", "app.py", "core.py")
    assert numbers(chorus, "core.py") == [1, None]
    worked.git("commit", "-qm", "rename")
    worked.write("core.py", b"# mine\n" + (worked.path / "core.py").read_bytes())
    found = chorus("blame", "core.py", "--json").json()
    assert [line["n"] for line in found] == [None, 1, None]
    assert found[1]["commit"] == worked.git("rev-parse", "main~1").strip()


def test_lines_keep_their_action_when_a_command_renames_the_file(repo: UserRepo, chorus: Shell) -> None:
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        agent.edit("old.txt", b"one\ntwo\nthree\n")
        agent.bash(lambda: (repo.path / "old.txt").rename(repo.path / "new.txt"), command="mv")
        agent.replace("new.txt", b"two", b"TWO")
    assert numbers(chorus, "new.txt") == [1, 3, 1]


def test_blame_of_a_missing_file_or_line_exits_with_3(worked: UserRepo, chorus: Shell) -> None:
    assert chorus("blame", "none.py").code == 3
    assert chorus("blame", "app.py:99").code == 3
