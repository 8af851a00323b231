"""`land --fixup`: a turn is folded into an earlier commit, and the commits above are put on top again."""

import shutil
import subprocess
from pathlib import Path

import pytest

from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.history.recorder import Recorder
from chorus.review.landing.recovery import recover_landing
from chorus.store.user_branch import UserBranch
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.review.landing_steps import land

LINES = b"".join(b"line %d\n" % n for n in range(1, 31))


@pytest.fixture
def stacked(repo: UserRepo, agent: Agent) -> UserRepo:
    """Three commits; the agent then changes line 5, and the user has staged and unstaged work."""
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-qfd")
    repo.commit("first", **{"n.txt": LINES})
    repo.commit("second", **{"n.txt": LINES.replace(b"line 4\n", b"four\n")})
    repo.write("other.txt", b"other\n")
    repo.git("add", "other.txt")
    repo.git("commit", "-qm", "third", "--author=Eve <eve@example.com>", "--date=2020-02-03T04:05:06+0100")
    agent.replace("n.txt", b"line 5\n", b"five\n")
    repo.write("README.md", b"staged\n")
    repo.git("add", "README.md")
    repo.write("README.md", b"unstaged\n")
    return repo


def files(repo: UserRepo, revision: str) -> tuple[str, str]:
    return repo.git("show", "-s", "--format=%s|%an|%ad", revision).strip(), repo.git(
        "show", f"{revision}:n.txt"
    )


def test_a_turn_is_folded_in_and_the_commits_above_keep_author_date_and_message(
    stacked: UserRepo, agent: Agent
) -> None:
    old = [files(stacked, f"main~{n}")[0] for n in (2, 1, 0)]
    tree = stacked.fingerprint()["work tree"]
    preview = land(agent, fixup="main~2", dry_run=True)
    assert preview.messages[0].startswith("first\n\nChorus-Action: ")
    assert preview.commits == [None]
    done = land(agent, fixup="main~2")
    assert [files(stacked, f"main~{n}")[0] for n in (2, 1, 0)] == old
    assert files(stacked, "main~2")[1].encode() == LINES.replace(b"line 5\n", b"five\n")
    assert files(stacked, "main")[1].encode() == (stacked.path / "n.txt").read_bytes()
    assert stacked.git("rev-parse", "main~2").strip() == done.commits[0]
    assert stacked.fingerprint()["work tree"] == tree
    assert stacked.git("status", "--short") == "MM README.md\n"
    assert [entry.status for entry in agent.recorder.entries() if entry.n] == ["landed"]
    assert done.warnings == []
    (stacked.path / ".git/objects/info/alternates").unlink()
    stacked.git("rev-list", "--objects", "main")  # needs nothing of Chorus


def test_the_first_commit_of_all_and_the_last_one_can_be_fixed_up(stacked: UserRepo, agent: Agent) -> None:
    land(agent, fixup="main")
    assert files(stacked, "main")[0].startswith("third|Eve")
    root = stacked.git("rev-list", "--max-parents=0", "main").strip()
    agent.edit("new.txt", b"new\n")
    land(agent, fixup=root)
    first = stacked.git("rev-list", "--max-parents=0", "main").strip()
    assert first != root
    assert stacked.git("show", f"{first}:new.txt") == "new\n"
    assert stacked.git("status", "--short") == "MM README.md\n"


def refused(repo: UserRepo, agent: Agent, fixup: str) -> ChorusError:
    before = repo.fingerprint()
    with pytest.raises(ChorusError) as error:
        land(agent, fixup=fixup)
    assert repo.fingerprint() == before
    return error.value


def test_messages_keep_their_encoding(stacked: UserRepo, agent: Agent) -> None:
    russian, utf8 = "Привет", "Grüße"
    for text, encoding in ((russian, "CP1251"), (utf8, "UTF-8"), (russian, "CP1251")):
        stacked.write("message", text.encode(encoding))
        setting = f"i18n.commitEncoding={encoding}"
        stacked.git("-c", setting, "commit", "-q", "--allow-empty", "-F", "message", "--only")
    (stacked.path / "message").unlink()
    stacked.git("config", "i18n.commitEncoding", "ISO-8859-1")
    land(agent, fixup="main~2")
    shown = [
        stacked.git("log", "-1", "--encoding=UTF-8", "--format=%s|%e", f"main~{n}").strip() for n in (2, 1, 0)
    ]
    assert shown == [f"{russian}|CP1251", f"{utf8}|", f"{russian}|CP1251"]


