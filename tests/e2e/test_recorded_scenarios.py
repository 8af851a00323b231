"""The real client, watched in each of the three ways: every action is recorded exactly once."""

import pytest

from tests.e2e.scenarios import SCENARIOS, placed
from tests.e2e.watched_session import MODES, WatchedSession, expect_recorded, play
from tests.repos import UserRepo

pytestmark = pytest.mark.client


@pytest.mark.parametrize("mode", MODES)
def test_each_action_of_the_client_is_recorded_exactly_once(watched: WatchedSession, mode: str) -> None:
    """One session plays all scenarios."""
    project = watched.project
    scenarios = [placed(scenario, number, project) for number, scenario in enumerate(SCENARIOS)]
    for path, text in {path: text for one in scenarios for path, text in one.files.items()}.items():
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_text(text)
    repo = UserRepo(project)
    repo.commit("everything the scenarios need")
    (project / "mine.txt").write_text("not committed\n")
    before = repo.fingerprint()

    watched.deny("Edit(//**/denied.txt)")
    MODES[mode](watched)
    done = 0
    for scenario in scenarios:
        play(watched, scenario)
        expect_recorded(watched, scenario.expected, skip=done)
        done += len(scenario.expected)

    after = repo.fingerprint()
    assert (after["refs"], after["git dir"]) == (before["refs"], before["git dir"])
    assert (project / "mine.txt").read_text() == "not committed\n"
    assert repo.fsck() == ""
    outside = {
        p for entry in watched.log("--outside") if entry["status"] == "outside" for p in entry["paths"]
    }
    assert outside == {path for scenario in scenarios for path in scenario.outside}
