"""Whatever state the user's repository is in, an edit is recorded and nothing of the user's is touched."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.history.disk_changes.attribution import EndedCall
from chorus.history.disk_changes.head_moves import parse_head, read_reflog_steps, render_head
from chorus.history.recorder import Recorder
from chorus.model.commits.commit_message import render_actions
from chorus.model.ids import Oid
from chorus.review.drop import drop
from chorus.review.operations import Selection, revert
from chorus.store.refs import Head
from tests.history.agent_at_work import (
    Agent,
    action,
    bash,
    entry_of,
    lane_file,
    lane_subjects,
    on_disk,
    patch_of,
    replayed,
    statuses,
)
from tests.history.invariants import assert_whole, untouched
from tests.repos import UserRepo


def record_one_edit(repo: UserRepo, path: str = "app.py", data: bytes = b"agent\n") -> Recorder:
    """Look, edit, record; the user's things are compared around what Chorus does."""
    recorder = Recorder.open(repo.path)
    place = repo.path / path
    with untouched(repo):
        recorder.record_before_call([str(place)])
    repo.write(path, data)
    with untouched(repo):
        recorder.record_named_paths([action("t1", place)])
    return recorder


@pytest.fixture
def clean(repo: UserRepo) -> UserRepo:
    """The same repository with nothing uncommitted."""
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-qfd")
    return repo


def test_unborn_branch_gives_a_lane_without_a_parent(tmp_path: Path) -> None:
    repo = UserRepo(tmp_path / "new")
    repo.path.mkdir()
    repo.git("init", "-q")
    repo.write("mine.txt", b"mine\n")
    with record_one_edit(repo) as recorder:
        entry = entry_of(recorder, "t1")
        assert repo.git("rev-list", "--parents", str(entry.lane)).split() == [entry.commit]
        assert repo.git("ls-tree", "-r", "--name-only", str(entry.lane)).split() == ["app.py"]
        assert_whole(repo, recorder)


def test_detached_head(clean: UserRepo) -> None:
    clean.git("checkout", "-q", "HEAD~1")
    with record_one_edit(clean) as recorder:
        base = clean.git("rev-parse", "HEAD").strip()
        assert clean.git("rev-parse", f"{entry_of(recorder, 't1').lane}^").strip() == base
        assert_whole(clean, recorder)


@pytest.mark.parametrize("operation", ["rebase", "merge", "cherry-pick"])
def test_operation_in_progress(clean: UserRepo, operation: str) -> None:
    clean.git("checkout", "-qb", "other", "HEAD~1")
    clean.commit("theirs", **{"app.py": b"x = theirs\n"})
    with pytest.raises(AssertionError, match=operation):
        clean.git(operation, "main")
    with record_one_edit(clean) as recorder:
        assert entry_of(recorder, "t1").status == "committed"
        assert_whole(clean, recorder)


def test_bisect_in_progress(clean: UserRepo) -> None:
    clean.git("bisect", "start", "HEAD", "HEAD~1")
    with record_one_edit(clean) as recorder:
        assert entry_of(recorder, "t1").status == "committed"
        assert_whole(clean, recorder)


@pytest.mark.parametrize("age", ["held", "stale"])
def test_index_lock_in_the_way(repo: UserRepo, age: str) -> None:
    lock = repo.git_dir / "index.lock"
    lock.touch()
    if age == "stale":
        os.utime(lock, (0, 0))
    with record_one_edit(repo) as recorder:
        assert entry_of(recorder, "t1").status == "committed"