def test_a_conflict_above_a_merge_and_a_commit_elsewhere_are_refused(stacked: UserRepo, agent: Agent) -> None:
    agent.replace("n.txt", b"four\n", b"FOUR\n")
    error = refused(stacked, agent, "main~2")
    assert error.exit_code is ExitCode.CONFLICT
    assert "action 2: line 4 of n.txt" in str(error)
    stacked.git("commit", "-qm", "mine", "README.md")
    error = refused(stacked, agent, "v1~1")
    assert "n.txt" in str(error)
    stacked.git("branch", "side", "v1")
    side = stacked.git("commit-tree", "-p", "side", "-m", "side", "side^{tree}").strip()
    assert isinstance(refused(stacked, agent, side), NotFound)
    assert isinstance(refused(stacked, agent, "nothing"), NotFound)
    stacked.git("merge", "-q", "--no-ff", "-m", "merge", side)
    error = refused(stacked, agent, "main~2")
    assert "a later commit, is a merge" in str(error)
    assert "is a merge" in str(refused(stacked, agent, "main"))


def test_a_commit_above_that_changes_the_same_line_is_named(repo: UserRepo, agent: Agent) -> None:
    repo.git("reset", "-q", "--hard")
    repo.commit("first", **{"n.txt": LINES})
    agent.replace("n.txt", b"line 5\n", b"five\n")
    disk = (repo.path / "n.txt").read_bytes()
    repo.write("n.txt", LINES.replace(b"line 5\n", b"other\n"))
    repo.git("commit", "-qam", "above")
    repo.write("n.txt", disk)
    error = refused(repo, agent, "main~1")
    above = repo.git("rev-parse", "main")[:10]
    assert str(error) == f"{above} (above) changes the same lines: line 5 of n.txt; nothing was changed"
    assert error.exit_code is ExitCode.CONFLICT


def test_a_commit_that_is_not_on_the_branch_and_merges_are_named(stacked: UserRepo, agent: Agent) -> None:
    side = stacked.git("commit-tree", "-p", "v1", "-m", "side", "v1^{tree}").strip()
    assert str(refused(stacked, agent, side)) == f"{side[:10]} is not on main"
    stacked.git("stash", "-q")
    stacked.git("merge", "-q", "--no-ff", "-m", "merge", side)
    merge, below = (stacked.git("rev-parse", revision)[:10] for revision in ("main", "main~2"))
    assert str(refused(stacked, agent, "main~2")) == (
        f"cannot fold into {below}: {merge}, a later commit, is a merge; nothing was changed"
    )
    assert str(refused(stacked, agent, "main")) == (
        f"cannot fold into {merge}: it is a merge; nothing was changed"
    )
    other = stacked.git("commit-tree", "-p", "v1", "-m", "other", "v1^{tree}").strip()
    assert str(refused(stacked, agent, other)) == f"{other[:10]} is not on main"


def test_staged_lines_that_differ_refuse_a_fixup_unless_the_branch_is_not_checked_out(
    stacked: UserRepo, agent: Agent
) -> None:
    disk = (stacked.path / "n.txt").read_bytes()
    stacked.write("n.txt", LINES.replace(b"line 4\n", b"four\n").replace(b"line 5\n", b"staged\n"))
    stacked.git("add", "n.txt")
    stacked.write("n.txt", disk)
    stacked.git("branch", "copy")
    error = refused(stacked, agent, "main~2")
    assert str(error) == "n.txt: staged changes differ from what would land; nothing was changed"
    assert error.hint == "Commit the staged changes, or unstage them with `git restore --staged PATH`."
    index, tip = stacked.git("ls-files", "--stage"), stacked.git("rev-parse", "main")
    land(agent, fixup="copy~2", onto="copy")
    assert stacked.git("show", "copy~2:n.txt").encode() == LINES.replace(b"line 5\n", b"five\n")
    assert (stacked.git("ls-files", "--stage"), stacked.git("rev-parse", "main")) == (index, tip)


