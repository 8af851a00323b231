"""Landing while the user has work in progress: staged changes, flagged index entries, locks, rebases."""

from pathlib import Path

import pytest

from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.review.landing.recovery import PendingLanding
from chorus.store import user_index as userindex
from chorus.store.user_branch import BranchBusy, CommitRefused
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.review.landing_steps import land

LINES = b"".join(b"line %d\n" % n for n in range(1, 41))


@pytest.fixture
def long(repo: UserRepo, agent: Agent) -> UserRepo:
    """The agent changed line 5 of a file of forty lines, and created another file."""
    repo.git("reset", "-q", "--hard")
    repo.commit("long", **{"long.txt": LINES})
    agent.replace("long.txt", b"line 5\n", b"FIVE\n")
    agent.edit("new.txt", b"hello\n")
    return repo


def stage(repo: UserRepo, path: str, data: bytes) -> None:
    oid = repo.git("hash-object", "-w", "--stdin", stdin=data).strip()
    repo.git("update-index", "--cacheinfo", f"100644,{oid},{path}")


def changed_lines(repo: UserRepo, *words: str) -> list[str]:
    lines = repo.git("diff", "-U0", *words, "--", "long.txt").splitlines()
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


@pytest.mark.parametrize("with_landed_line", [False, True])
def test_staged_changes_in_other_lines_of_a_landed_file_stay_staged(
    long: UserRepo, agent: Agent, with_landed_line: bool
) -> None:
    mine = LINES.replace(b"line 20\n", b"TWENTY\n")
    stage(long, "long.txt", mine.replace(b"line 5\n", b"FIVE\n") if with_landed_line else mine)
    disk = (long.path / "long.txt").read_bytes().replace(b"line 20\n", b"TWENTY\n")
    long.write("long.txt", disk.replace(b"line 30\n", b"THIRTY\n"))
    before = long.fingerprint()["work tree"]
    land(agent)
    assert long.git("show", "HEAD:long.txt").encode() == LINES.replace(b"line 5\n", b"FIVE\n")
    assert changed_lines(long, "--cached") == ["-line 20", "+TWENTY"]
    assert changed_lines(long) == ["-line 30", "+THIRTY"]
    assert long.fingerprint()["work tree"] == before
    (long.path / ".git/objects/info/alternates").unlink()
    assert long.git("cat-file", "-t", ":long.txt") == "blob\n"


def test_a_file_added_with_intent_to_add_lands(long: UserRepo, agent: Agent) -> None:
    long.git("add", "-N", "new.txt")
    land(agent)
    assert long.git("status", "--short") == ""


def test_skip_worktree_and_assume_unchanged_flags_survive_a_landing(long: UserRepo, agent: Agent) -> None:
    agent.replace("app.py", b"x = 1", b"x = 9")
    long.git("checkout", "-q", "long.txt")
    long.git("update-index", "--skip-worktree", "long.txt")
    (long.path / "long.txt").unlink()
    long.git("update-index", "--assume-unchanged", "app.py")
    land(agent)
    assert long.git("ls-files", "-v", "long.txt", "app.py") == "h app.py\nS long.txt\n"
    assert long.git("status", "--short") == ""


def test_many_landed_paths_are_updated_in_the_index(long: UserRepo, agent: Agent) -> None:
    names = [f"many/{number}" for number in range(userindex.MAX_PATH_ARGUMENTS + 1)]
    agent.bash(lambda: [long.write(name, b"x\n") for name in names])
    land(agent)
    assert long.git("status", "--short") == ""


def test_a_locked_index_lands_nothing_and_names_the_lock(
    long: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(userindex, "LOCK_TIMEOUT_SECONDS", 0.05)
    lock = long.write(".git/index.lock", b"")
    before = long.fingerprint()
    with pytest.raises(ChorusError, match=r"index\.lock.*nothing was changed") as error:
        land(agent)
    assert error.value.exit_code == ExitCode.SYSTEM_ERROR
    assert long.fingerprint() == before
    lock.unlink()
    assert land(agent).commits


def test_a_hook_that_refuses_the_commit_and_removes_its_message_lands_nothing(
    repo: UserRepo, agent: Agent
) -> None:
    agent.edit("made.txt", b"made\n")
    (repo.path / ".git/hooks").mkdir(exist_ok=True)
    hook = repo.write(".git/hooks/commit-msg", b'#!/bin/sh\nrm "$1"\necho refused >&2\nexit 1\n')
    hook.chmod(0o755)
    message, tip = (repo.path / ".git/COMMIT_EDITMSG").read_bytes(), repo.git("rev-parse", "main")
    with pytest.raises(CommitRefused, match="refused"):
        land(agent)
    assert (repo.path / ".git/COMMIT_EDITMSG").read_bytes() == message
    assert repo.git("rev-parse", "main") == tip
    assert PendingLanding(agent.recorder.workspace.repository.own_dir).read() is None


def test_landing_on_a_branch_that_is_being_rebased_is_refused(
    long: UserRepo, agent: Agent, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    long.git("worktree", "add", "-q", "-b", "side", str(there))
    editor = "sequence.editor=sed -i s/pick/edit/"
    UserRepo(there).git("-c", editor, "rebase", "-q", "-i", "HEAD~1")
    tip = long.git("rev-parse", "side")
    with pytest.raises(BranchBusy, match=str(there)):
        land(agent, onto="side")
    assert long.git("rev-parse", "side") == tip


@pytest.mark.parametrize("name", ["../../HEAD", "HEAD", "v1", "", "main/../main"])
def test_landing_on_something_that_is_not_a_branch_is_refused(
    long: UserRepo, agent: Agent, name: str
) -> None:
    with pytest.raises(NotFound, match=r"is not a (valid branch name|branch)"):
        land(agent, onto=name)