def test_inherited_git_variables(repo: UserRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hostile = {
        "GIT_DIR": "/nowhere",
        "GIT_WORK_TREE": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_OBJECT_DIRECTORY": "/nowhere",
        "GIT_NAMESPACE": "x",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in hostile.items():
            patch.setenv(name, value)
        recorder = Recorder.open(repo.path)
        recorder.record_before_call([str(repo.path / "app.py")])
        repo.write("app.py", b"agent\n")
        recorder.record_named_paths([action("t1", repo.path / "app.py")])
        recorder.record_window(bash("t2"))
    with recorder:
        assert statuses(recorder) == ["committed", "noop"]
        assert_whole(repo, recorder)


def test_no_identity(repo: UserRepo, sealed_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (sealed_environment / ".gitconfig").unlink()
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    with record_one_edit(repo) as recorder:
        who = repo.git("log", "-1", "--format=%cn <%ce>", str(entry_of(recorder, "t1").lane)).strip()
        assert who == "Chorus <chorus@localhost>"


def test_signing_and_hooks_of_the_user_do_not_run(clean: UserRepo, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    names = ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-checkout", "update")
    for name in names:
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    for key, value in {
        "core.hooksPath": str(hooks),
        "commit.gpgsign": "true",
        "gpg.program": "/bin/false",
        "core.fsmonitor": str(hooks / "pre-commit"),
    }.items():
        clean.git("config", key, value)
    recorder = Recorder.open(clean.path)
    recorder.record_before_call([str(clean.path / "app.py")])
    clean.write("app.py", b"agent\n")
    recorder.record_named_paths([action("t1", clean.path / "app.py")])
    recorder.record_window(bash("t2"))
    with recorder:
        assert statuses(recorder) == ["committed", "noop"]
    assert not (tmp_path / "ran").exists()


def test_linked_work_trees_have_a_timeline_each(clean: UserRepo, tmp_path: Path) -> None:
    clean.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = UserRepo(tmp_path / "linked")
    with Recorder.open(clean.path) as here, Recorder.open(linked.path) as there:
        one = Agent(clean, here, "aaaa").edit("app.py", b"here\n")
        two = Agent(linked, there, "bbbb").edit("app.py", b"there\n")
        assert [e.id for e in here.entries()] == [one.id]
        assert [e.id for e in there.entries()] == [two.id]
        assert lane_file(clean, one.lane, "app.py") == b"here\n"
        assert lane_file(clean, two.lane, "app.py") == b"there\n"
        timelines = sorted(path.name for path in (clean.path / ".git/chorus/timeline").iterdir())
        assert timelines == ["main", "worktree-linked"]
        assert_whole(clean, here)
        assert_whole(linked, there)


def test_numbers_stay_unique_over_all_work_trees_when_the_shared_count_is_lost(
    clean: UserRepo, tmp_path: Path
) -> None:
    clean.git("config", "grep.patternType", "fixed")
    clean.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = UserRepo(tmp_path / "linked")
    with Recorder.open(clean.path) as here, Recorder.open(linked.path) as there:
        low, high = Agent(clean, here, "aaaa"), Agent(linked, there, "bbbb")
        assert low.edit("app.py", b"one\n").n == 1
        assert [high.edit("app.py", b"%d\n" % n).n for n in range(2)] == [2, 3]
        (clean.path / ".git/chorus/last-number").unlink()
        assert low.edit("app.py", b"two\n").n == 4
        there.record_unchanged(action("call", session="bbbb"))
        (clean.path / ".git/chorus/last-number").write_bytes(b"")
        assert low.edit("app.py", b"three\n").n == 6


def test_a_lane_of_another_work_tree_that_took_a_dropped_ones_name_is_left_alone(
    clean: UserRepo, tmp_path: Path
) -> None:
    clean.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = UserRepo(tmp_path / "linked")
    with Recorder.open(clean.path) as here, Recorder.open(linked.path) as there:
        mine, theirs = Agent(clean, here, "same"), Agent(linked, there, "same")
        one = theirs.edit("app.py", b"there\n")
        drop(there, one.lane)
        two = mine.edit("app.py", b"here\n")
        assert two.lane == one.lane
        again = theirs.edit("app.py", b"there again\n")
        assert again.lane != one.lane
        revert(there, Selection([str(one.n), str(again.n)]))
        assert lane_file(clean, two.lane, "app.py") == b"here\n"
        assert mine.edit("app.py", b"here again\n").lane == two.lane
        assert_whole(clean, here)
        assert replayed(there) == on_disk(linked)


def test_submodules_and_nested_repositories_are_never_entered(clean: UserRepo, tmp_path: Path) -> None:
    other = UserRepo(tmp_path / "library")
    other.path.mkdir()
    other.git("init", "-q")
    other.commit("lib", **{"lib.py": b"lib\n"})
    clean.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(other.path), "vendor")
    clean.git("commit", "-qm", "vendor")
    nested = UserRepo(clean.path / "nested")
    nested.path.mkdir()
    nested.git("init", "-q")
    nested.write("inner.txt", b"inner\n")
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)

        def change() -> None:
            clean.write("vendor/lib.py", b"changed\n")
            clean.write("nested/inner.txt", b"changed\n")
            clean.write("app.py", b"changed\n")

        entry = agent.bash(change)
        assert entry.paths == ("app.py",)
        named = agent.edit("nested/inner.txt", b"again\n")
        assert named.status == "noop"
        assert named.skipped == ("nested/inner.txt belongs to another repository inside this one",)
        assert "160000" in clean.git("ls-tree", str(entry.lane), "vendor")
        assert not any(path.startswith(("vendor/", "nested/")) for path in dict(walk(recorder)))
        assert_whole(clean, recorder, raw=False)


def walk(recorder: Recorder) -> Iterator[tuple[str, object]]:
    return ((path, entry) for path, entry in recorder.workspace.trees.walk(recorder.timeline.tree))


def test_sparse_checkout(clean: UserRepo) -> None:
    clean.git("sparse-checkout", "set", "--no-cone", "/src/deep/")
    assert not (clean.path / "app.py").exists()
    with record_one_edit(clean, "src/deep/er/file.txt") as recorder:
        entry = entry_of(recorder, "t1")
        assert patch_of(clean, entry.commit)[-1] == "+agent"
        assert clean.git("diff", "--name-only", "main", str(entry.lane)).split() == ["src/deep/er/file.txt"]
        assert_whole(clean, recorder, raw=False)


@pytest.mark.parametrize("kind", ["shallow", "partial", "alternates"])
def test_clones_that_lack_objects(clean: UserRepo, tmp_path: Path, kind: str) -> None:
    clean.git("config", "uploadpack.allowFilter", "true")
    options = {
        "shallow": ["--depth=1", f"file://{clean.path}"],
        "partial": ["--filter=blob:none", f"file://{clean.path}"],
        "alternates": ["--shared", str(clean.path)],
    }
    clean.git("clone", "-q", *options[kind], str(tmp_path / "clone"))
    repo = UserRepo(tmp_path / "clone")
    with record_one_edit(repo) as recorder:
        assert patch_of(repo, entry_of(recorder, "t1").commit) == ["-x = 1", "-y = 2", "+agent"]
        assert_whole(repo, recorder)


def test_a_switch_to_another_branch_starts_a_new_lane_and_back_again_the_old_one(
    clean: UserRepo,
) -> None:
    clean.git("branch", "other", "HEAD~1")
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        first = agent.edit("one.txt", b"one\n")
        clean.git("checkout", "-q", "other")
        second = agent.edit("two.txt", b"two\n")
        clean.git("checkout", "-q", "main")
        third = agent.edit("three.txt", b"three\n")
        assert second.lane != first.lane
        assert third.lane == first.lane
        assert clean.git("rev-parse", f"{second.lane}^").strip() == clean.git("rev-parse", "other").strip()
        reasons = [entry.reason for entry in recorder.entries() if entry.status == "outside"]
        assert reasons == ["checkout: moving from main to other", "checkout: moving from other to main"]
        assert_whole(clean, recorder)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["commit", "-qam", "mine"], "commit: mine"),
        (["commit", "-qam", "amended", "--amend"], "commit (amend): amended"),
        (["reset", "-q", "--hard", "HEAD~1"], "reset: moving to HEAD~1"),
        (["rebase", "-q", "ahead"], "rebase (finish)"),
        (["merge", "-q", "--ff-only", "ahead"], "merge ahead: Fast-forward"),
        (["stash", "-q"], "stash"),
        (["stash", "pop", "-q"], "stash"),
    ],
)
def test_a_move_of_head_is_outside_with_gits_reason_and_the_lane_keeps_its_base(
    clean: UserRepo, words: list[str], reason: str
) -> None:
    clean.git("branch", "ahead")
    clean.git("checkout", "-q", "ahead")
    clean.commit("ahead", **{"ahead.txt": b"ahead\n"})
    clean.git("checkout", "-q", "main")
    base = clean.git("rev-parse", "main").strip()
    if words[0] == "stash" and "pop" not in words:
        clean.write("src/main.py", b"to be stashed\n")
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        first = agent.edit("made.txt", b"made\n")
        if words[0] == "commit":
            clean.write("README.md", b"mine\n")
        clean.git(*words)
        second = agent.edit("made.txt", b"made\nmore\n")
        assert second.lane == first.lane
        assert clean.git("rev-parse", f"{second.lane}~2").strip() == base
        reasons = [line["reason"] or "" for line in recorder.journal.marks.lines if line["kind"] == "head"]
        reasons += [entry.reason or "" for entry in recorder.entries() if entry.status == "outside"]
        assert any(line.startswith(reason) for line in reasons), reasons
        recorder.record_outside()
        assert_whole(clean, recorder)


