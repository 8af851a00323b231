"""What a process that died in the middle of a landing left behind is finished or undone, and nothing else."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from chorus.history.marks.mark_log import ActionMarks
from chorus.history.recorder import Recorder
from chorus.review.landing.recovery import PendingLanding, recover_landing
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.review.landing_steps import land

COPIED = "chorus.store.user_branch.UserBranch.copy_to_user_store"
SECOND_COMMIT = "chorus.review.landing.recovery.PendingLanding.add"


@pytest.fixture
def clean(repo: UserRepo) -> UserRepo:
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-qfd")
    return repo


def die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def killed(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Land until a point, as a process that is killed there: it cleans up nothing."""

    def run(point: str, **wanted: Any) -> None:
        monkeypatch.setattr(point, die)
        monkeypatch.setattr("chorus.store.user_branch.UserBranch.roll_back", lambda _: None)
        monkeypatch.setattr("chorus.review.landing.recovery.PendingLanding.clear", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            land(agent, by="action", **wanted)
        monkeypatch.undo()

    return run


def recover(repo: UserRepo) -> dict[int, tuple[str, ...]]:
    """In which commits each action has landed, after the next process has started."""
    with Recorder.open(repo.path) as recorder:
        recover_landing(recorder)
        marks = ActionMarks(recorder.journal.marks.lines)
        return {entry.n: marks.landed_in(entry.id or "") for entry in recorder.entries() if entry.n}


def test_each_action_is_marked_with_its_own_commit(
    clean: UserRepo, agent: Agent, killed: Callable[..., None]
) -> None:
    for name in "abc":
        agent.edit(f"{name}.txt", b"x\n")
    killed(COPIED)
    commits = clean.git("rev-list", "--reverse", "-3", "main").split()
    assert recover(clean) == {1: (commits[0],), 2: (commits[1],), 3: (commits[2],)}
    assert clean.git("status", "--short") == ""


def test_an_action_whose_change_the_branch_had_is_marked_with_the_tip(
    clean: UserRepo, agent: Agent, killed: Callable[..., None]
) -> None:
    agent.edit("a.txt", b"x\n")
    clean.commit("by hand", **{"a.txt": b"x\n"})
    agent.edit("b.txt", b"x\n")
    agent.edit("c.txt", b"x\n")
    killed(COPIED)
    second, tip = clean.git("rev-list", "--reverse", "-2", "main").split()
    assert recover(clean) == {1: (tip,), 2: (second,), 3: (tip,)}


@pytest.mark.parametrize(
    "content",
    [
        "{", "{}", "[]", "3", '"x"', "null", '{"groups": 1, "made": []}', '{"groups": [], "made": 1}',
        '{"groups": [["a"]], "made": [], "ref": "refs/heads/main", "start": null}',
        '{"groups": [["a"]], "made": [], "ref": "refs/heads/main", "start": null, "checked_out": 1, "x": 1}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_removed_and_changes_nothing(clean: UserRepo, agent: Agent, content: str) -> None:
    agent.edit("a.txt", b"x\n")
    place = clean.path / ".git/chorus/landing.json"
    place.write_text(content)
    refs = clean.git("for-each-ref", "refs/heads/")
    assert recover(clean) == {1: ()}
    assert clean.git("for-each-ref", "refs/heads/") == refs
    assert not place.exists()


def test_what_is_written_is_read_again(clean: UserRepo, agent: Agent, killed: Callable[..., None]) -> None:
    for name in "ab":
        agent.edit(f"{name}.txt", b"x\n")
    start = clean.git("rev-parse", "main").strip()
    killed(COPIED, onto="fresh")
    progress = PendingLanding(agent.recorder.workspace.repository.own_dir).read()
    assert progress is not None
    assert (progress.ref, progress.start, progress.checked_out) == ("refs/heads/fresh", start, False)
    assert [len(group) for group in progress.groups] == [1, 1]
    assert progress.recognised == progress.groups
    assert progress.made == tuple(clean.git("rev-list", "--reverse", "-2", "fresh").split())
    assert (progress.created, progress.restacked) == (True, None)


@pytest.mark.parametrize("how", ["commit", "merge", "reset", "delete"])
def test_a_branch_that_somebody_moved_meanwhile_is_left_alone(
    clean: UserRepo, agent: Agent, killed: Callable[..., None], how: str
) -> None:
    for name in "ab":
        agent.edit(f"{name}.txt", b"x\n")
    clean.git("branch", "other")
    clean.git("branch", "landed")
    killed(SECOND_COMMIT, onto="landed")
    tip = clean.git("rev-parse", "landed").strip()
    tree = clean.git("rev-parse", "landed^{tree}").strip()
    message = clean.git("log", "-1", "--format=%B", "landed")
    if how == "delete":
        clean.git("branch", "-D", "landed")
    elif how == "reset":
        clean.git("update-ref", "refs/heads/landed", "landed~2")
    else:
        parents = [tip] if how == "commit" else [tip, "other"]
        words = [word for parent in parents for word in ("-p", parent)]
        text = "mine" if how == "commit" else message
        made = clean.git("commit-tree", *words, "-m", text, tree).strip()
        clean.git("update-ref", "refs/heads/landed", made)
    refs = clean.git("for-each-ref", "refs/heads/")
    assert recover(clean) == {1: (), 2: ()}
    assert clean.git("for-each-ref", "refs/heads/") == refs


def test_the_roll_back_says_so_in_the_reflog(
    clean: UserRepo, agent: Agent, killed: Callable[..., None]
) -> None:
    for name in "ab":
        agent.edit(f"{name}.txt", b"x\n")
    start = clean.git("rev-parse", "main")
    killed(SECOND_COMMIT)
    assert clean.git("rev-parse", "main") != start
    assert recover(clean) == {1: (), 2: ()}
    assert clean.git("rev-parse", "main") == start
    assert "chorus: landing rolled back" in clean.git("reflog", "-1", "main")


def test_the_landing_of_a_process_that_is_alive_is_left_to_it(
    clean: UserRepo, agent: Agent, killed: Callable[..., None]
) -> None:
    for name in "ab":
        agent.edit(f"{name}.txt", b"x\n")
    killed(SECOND_COMMIT)
    tip = clean.git("rev-parse", "main")
    pending = PendingLanding(agent.recorder.workspace.repository.own_dir)
    with pending.locked() as alone:
        assert alone
        recover_landing(agent.recorder)
        assert clean.git("rev-parse", "main") == tip
        assert pending.read() is not None
    recover_landing(agent.recorder)
    assert clean.git("rev-parse", "main") != tip


def test_a_landing_with_lines_of_the_user_is_recognised_by_all_its_commits(
    clean: UserRepo, agent: Agent, killed: Callable[..., None]
) -> None:
    clean.commit("numbers", **{"n.txt": b"1\n2\n3\n"})
    clean.write("n.txt", b"1\nmine\n3\n")
    agent.recorder.record_outside()
    agent.replace("n.txt", b"mine\n", b"theirs\n")
    agent.edit("b.txt", b"x\n")
    killed(COPIED, with_context=True)
    path = clean.path / ".git/chorus/landing.json"
    values = json.loads(path.read_text())
    # Killed after the commits, before they were noted: they are recognised by their trailers.
    path.write_text(json.dumps({**values, "made": []}))
    _, second, third = clean.git("rev-list", "--reverse", "-3", "main").split()
    assert recover(clean) == {1: (second,), 2: (third,)}
