"""Questions to a history in memory."""

from chorus.history.log.filter import LogFilter
from chorus.history.recorder import Recorder
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


def test_outside_changes_are_paged_in_order_and_shown_by_their_timeline_commit(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("one.txt", b"1\n")
    (repo.path / "one.txt").write_bytes(b"1\n2\n")  # the user's own edit
    agent.edit("one.txt", b"3\n")
    agent.edit("two.txt", b"4\n")

    pages = [recorder.log.select(LogFilter(outside=True, before=n, limit=10)) for n in (None, 3, 2)]
    assert [[entry["n"] for entry in page] for page in pages] == [[1, None, 2, 3], [1, None, 2], [1, None]]
    outside = pages[0][1]
    assert recorder.log.show(str(outside["timeline"]))["patch"].splitlines()[-1] == "+2"
    assert recorder.log.select(LogFilter(before=2)) == pages[0][:1]