def test_a_branch_switch_by_the_agents_own_command_is_outside(clean: UserRepo) -> None:
    clean.git("checkout", "-qb", "other")
    clean.commit("other", **{f"file{i}.txt": b"x\n" for i in range(20)})
    clean.git("checkout", "-q", "main")
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)

        def change() -> None:
            clean.git("checkout", "-q", "other")
            clean.write("own.txt", b"own\n")

        entry = agent.bash(change, command="git checkout other && echo own > own.txt")
        assert entry.paths == ("own.txt",)
        outside = recorder.entries()[0]
        assert outside.status == "outside"
        assert len(outside.paths) == 20
        assert_whole(clean, recorder)


def test_a_change_that_the_agent_also_commits_in_one_command_is_its_own(clean: UserRepo) -> None:
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)

        def change() -> None:
            clean.write("app.py", b"x = agent\n")
            clean.git("commit", "-qam", "by the agent")

        entry = agent.bash(change, command="sed -i s/1/agent/ app.py && git commit -qam 'by the agent'")
        assert entry.paths == ("app.py",)
        assert patch_of(clean, entry.commit) == ["-x = 1", "-y = 2", "+x = agent"]
        assert_whole(clean, recorder)


def test_a_lane_starts_before_the_agents_own_commit_also_if_recording_had_to_wait(clean: UserRepo) -> None:
    with Recorder.open(clean.path) as recorder:
        recorder.start()
        clean.write("app.py", b"x = agent\n")
        clean.git("commit", "-qam", "by the agent")
        assert not recorder.record_before_call(None, is_waiting=iter([True, False]).__next__)
        call = EndedCall(bash("t1"), None)
        for _ in range(2):
            assert not recorder.record_ended([call], None, ["app.py"], wait_for_open_calls=True)
        assert recorder.record_ended([call])
        assert patch_of(clean, entry_of(recorder, "t1").commit) == ["-x = 1", "-y = 2", "+x = agent"]
        heads = [line for line in recorder.journal.marks.lines if line["kind"] == "head"]
        assert len(heads) == 1
        clean.git("commit", "-q", "--allow-empty", "-m", "mine")
        recorder.record_outside()
        Agent(clean, recorder, "other").edit("made.txt", b"made\n")
        assert recorder.lanes.all()[-1].base == clean.git("rev-parse", "HEAD").strip()
        assert_whole(clean, recorder)


