"""Moves of HEAD and of the stash: what moved, why, and which changes on disk git itself made."""

import pytest

from chorus.history.disk_changes import head_moves
from chorus.history.disk_changes.head_moves import (
    HeadTracker,
    ReflogStep,
    detached_at,
    parse_reflog,
    read_reflog_steps,
    render_head,
)
from chorus.history.recorder import Recorder
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.trees import TreeEntry
from chorus.store.refs import NO_OID, Head
from tests.repos import UserRepo

MAIN = "refs/heads/main"
APP = RepoPath("app.py")


@pytest.fixture
def clean(repo: UserRepo) -> UserRepo:
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-qfd")
    repo.commit("start", **{"app.py": b"x = one\n"})
    return repo


@pytest.fixture
def tracker(clean: UserRepo, recorder: Recorder) -> HeadTracker:
    return HeadTracker(recorder.workspace, None, None)


def head_of(repo: UserRepo, revision: str = "HEAD") -> Oid:
    return Oid(repo.git("rev-parse", revision).strip())


def stored(recorder: Recorder, data: bytes) -> TreeEntry:
    return TreeEntry(0o100644, recorder.workspace.store.write_blob(data))


def test_nothing_moved(tracker: HeadTracker) -> None:
    assert tracker.look() is None
    assert (tracker.base, tracker.branch) == (tracker.head, MAIN)


def test_a_commit_writes_no_files_and_changes_started_from_the_one_before(
    clean: UserRepo, tracker: HeadTracker
) -> None:
    before = tracker.head
    clean.git("commit", "-q", "--allow-empty", "-m", "one")
    clean.git("commit", "-q", "--allow-empty", "-m", "two")
    move = tracker.look()
    assert move is not None
    assert (move.reason, move.steps, move.is_switch) == ("commit: two", (), False)
    assert move.after == tracker.head == Head(MAIN, head_of(clean))
    assert tracker.base == before
    assert tracker.paths_of(move) == []
    assert tracker.look() is None
    assert tracker.base == tracker.head


def test_a_switch_goes_to_the_other_branch_or_to_a_commit(clean: UserRepo, tracker: HeadTracker) -> None:
    clean.git("checkout", "-q", "-b", "side", "HEAD~1")
    move = tracker.look()
    assert move is not None
    assert (move.is_switch, move.reason, len(move.steps)) == (
        True,
        "checkout: moving from main to side",
        1,
    )
    assert tracker.branch == "refs/heads/side"
    assert tracker.base == tracker.head
    clean.git("checkout", "-q", "--detach", "main")
    move = tracker.look()
    assert move is not None
    assert move.is_switch
    assert tracker.branch == f"detached {head_of(clean)[:12]}"


def test_a_reset_explains_the_files_it_wrote_and_no_other_content(
    clean: UserRepo, recorder: Recorder, tracker: HeadTracker
) -> None:
    clean.commit("more", **{"app.py": b"x = two\n", "new.txt": b"new\n"})
    tracker.look()
    clean.git("commit", "-q", "--allow-empty", "-m", "empty")
    clean.git("reset", "-q", "--hard", "HEAD~2")
    move = tracker.look()
    assert move is not None
    assert (move.reason, move.is_switch, len(move.steps)) == ("reset: moving to HEAD~2", False, 1)
    assert tracker.branch == MAIN
    assert sorted(tracker.paths_of(move) or ()) == ["app.py", "new.txt"]
    assert tracker.explains(move, APP, stored(recorder, b"x = one\n"))
    assert not tracker.explains(move, APP, stored(recorder, b"x = three\n"))
    assert not tracker.explains(move, APP, None)
    assert tracker.explains(move, RepoPath("new.txt"), None)
    assert tracker.explains(move, RepoPath("src"), None), "a directory is no file"


def test_a_move_from_a_commit_that_is_gone_explains_no_files(clean: UserRepo, recorder: Recorder) -> None:
    gone = Head(MAIN, Oid("1" * 40))
    tracker = HeadTracker(recorder.workspace, render_head(gone), None)
    move = tracker.look()
    assert move is not None
    assert tracker.paths_of(move) is None


@pytest.mark.parametrize("words", [(), ("--include-untracked",)])
def test_a_stash_and_its_pop_explain_what_they_wrote(
    clean: UserRepo, recorder: Recorder, tracker: HeadTracker, words: tuple[str, ...]
) -> None:
    clean.write("app.py", b"x = two\n")
    clean.write("new.txt", b"new\n")
    wanted = ["app.py", "new.txt"] if words else ["app.py"]
    for command, content in (("push", b"x = one\n"), ("pop", b"x = two\n")):
        clean.git("stash", command, "-q", *(words if command == "push" else ()))
        move = tracker.look()
        assert move is not None
        assert move.reason == "stash"
        assert tracker.base == tracker.head
        assert sorted(tracker.paths_of(move) or ()) == wanted
        assert tracker.explains(move, APP, stored(recorder, content))
        if words:
            made = None if command == "push" else stored(recorder, b"new\n")
            assert tracker.explains(move, RepoPath("new.txt"), made)
        assert not tracker.explains(move, APP, stored(recorder, b"x = three\n"))
    assert tracker.look() is None


