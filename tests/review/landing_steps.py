"""Land a lane as the watcher does: plan, apply, mark."""

from chorus.review.landing.apply import LandingResult, apply_landing, mark_landed
from chorus.review.landing.plan import plan_landing
from chorus.review.landing.recovery import PendingLanding
from chorus.review.landing.selection import LandingRequest
from tests.history.agent_at_work import Agent

# The file that most landings are about.
LINES = b"".join(b"line %d\n" % n for n in range(1, 31))


def land(agent: Agent, *actions: int | None, dry_run: bool = False, **wanted: object) -> LandingResult:
    """Land the lane of the agent's session, or these actions of it."""
    recorder = agent.recorder
    lane = next(lane for lane in recorder.lanes.all() if lane.session == agent.session)
    request = LandingRequest(lane.name, actions=[str(n) for n in actions], dry_run=dry_run, **wanted)  # type: ignore[arg-type]  # as given
    plan = plan_landing(recorder, request)
    pending = PendingLanding(recorder.workspace.repository.own_dir)
    with pending.locked():
        result = apply_landing(recorder.workspace, plan, pending, dry_run=dry_run)
        if not dry_run:
            mark_landed(recorder, result)
            pending.clear()
    return result


def left(result: LandingResult) -> list[tuple[int, str]]:
    """What is left open: action and reason."""
    return [(action.number, obstacle.reason) for action in result.left for obstacle in action.obstacles]