def test_without_a_reflog_a_commit_on_top_of_the_last_is_still_just_a_commit(clean: UserRepo) -> None:
    clean.git("config", "core.logAllRefUpdates", "false")
    (clean.git_dir / "logs" / "HEAD").unlink()
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)

        def change() -> None:
            clean.write("app.py", b"x = agent\n")
            clean.git("commit", "-qam", "by the agent")

        assert agent.bash(change).paths == ("app.py",)
        clean.git("checkout", "-q", "HEAD~1")
        agent.edit("made.txt", b"made\n")
        assert [e.paths for e in recorder.entries() if e.status == "outside"] == [("app.py",)]
        assert_whole(clean, recorder)


def test_an_edit_of_another_session_is_not_recorded_as_a_move_of_head(clean: UserRepo) -> None:
    """Two recorders; the user commits one session's edit before that session's recorder has seen it."""
    with Recorder.open(clean.path) as one, Recorder.open(clean.path) as two:
        one.start()
        two.record_before_call([str(clean.path / "b.txt")])
        clean.write("b.txt", b"by two\n")
        clean.commit("everything")
        Agent(clean, one, "one").edit("a.txt", b"by one\n")
        two.record_named_paths([action("t2", clean.path / "b.txt", session="two")])
        assert entry_of(two, "t2").paths == ("b.txt",)
        assert_whole(clean, one)


