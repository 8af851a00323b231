"""Reverting single hunks of an action while the others stay."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorus.errors import UsageError
from chorus.history.recorder import Recorder
from chorus.model.api.json_api import RevertJson
from chorus.review import operations as review
from chorus.review.operations import Selection
from chorus.review.revert.file_content import Content, render_patch
from chorus.review.revert.hunks import NoSuchHunk, PatchHunk, revert_hunks, split_patch
from tests.history.agent_at_work import Agent
from tests.history.invariants import assert_whole
from tests.repos import UserRepo

LINES = b"".join(b"line %d\n" % number for number in range(20))


def revert_hunk(recorder: Recorder, number: int | None, *hunks: int) -> RevertJson:
    return review.revert(recorder, Selection([str(number)], hunks=hunks))


def test_one_hunk_is_reverted_and_other_hunks_and_user_edits_stay(repo: UserRepo, agent: Agent) -> None:
    agent.edit("a.txt", LINES)
    changed = LINES.replace(b"line 2\n", b"two\n").replace(b"line 15\n", b"fifteen\nand more\n")
    entry = agent.edit("a.txt", changed)
    repo.write("a.txt", changed.replace(b"line 9\n", b"mine\n"))
    listed = review.list_revertible_hunks(agent.recorder, str(entry.n))
    assert [(hunk["n"], hunk["path"]) for hunk in listed] == [(1, "a.txt"), (2, "a.txt")]
    assert "+two" in listed[0]["patch"]
    assert "+fifteen" in listed[1]["patch"]

    done = revert_hunk(agent.recorder, entry.n, 2)

    after = LINES.replace(b"line 2\n", b"two\n").replace(b"line 9\n", b"mine\n")
    assert (repo.path / "a.txt").read_bytes() == after
    assert [e.status for e in agent.recorder.entries() if e.n == entry.n] == ["committed"]
    assert_whole(repo, agent.recorder)

    revert_hunk(agent.recorder, entry.n, 1)
    assert (repo.path / "a.txt").read_bytes() == LINES.replace(b"line 9\n", b"mine\n")
    review.redo(agent.recorder, Selection([str(done["n"])]))
    restored = LINES.replace(b"line 9\n", b"mine\n").replace(b"line 15\n", b"fifteen\nand more\n")
    assert (repo.path / "a.txt").read_bytes() == restored


def test_reverting_all_hunks_reverts_the_action(repo: UserRepo, agent: Agent) -> None:
    agent.edit("a.txt", LINES)
    entry = agent.edit("a.txt", LINES.replace(b"line 2\n", b"2\n").replace(b"line 15\n", b"15\n"))
    revert_hunk(agent.recorder, entry.n, 1, 2)
    assert (repo.path / "a.txt").read_bytes() == LINES
    assert [e.status for e in agent.recorder.entries() if e.n == entry.n] == ["reverted"]


def test_a_change_without_lines_is_one_hunk(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        (repo.path / "run.sh").chmod(0o644)
        (repo.path / "run.sh").write_bytes(b"#!/bin/sh\necho ho\n")
        repo.write("made.txt", b"one\ntwo\n")
        repo.write("picture", b"\x89\0\1")
        (repo.path / "notes.txt").unlink()

    entry = agent.bash(change)
    listed = review.list_revertible_hunks(agent.recorder, str(entry.n))
    paths = [hunk["path"] for hunk in listed]
    assert paths == ["made.txt", "notes.txt", "picture", "run.sh", "run.sh"]
    mode = 1 + paths.index("run.sh")
    revert_hunk(agent.recorder, entry.n, mode, *(1 + paths.index(name) for name in ("made.txt", "notes.txt")))
    assert (repo.path / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (repo.path / "run.sh").read_bytes() == b"#!/bin/sh\necho ho\n"
    assert not (repo.path / "made.txt").exists()
    assert (repo.path / "notes.txt").read_bytes() == b"untracked\n"
    assert (repo.path / "picture").exists()
    assert_whole(repo, agent.recorder)


def test_an_unknown_hunk_is_refused(repo: UserRepo, agent: Agent) -> None:
    first = agent.edit("a.txt", LINES)
    second = agent.edit("b.txt", LINES)
    with pytest.raises(NoSuchHunk):
        revert_hunk(agent.recorder, first.n, 7)
    with pytest.raises(UsageError):
        review.revert(agent.recorder, Selection([str(first.n), str(second.n)], hunks=[1]))
    assert (repo.path / "a.txt").read_bytes() == LINES


_LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"\r", b"@@ -1 +1 @@", b"-x"]), max_size=40)


def test_reverting_all_hunks_gives_the_file_before_and_none_the_file_after(recorder: Recorder) -> None:
    @settings(max_examples=60, deadline=None)
    @given(before=_LINES, after=_LINES, end=st.sampled_from([b"", b"\n"]), picks=st.sets(st.integers(1, 9)))
    def check(before: list[bytes], after: list[bytes], end: bytes, picks: set[int]) -> None:
        old, new = Content(0o100644, b"\n".join(before) + end), Content(0o100644, b"\n".join(after))
        path = recorder.workspace.locate("x.txt")
        assert path is not None
        patch = render_patch(recorder, {path: old}, {path: new})
        split = [(n, *rest) for n, rest in enumerate(split_patch(patch, old, new), 1)]
        hunks = [PatchHunk(n, path, head, text, part) for n, head, text, part in split]
        some = revert_hunks(old, new, [hunk for hunk in hunks if hunk.number in picks])
        assert revert_hunks(old, new, hunks) == old
        assert revert_hunks(old, new, []) == new
        again = render_patch(recorder, {path: some}, {path: new})
        assert again.count("\n@@ ") <= len([hunk for hunk in hunks if hunk.number in picks])

    check()
