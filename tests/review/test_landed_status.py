"""An action is landed as long as its commit, or a copy of it, is on a branch of the user."""

import time

import pytest

from chorus.history.log.disk_log import DiskLog
from chorus.history.log.filter import LogFilter
from chorus.history.log.memory_log import LogChanges
from chorus.review.landing.target import NothingToLand
from chorus.review.operations import Selection, redo, revert
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.review.landing_steps import land


@pytest.fixture
def landed(repo: UserRepo, agent: Agent) -> UserRepo:
    """Two actions, each landed in a commit of its own."""
    repo.git("reset", "-q", "--hard")
    agent.edit("one.txt", b"one\n")
    agent.edit("two.txt", b"two\n")
    land(agent, by="action")
    return repo


def statuses(agent: Agent) -> list[str]:
    """The statuses in memory, which are the same as those read from disk."""
    found = [entry.status for entry in agent.recorder.entries() if entry.n is not None]
    with DiskLog.open(agent.repo.path) as log:
        assert [entry.status for entry in log.entries() if entry.n is not None][::-1] == found
    return [str(status) for status in found]


def test_a_landed_action_has_that_status_and_is_not_open(landed: UserRepo, agent: Agent) -> None:
    assert statuses(agent) == ["landed", "landed"]
    entries = agent.recorder.entries()
    assert not any(entry.open for entry in entries)
    listed = agent.recorder.log.select(LogFilter(status="landed"))
    assert [(entry["n"], entry["status"], entry["landed"]) for entry in listed] == [
        (1, "landed", True),
        (2, "landed", True),
    ]


def test_a_commit_that_is_reset_away_is_landed_no_more_and_can_land_again(
    landed: UserRepo, agent: Agent
) -> None:
    news = LogChanges(agent.recorder.journal)
    news.take()
    landed.git("reset", "-q", "--hard", "HEAD~1")
    assert [(entry.n, entry.status) for entry in news.take()] == [(2, "committed")]
    assert statuses(agent) == ["landed", "committed"]
    landed.git("reflog", "expire", "--expire=now", "--all")
    landed.git("gc", "-q", "--prune=now")
    assert statuses(agent) == ["landed", "committed"]
    assert [group.numbers for group in land(agent).groups] == [[2]]
    assert statuses(agent) == ["landed", "landed"]
    assert landed.git("show", "HEAD:two.txt") == "two\n"


def test_a_change_that_a_hard_reset_removed_from_disk_lands_only_by_number(
    landed: UserRepo, agent: Agent
) -> None:
    landed.git("reset", "-q", "--hard", "HEAD~1")
    agent.recorder.record_outside()
    assert statuses(agent) == ["landed", "undone"]
    with pytest.raises(NothingToLand) as nothing:
        land(agent)
    assert nothing.value.hint == "The change of action 2 is gone from disk. Name an action to land it anyway."
    land(agent, 2)
    assert landed.git("show", "main:two.txt") == "two\n"
    assert not (landed.path / "two.txt").exists()


def test_a_change_that_a_soft_reset_left_on_disk_lands_again(landed: UserRepo, agent: Agent) -> None:
    landed.git("reset", "-q", "HEAD~1")
    agent.recorder.record_outside()
    assert statuses(agent) == ["landed", "committed"]
    land(agent)
    assert landed.git("show", "main:two.txt") == "two\n"


def test_a_dry_run_marks_nothing(repo: UserRepo, agent: Agent) -> None:
    """Not even what the user has picked from the lane by hand."""
    repo.git("reset", "-q", "--hard")
    first = agent.edit("one.txt", b"one\n")
    agent.edit("two.txt", b"two\n")
    assert first.commit is not None
    (repo.path / "one.txt").unlink()
    repo.git("cherry-pick", first.commit)
    agent.recorder.record_outside()
    marks = list(agent.recorder.journal.marks.lines)
    assert [group.numbers for group in land(agent, dry_run=True).groups] == [[2]]
    assert list(agent.recorder.journal.marks.lines) == marks
    assert [group.numbers for group in land(agent).groups] == [[2]]
    assert statuses(agent) == ["landed", "landed"]


@pytest.mark.parametrize(
    "rewrite",
    [
        ("commit", "-q", "--amend", "-m", "Other words\n\nChorus-Action: toolu"),
        ("rebase", "-q", "--onto", "v1~1", "v1"),
    ],
)
def test_a_rewritten_commit_counts_if_it_still_names_its_action(
    landed: UserRepo, agent: Agent, rewrite: tuple[str, ...]
) -> None:
    words = list(rewrite)
    if words[0] == "commit":
        words[-1] = words[-1].replace("toolu", agent.recorder.entries()[-1].id or "")
    landed.git(*words, GIT_COMMITTER_DATE=f"@{int(time.time())} +0000")
    assert statuses(agent) == ["landed", "landed"]


def test_a_lane_or_a_tag_is_not_a_branch_to_land_on(landed: UserRepo, agent: Agent) -> None:
    landed.git("tag", "before")
    landed.git("branch", "chorus/copy")
    landed.git("reset", "-q", "--hard", "v1")
    assert statuses(agent) == ["committed", "committed"]


def test_every_branch_of_the_user_counts_in_the_log(landed: UserRepo, agent: Agent) -> None:
    landed.git("branch", "deep/side")
    landed.git("reset", "-q", "--hard", "v1")
    assert statuses(agent) == ["landed", "landed"]
    landed.git("pack-refs", "--all")
    assert statuses(agent) == ["landed", "landed"]
    landed.git("branch", "-qD", "deep/side")
    assert statuses(agent) == ["committed", "committed"]


def test_redo_restores_the_hunk_that_was_reverted(repo: UserRepo, agent: Agent) -> None:
    repo.git("reset", "-q", "--hard")
    lines = [b"%d\n" % number for number in range(30)]
    repo.commit("numbers", **{"n.txt": b"".join(lines)})
    changed = b"".join(lines).replace(b"3\n", b"three\n", 1).replace(b"25\n", b"x\n", 1)
    edit = agent.edit("n.txt", changed)
    for hunk in (2, 1):
        revert(agent.recorder, Selection([str(edit.n)], hunks=[hunk]))
    done = redo(agent.recorder, Selection([str(edit.n)]))
    assert done["restored"] == [edit.n]
    assert (repo.path / "n.txt").read_bytes() == changed.replace(b"x\n", b"25\n", 1)
    redo(agent.recorder, Selection([str(edit.n)]))
    assert (repo.path / "n.txt").read_bytes() == changed