def test_a_lane_that_is_checked_out_is_left_alone(clean: UserRepo, tmp_path: Path) -> None:
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        first = agent.edit("made.txt", b"made\n")
        clean.git("worktree", "add", "-q", str(tmp_path / "elsewhere"), str(first.lane))
        second = agent.edit("made.txt", b"made\nmore\n")
        assert second.lane != first.lane
        assert clean.git("rev-parse", str(first.lane)).strip() == first.commit
        assert_whole(clean, recorder)


def test_a_deleted_lane_stays_deleted_and_the_session_gets_a_new_one(clean: UserRepo) -> None:
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        first = agent.edit("made.txt", b"made\n")
        clean.git("branch", "-qD", str(first.lane))
    with Recorder.open(clean.path) as recorder:
        recorder.start()
        assert clean.git("branch", "--list", "chorus/*") == ""
        second = Agent(clean, recorder).edit("made.txt", b"made\nmore\n")
        assert second.lane != first.lane
        assert_whole(clean, recorder)


@pytest.mark.parametrize("start", ["main", "main~1", "landed", "the other lane"])
def test_a_branch_of_the_user_that_has_the_name_of_a_dropped_lane_is_left_alone(
    clean: UserRepo, start: str
) -> None:
    with Recorder.open(clean.path) as recorder:
        agent, other = Agent(clean, recorder), Agent(clean, recorder, "other")
        first = agent.edit("made.txt", b"made\n")
        if start == "landed":
            tree = clean.git("rev-parse", f"{first.lane}^{{tree}}").strip()
            text = f"landed\n\n{render_actions([str(first.id)])}\n"
            start = clean.git("commit-tree", tree, "-p", "main", "-m", text).strip()
        drop(recorder, first.lane)
        second = other.edit("other.txt", b"other\n")
        tip = clean.git("rev-parse", str(second.lane) if start == "the other lane" else start).strip()
        clean.git("branch", str(first.lane), tip)
        assert agent.edit("more.txt", b"more\n").lane not in (first.lane, second.lane)
        revert(recorder, Selection([str(first.n)]))
        assert clean.git("rev-parse", str(first.lane)).strip() == tip
    with Recorder.open(clean.path) as recorder:
        Agent(clean, recorder).edit("more.txt", b"even more\n")
        assert clean.git("rev-parse", str(first.lane)).strip() == tip


def test_a_lane_that_the_user_rewrote_is_built_upon(clean: UserRepo) -> None:
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        first = agent.edit("made.txt", b"made\n")
        tree = clean.git("rev-parse", f"{first.lane}^{{tree}}").strip()
        text = clean.git("log", "-1", "--format=%B", str(first.lane))
        rebased = clean.git("commit-tree", tree, "-p", "main~1", "-m", text).strip()
        clean.git("update-ref", f"refs/heads/{first.lane}", rebased)
        second = agent.edit("made.txt", b"made\nmore\n")
        assert second.lane == first.lane
        assert clean.git("rev-parse", f"{second.lane}~1").strip() == rebased


def test_a_commit_of_the_users_on_a_lane_is_built_upon(clean: UserRepo) -> None:
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        first = agent.edit("made.txt", b"made\n")
        tree = clean.git("rev-parse", f"{first.lane}^{{tree}}").strip()
        own = clean.git("commit-tree", tree, "-p", str(first.commit), "-m", "mine").strip()
        clean.git("update-ref", f"refs/heads/{first.lane}", own)
        second = agent.edit("made.txt", b"made\nmore\n")
        assert second.lane == first.lane
        assert lane_subjects(clean, second.lane)[1] == "mine"


def test_a_branch_named_chorus_moves_lanes_to_another_namespace(clean: UserRepo) -> None:
    clean.git("branch", "chorus")
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        lanes = {agent.edit("app.py", data).lane for data in (b"one\n", b"two\n")}
        assert [str(lane).startswith("chorus-") for lane in lanes] == [True]
        assert_whole(clean, recorder)


