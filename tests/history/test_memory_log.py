"""What is asked about a history: pages of the log, with what no action made in its place."""

from chorus.history.log.filter import LogFilter
from chorus.history.log.queries import log, show
from chorus.history.recorder import Recorder
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


def test_what_no_action_made_is_paged_in_its_place_and_shown_by_where_it_stands(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("one.txt", b"1\n")
    (repo.path / "one.txt").write_bytes(b"1\n2\n")  # the person's own edit
    agent.edit("one.txt", b"3\n")
    agent.edit("two.txt", b"4\n")

    pages = [log(recorder, LogFilter(outside=True, before=n, limit=10)) for n in (None, 3, 2)]
    assert [[entry["n"] for entry in page] for page in pages] == [[1, None, 2, 3], [1, None, 2], [1, None]]
    outside = pages[0][1]
    assert show(recorder, outside["timeline"])["patch"].splitlines()[-1] == "+2"
    assert log(recorder, LogFilter(before=2)) == pages[0][:1]
