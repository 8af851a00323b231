"""The client's own work trees (EnterWorktree, --worktree, a sub-agent's) are recorded, and seen from any."""

import pytest

from tests.e2e.scenarios import Say, bash, in_directory, write
from tests.e2e.watched_session import WatchedSession
from tests.lab.script import Text, ToolUse
from tests.waiting import wait_for

pytestmark = pytest.mark.client


def test_the_clients_own_work_trees_are_in_one_view(watched: WatchedSession) -> None:
    project = watched.project
    trees = project / ".claude" / "worktrees"
    other = WatchedSession(watched.client, watched.terminal)
    other.start_hooked("--worktree", "other")
    own = str(trees / "other" / "w.txt")
    other.say(Say("go ahead", [[ToolUse("Write", {"file_path": own, "content": "w\n"})], [Text("Done it.")]]))
    watched.start_hooked()
    moving = [
        [in_directory(write("m.txt", "m\n"), project)],
        [ToolUse("EnterWorktree", {"name": "feat"})],
        [ToolUse("Write", {"file_path": str(trees / "feat" / "a.txt"), "content": "a\n"})],
        [bash("echo b > b.txt")],
        [ToolUse("ExitWorktree", {"action": "keep"})],
        [in_directory(write("n.txt", "n\n"), project)],
        [Text("Done one.")],
    ]
    watched.say(Say("go one", moving))
    watched.client.model_server.scripts["sub work"] = [[bash("echo s > s.txt")], [Text("Sub done.")]]
    agent = {
        "description": "sub", "prompt": "sub work", "subagent_type": "general-purpose",
        "isolation": "worktree", "run_in_background": False,
    }  # fmt: skip
    watched.say(Say("go two", [[ToolUse("Agent", agent)], [Text("Done two.")]]))
    wait_for(lambda: len(watched.actions()) == 6, what="six actions", seconds=60)

    found = watched.actions()
    sub = next(entry["worktree"] for entry in found if entry["agent"])
    assert sub.startswith("agent-")
    names = ["other", "main", "feat", "feat", "main", sub]
    paths = [["w.txt"], ["m.txt"], ["a.txt"], ["b.txt"], ["n.txt"], ["s.txt"]]
    assert [(entry["worktree"], entry["paths"]) for entry in found] == list(zip(names, paths, strict=True))
    assert [entry["n"] for entry in found] == list(range(1, 7))
    assert {entry["status"] for entry in found} == {"committed"}
    assert len({entry["session"] for entry in found[1:]}) == 1
    assert {lane["worktree"] for lane in watched.chorus("lanes")} == {"main", "feat", sub, "other"}
    assert watched.chorus("revert", str(found[2]["n"]))["reverted"] == [3]
    assert not (trees / "feat" / "a.txt").exists()
    assert len(watched.log("--here")) == 2
