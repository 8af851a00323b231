"""A user who commits while the client asks about a command, and before the next edit."""

import pytest

from tests.e2e.asked_session import answer_prompt, next_prompt, send_script
from tests.e2e.scenarios import bash, edit
from tests.e2e.watched_session import WatchedSession, expect_actions, run_git
from tests.lab.script import Step, Text

pytestmark = pytest.mark.client

LINES = "".join(f"l{number}\n" for number in range(1, 11))
MINE = LINES.replace("l1\n", "mine\n")
BOTH = MINE.replace("l5\n", "B5\n").replace("l6\n", "E6\n")


@pytest.mark.parametrize("way", ["modded", "hooked"])
def test_commits_while_asked_change_no_action(watched: WatchedSession, way: str) -> None:
    """The second commit has the command's change too; then only the edit's is left to land."""
    a = watched.project / "a.txt"
    a.write_text(LINES)
    run_git(watched.project, "add", "a.txt")
    run_git(watched.project, "commit", "-qm", "Lines")
    start = {"modded": watched.start_modded, "hooked": watched.start_hooked}[way]
    start("--permission-mode", "default")
    turns: list[list[Step]] = [
        [bash("sed -i 's/^l5$/B5/' {p}/a.txt")],
        [edit("a.txt", "l6\n", "E6\n")],
        [Text("All done.")],
    ]
    send_script(watched, "work", turns)

    assert watched.pane is not None
    watched.pane.wait_for("Do you want to proceed")  # the mod reports the prompt a moment before it is drawn
    a.write_text(MINE)
    run_git(watched.project, "commit", "-qam", "Mine")
    command = next_prompt(watched, but="")
    answer_prompt(watched, "approve", command)
    next_prompt(watched, but=command["id"])
    run_git(watched.project, "commit", "-qam", "The command's")
    answer_prompt(watched, "approve", next_prompt(watched, but=command["id"]))
    watched.wait_for_answer("All done.")

    expect_actions(watched, [("Bash", ["-l5", "+B5"]), ("Edit", ["-l6", "+E6"])])
    watched.chorus("land", watched.actions()[0]["lane"])
    assert run_git(watched.project, "show", "HEAD:a.txt").stdout == BOTH
    subjects = run_git(watched.project, "log", "--format=%s", "-4").stdout.splitlines()
    assert subjects[1:] == ["The command's", "Mine", "Lines"]
