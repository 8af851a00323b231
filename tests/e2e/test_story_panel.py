"""The whole workflow in one window: prompts are answered and actions reviewed in the panel."""

import re
import sys
from collections.abc import Iterator

import pytest

from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.scenarios import APP, edit, in_directory, read, write
from tests.e2e.watched_session import WatchedSession, run_git
from tests.lab.client import INPUT_BOX, Client, say
from tests.lab.script import Step, Text
from tests.lab.terminal import Pane, Terminal
from tests.repos import UserRepo
from tests.waiting import wait_for

pytestmark = pytest.mark.client

# Deadlines only: a real client, a watcher and a panel start here, perhaps on a busy machine.
SECONDS = 120.0
NEW = APP.replace("old", "new")
NOTES = "old is new now\n"


@pytest.fixture
def watched(client: Client) -> Iterator[WatchedSession]:
    with Terminal(width=200, height=50) as terminal:
        yield WatchedSession(client, terminal)
        stop(find_home(client.project))


def open_both(watched: WatchedSession) -> tuple[Pane, Pane]:
    """Start `chorus claude`: the client on the left, the panel on the right."""
    command = [sys.executable, "-m", "chorus", "claude", "--", "--permission-mode", "default"]
    session = watched.terminal.open(command, cwd=watched.project, environment=watched.environment())
    session.wait_for(INPUT_BOX, seconds=SECONDS)
    listed = watched.terminal.tmux("list-panes", "-a", "-F", "#{@chorus_panel} #{pane_id}").splitlines()
    panel = Pane(watched.terminal, next(line.split()[1] for line in listed if line.startswith("1 ")))
    panel.wait_for("Queue nothing open", seconds=SECONDS)
    return session, panel


def press(panel: Pane, key: str, *, seeing: str, gives: str) -> str:
    """Press a key once the panel shows `seeing`; return the screen it leads to.

    A key that comes right after the screen changed is not taken, and the panel says so: a person then
    looks, and presses again.
    """
    for _ in range(5):
        panel.wait_settled(seeing, seconds=SECONDS)
        panel.press(key)
        screen = panel.wait_for(f"{gives}|press again", seconds=SECONDS)
        if re.search(gives, screen):
            return screen
    raise AssertionError(f"{key} was not taken:\n{screen}")


def test_an_edit_is_approved_reverted_redone_kept_and_landed_in_the_panel(
    watched: WatchedSession,
) -> None:
    project = watched.project
    first = run_git(project, "rev-parse", "HEAD").stdout
    session, panel = open_both(watched)
    turns: list[list[Step]] = [
        [read("app.py")],
        [edit("app.py", "old", "new")],
        [write("notes.txt", NOTES)],
        [Text("Renamed it.")],
    ]
    watched.client.model_server.scripts["rename old to new"] = [
        [in_directory(s, project) for s in t] for t in turns
    ]
    say(session, "rename old to new")

    # Approve: the panel shows the prompt with its change, and one key answers it.
    asked = panel.wait_settled(r"(?s)\+new.*proceed\?.*1 +Yes", seconds=SECONDS)
    assert re.search(r"-old", asked)
    assert (project / "app.py").read_text() == APP
    press(panel, "a", seeing=r"app\.py", gives="approved: ")
    press(panel, "a", seeing=r"notes\.txt", gives="approved: .*\n.*nothing|2 open")
    session.wait_for("● Renamed it", seconds=SECONDS)

    # Review: both actions are in the queue and on disk, and not on the user's branch.
    panel.wait_settled(r"(?s)Queue 2 open.*○ +Edit +app\.py.*○ +Write +notes\.txt", seconds=SECONDS)
    assert ((project / "app.py").read_text(), (project / "notes.txt").read_text()) == (NEW, NOTES)
    assert run_git(project, "rev-parse", "HEAD").stdout == first
    numbers = {entry["tool"]: entry["n"] for entry in watched.actions()}

    # Revert only the first one, after its preview.
    panel.press("Up")
    press(panel, "r", seeing=r"\+def new|def new", gives="Revert")
    press(panel, "r", seeing=f"Revert {numbers['Edit']} Edit app.py", gives=f"reverted {numbers['Edit']}")
    assert ((project / "app.py").read_text(), (project / "notes.txt").read_text()) == (APP, NOTES)
    panel.wait_settled(r"(?s)Queue 1 open.*↺ +Edit +app\.py", seconds=SECONDS)

    # Redo it, and keep the whole turn.
    press(panel, "u", seeing="Queue 1 open", gives=f"redone {numbers['Edit']}")
    assert (project / "app.py").read_text() == NEW
    press(panel, "X", seeing="Queue 2 open", gives="kept ")
    panel.wait_settled("Queue nothing open", seconds=SECONDS)

    # Land: one commit for the turn on the user's branch, the work tree unchanged.
    lane = watched.chorus("lanes")[0]["name"]
    press(
        panel, "l", seeing="Queue nothing open", gives=f"(?s)Land {lane.rpartition('/')[2]}.*1 commit on main"
    )
    press(panel, "C-l", seeing="1 commit on main", gives="landed 1 commit on main")
    assert run_git(project, "log", "--format=%s", "main").stdout.splitlines()[1:] == ["first"]
    assert run_git(project, "show", "--format=", "--name-only", "main").stdout.split() == [
        "app.py",
        "notes.txt",
    ]
    assert run_git(project, "show", "main:app.py").stdout == NEW
    assert run_git(project, "status", "--porcelain").stdout == ""
    panel.wait_settled(r"(?s)▲ +Edit +app\.py.*▲ +Write +notes\.txt", seconds=SECONDS)

    # Quit: the panel closes, the session is still watched.
    panel.press("q")
    wait_for(lambda: panel.id not in watched.terminal.tmux("list-panes", "-a", "-F", "#{pane_id}").split())
    assert watched.chorus("status")["ok"]
    assert session.id in watched.terminal.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    assert UserRepo(project).fsck() == ""