@pytest.mark.parametrize(
    ("words", "reason", "switches", "writes"),
    [
        (("commit", "-q", "--allow-empty", "-m", "one"), "commit", False, False),
        (("checkout", "-q", "-b", "side"), "checkout: refs/heads/side", True, True),
        (("checkout", "-q", "-b", "side", "HEAD~1"), "checkout: refs/heads/side", True, True),
        (("checkout", "-q", "--detach"), "checkout: OID", True, True),
        (("reset", "-q", "--hard", "HEAD~1"), "HEAD moved", False, True),
    ],
)
def test_without_a_reflog_a_move_is_guessed_from_its_ends(
    clean: UserRepo, recorder: Recorder, words: tuple[str, ...], reason: str, *, switches: bool, writes: bool
) -> None:
    clean.git("config", "core.logAllRefUpdates", "false")
    (clean.path / ".git/logs/HEAD").unlink()
    tracker = HeadTracker(recorder.workspace, None, None)
    clean.git(*words)
    move = tracker.look()
    assert move is not None
    assert move.reason == reason.replace("OID", head_of(clean))
    assert (move.is_switch, bool(move.steps)) == (switches, writes)


def test_a_rebase_keeps_the_branch_of_the_lane(clean: UserRepo, recorder: Recorder) -> None:
    last = render_head(Head(None, head_of(clean)))
    here = f"detached {head_of(clean)[:12]}"
    assert HeadTracker(recorder.workspace, last, None).branch == here
    assert HeadTracker(recorder.workspace, last, MAIN).branch == here
    assert HeadTracker(recorder.workspace, last, "detached 123").branch == "detached 123"
    (clean.path / ".git/rebase-merge").mkdir()
    assert HeadTracker(recorder.workspace, last, MAIN).branch == MAIN
    assert (
        HeadTracker(recorder.workspace, render_head(Head("refs/heads/b", None)), MAIN).branch
        == "refs/heads/b"
    )


def test_the_place_of_an_unborn_detached_head_has_a_name() -> None:
    assert detached_at(Head(None, None)) == "detached unborn"
    assert detached_at(Head(None, Oid("abcdef0123456789" * 2))) == "detached abcdef012345"


def test_the_end_of_a_long_reflog_is_enough(clean: UserRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    git_dir = clean.path / ".git"
    oids = [head_of(clean)]
    for number in range(3):
        clean.git("commit", "-q", "--allow-empty", "-m", f"step {number}")
        oids.append(head_of(clean))
    lines = (git_dir / "logs/HEAD").read_bytes().splitlines(keepends=True)
    two, three = (sum(map(len, lines[-count:])) for count in (2, 3))
    for size in (two, two + 1, two + 45, three - 1):
        monkeypatch.setattr(head_moves, "REFLOG_TAIL_BYTES", size)
        found = read_reflog_steps(git_dir, oids[1], oids[3])
        assert found is not None
        assert [step.reason for step in found] == ["commit: step 1", "commit: step 2"]
        assert read_reflog_steps(git_dir, oids[0], oids[3]) is None
    for size in (three, 10**6):
        monkeypatch.setattr(head_moves, "REFLOG_TAIL_BYTES", size)
        assert len(read_reflog_steps(git_dir, oids[0], oids[3]) or ()) == 3
    for other in (Oid("0" * 40), Oid("f" * 40)):
        assert read_reflog_steps(git_dir, oids[0], other) is None, "the reflog ends with another commit"


def test_of_a_commit_that_head_was_on_twice_the_last_time_counts(clean: UserRepo) -> None:
    start = head_of(clean)
    clean.git("checkout", "-q", "HEAD~1")
    clean.git("checkout", "-q", "main")
    clean.git("commit", "-q", "--allow-empty", "-m", "one")
    steps = read_reflog_steps(clean.path / ".git", start, head_of(clean))
    assert steps is not None
    assert [step.reason for step in steps] == ["commit: one"]


def test_a_line_of_the_reflog_without_two_whole_names_is_left_out() -> None:
    one, two = "1" * 40, "2" * 40
    lines = [
        f"{NO_OID} {one} Ada <a@x> 1 +0000\tcommit (initial): a",
        f"{one} {two} Ada <a@x> 2 +0000\treset: moving to \tx",
        f"{two} {NO_OID} Ada\tgone",
        f"{one[1:]} {two} Ada\tcut",
        f"{one} {two[1:]} Ada\tcut",
        one,
        "",
    ]
    assert list(parse_reflog(lines)) == [
        ReflogStep(None, Oid(one), "commit (initial): a"),
        ReflogStep(Oid(one), Oid(two), "reset: moving to \tx"),
        ReflogStep(Oid(two), None, "gone"),
    ]
    assert [step.writes for step in parse_reflog(lines)] == [False, True, True]