def test_two_recorders_in_one_work_tree_share_timeline_and_numbers(clean: UserRepo) -> None:
    with Recorder.open(clean.path) as one, Recorder.open(clean.path) as two:
        first, second = Agent(clean, one, "aaaa"), Agent(clean, two, "bbbb")
        for number in range(5):
            first.edit("a.txt", b"a%d\n" % number)
            second.edit("b.txt", b"b%d\n" % number)
        assert [entry.n for entry in one.entries()] == list(range(1, 11))
        assert one.entries() == two.entries()
        assert_whole(clean, one)


@pytest.mark.parametrize("words", [["gc", "-q"], ["gc", "-q", "--prune=now"], ["pack-refs", "--all"]])
def test_the_users_gc_and_pack_refs_remove_nothing(clean: UserRepo, words: list[str]) -> None:
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        for number in range(5):
            agent.edit("app.py", b"x = %d\n" % number)
            clean.git("reflog", "expire", "--expire=now", "--all")
            clean.git(*words)
        assert_whole(clean, recorder)
    with Recorder.open(clean.path) as again:
        assert len(again.entries()) == 5
        assert_whole(clean, again)


@pytest.mark.parametrize("way", ["cp", "clone", "push"])
def test_a_copy_of_a_repository_with_lanes_is_whole(clean: UserRepo, tmp_path: Path, way: str) -> None:
    with Recorder.open(clean.path) as recorder:
        agent = Agent(clean, recorder)
        lane = [agent.edit("app.py", b"x = %d\n" % number) for number in range(3)][-1].lane
    copy = UserRepo(tmp_path / "copy")
    if way == "cp":
        subprocess.run(["cp", "-a", str(clean.path), str(copy.path)], check=True)
    elif way == "clone":
        clean.git("clone", "-q", "--no-local", str(clean.path), str(copy.path))
        copy.git("fetch", "-q", "origin", f"{lane}:{lane}")
    else:
        copy.path.mkdir()
        copy.git("init", "-q", "--bare")
        clean.git("push", "-q", str(copy.path), str(lane), "main")
    clean.path.rename(tmp_path / "away")
    assert copy.fsck() == ""
    assert lane_file(copy, lane, "app.py") == b"x = 2\n"


@pytest.mark.parametrize("ref", ["refs/heads/main", None])
@pytest.mark.parametrize("oid", [Oid("1" * 40), None])
def test_a_head_is_read_as_it_was_written(ref: str | None, oid: Oid | None) -> None:
    assert parse_head(render_head(Head(ref, oid))) == Head(ref, oid)


def test_a_commit_seen_before_a_restart_is_not_taken_for_one_during_the_next_call(clean: UserRepo) -> None:
    """A lane starts at the commit that was there before the call, also if nobody looked before the call."""
    with Recorder.open(clean.path) as recorder:
        recorder.start()
        clean.git("commit", "-q", "--allow-empty", "-m", "mine")
        recorder.record_outside()
    clean.write("app.py", b"agent\n")
    with Recorder.open(clean.path) as recorder:
        recorder.record_named_paths([action("t1", clean.path / "app.py")])
        (lane,) = recorder.lanes.all()
        assert lane.base == clean.git("rev-parse", "HEAD").strip()


def test_a_move_in_several_steps_is_read_from_its_first_step_on(clean: UserRepo) -> None:
    start = Oid(clean.git("rev-parse", "HEAD").strip())
    for number in range(3):
        clean.git("commit", "-q", "--allow-empty", "-m", f"step {number}")
    end = Oid(clean.git("rev-parse", "HEAD").strip())
    steps = read_reflog_steps(clean.path / ".git", start, end)
    assert steps is not None
    assert [step.reason for step in steps] == [f"commit: step {number}" for number in range(3)]
    assert (steps[0].old, steps[-1].new) == (start, end)
    assert read_reflog_steps(clean.path / ".git", end, start) is None


def test_several_commits_at_once_are_named_after_the_last(clean: UserRepo) -> None:
    with record_one_edit(clean) as recorder:
        for number in range(2):
            clean.git("commit", "-q", "--allow-empty", "-m", f"step {number}")
        recorder.record_outside()
        reasons = [line["reason"] for line in recorder.journal.marks.lines if line["kind"] == "head"]
        assert reasons == ["commit: step 1"]