def test_a_fixup_of_what_the_commit_has_already_changes_nothing(stacked: UserRepo, agent: Agent) -> None:
    agent.replace("n.txt", b"five\n", b"line 5\n")
    tip = stacked.git("rev-parse", "main")
    done = land(agent, fixup="main~1")
    assert (done.commits, done.messages, done.warnings) == ([None], [""], [])
    assert stacked.git("rev-parse", "main") == tip


def test_the_reflog_names_the_commit_that_was_fixed_up(stacked: UserRepo, agent: Agent) -> None:
    old = stacked.git("rev-parse", "main~2")[:10]
    land(agent, fixup="main~2")
    assert stacked.git("reflog", "-1", "--format=%gs", "main").strip() == f"chorus: fixup {old}"


def test_a_hook_that_formats_the_changed_commit_is_carried_into_those_above(
    stacked: UserRepo, agent: Agent
) -> None:
    hook = stacked.write(
        ".git/hooks/pre-commit",
        b"#!/bin/sh\ngit show :n.txt | sed s/five/FIVE/ >x\n"
        b"git update-index --cacheinfo 100644,$(git hash-object -w x),n.txt; rm x\n",
    )
    hook.chmod(0o755)
    land(agent, fixup="main~2")
    for revision in ("main~2", "main~1", "main"):
        assert "FIVE\n" in stacked.git("show", f"{revision}:n.txt")
    assert "four\n" in stacked.git("show", "main:n.txt")


def test_a_pushed_commit_is_warned_about(stacked: UserRepo, agent: Agent) -> None:
    stacked.git("update-ref", "refs/remotes/origin/main", "main~1")
    short = stacked.git("rev-parse", "main~2")[:10]
    done = land(agent, fixup="main~2")
    assert done.warnings == [f"{short} is already on origin/main: push main with --force-with-lease"]


def test_hooks_run_for_the_changed_commit_alone(stacked: UserRepo, agent: Agent, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hook = stacked.write(".git/hooks/pre-commit", f"#!/bin/sh\necho ran >> {ran}\n".encode())
    hook.chmod(0o755)
    land(agent, fixup="main~2")
    assert ran.read_text() == "ran\n"
    hook.write_text("#!/bin/sh\nexit 1\n")
    agent.edit("new.txt", b"new\n")
    error = refused(stacked, agent, "main~1")
    assert error.exit_code is ExitCode.SYSTEM_ERROR


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen on this machine")
def test_all_new_commits_are_signed_where_the_user_signs(
    stacked: UserRepo, agent: Agent, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in (("gpg.format", "ssh"), ("user.signingKey", str(key)), ("commit.gpgSign", "true")):
        stacked.git("config", name, value)
    land(agent, fixup="main~2")
    assert stacked.git("log", "-3", "--format=raw").count("gpgsig -----BEGIN SSH SIGNATURE") == 3


@pytest.mark.parametrize("when", ["before the branch moves", "after it"])
def test_a_fixup_killed_on_the_way_is_undone_or_finished(
    stacked: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    before = stacked.fingerprint()
    target = "chorus.review.landing.fixup.update_user_index"
    if when == "before the branch moves":
        monkeypatch.setattr(UserBranch, "move", stop)
    else:
        monkeypatch.setattr(target, stop)
    # As after a kill: nothing is rolled back by this process.
    monkeypatch.setattr(UserBranch, "roll_back", lambda _: None)
    monkeypatch.setattr("chorus.review.landing.recovery.PendingLanding.clear", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        land(agent, fixup="main~2")
    monkeypatch.undo()
    with Recorder.open(stacked.path) as recorder:
        recover_landing(recorder)
        landed = [entry.status for entry in recorder.entries() if entry.n]
    assert stacked.git("status", "--short").splitlines()[0] == "MM README.md"
    if when == "after it":
        assert landed == ["landed"]
        assert stacked.git("status", "--short") == "MM README.md\n"
    else:
        assert landed == ["committed"]
        assert stacked.fingerprint()["refs"] == before["refs"]
    assert not (stacked.path / ".git/chorus/landing.json").exists()


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
