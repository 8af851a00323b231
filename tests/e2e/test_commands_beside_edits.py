"""The real client runs commands beside edits of the same file: each change lands on its own action."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.asked_session import answer_prompt, next_prompt, send_script
from tests.e2e.scenarios import Say, bash, edit, write
from tests.e2e.watched_session import MODES, WatchedSession, changed_lines, expect_actions, run_git
from tests.lab.client import Client
from tests.lab.script import Text, ToolUse, WaitFor
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

pytestmark = pytest.mark.client

LINES = "".join(f"l{number}\n" for number in range(1, 31))
Lines = list[str]


@pytest.fixture
def watched(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    watched = WatchedSession(client, terminal)
    for name in "abcdefgh":
        (watched.project / f"{name}.txt").write_text(LINES)
    run_git(watched.project, "add", ".")
    run_git(watched.project, "commit", "-qm", "Lines")
    yield watched
    stop(find_home(client.project))


def sed(file: str, old: str, new: str, *, before: str = "", after: str = "") -> ToolUse:
    return bash(f"{before}sed -i 's/^{old}$/{new}/' {{p}}/{file}{after}")


def play(watched: WatchedSession, message: str, *turns: list[Any]) -> None:
    script = watched.script(*turns)
    watched.say(Say(message, [*script, [Text(f"Done with {message}.")]]))


def prepare(watched: WatchedSession, scripts: Mapping[str, list[list[Any]]]) -> None:
    """Give the model its scripts, by message."""
    for message, turns in scripts.items():
        script = watched.script(*turns)
        watched.client.model_server.scripts[message] = script


def expect(watched: WatchedSession, wanted: Sequence[tuple[str, Lines]]) -> None:
    """Check that the log has these actions, and nothing outside."""
    expect_actions(watched, wanted)
    assert [entry["paths"] for entry in watched.log("--outside") if entry["status"] == "outside"] == []


@pytest.mark.parametrize("mode", MODES)
def test_each_change_of_a_message_lands_on_its_own_action(watched: WatchedSession, mode: str) -> None:
    MODES[mode](watched)
    play(
        watched,
        "one message",
        [sed("a.txt", "l2", "B2"), edit("a.txt", "l3\n", "E3\n")],
        [sed("b.txt", "l2", "B2"), write("b.txt", "whole\n")],
        [sed("c.txt", "l2", "B2"), sed("c.txt", "l9", "C9"), edit("c.txt", "B2\n", "E2\n")],
        [
            sed("d.txt", "l2", "B2", before="sleep 0.5; ", after="; sleep 0.5"),
            edit("d.txt", "l20\n", "E20\n"),
        ],
        [bash("printf 'x1\\nx2\\n' > {p}/made.txt"), edit("made.txt", "x2\n", "E2\n")],
        [edit("e.txt", "l20\n", "E20\n"), sed("e.txt", "l2", "B2"), edit("e.txt", "l25\n", "E25\n")],
        [bash("rm {p}/f.txt"), write("f.txt", "again\n")],
    )
    gone = [f"-{line}" for line in LINES.split()]
    expect(
        watched,
        [
            ("Bash", ["-l2", "+B2"]),
            ("Edit", ["-l3", "+E3"]),
            ("Bash", ["-l2", "+B2"]),
            ("Write", [*[line.replace("-l2", "-B2") if line == "-l2" else line for line in gone], "+whole"]),
            ("Bash", ["-l2", "+B2"]),
            ("Bash", ["-l9", "+C9"]),
            ("Edit", ["-B2", "+E2"]),
            ("Bash", ["-l2", "+B2"]),
            ("Edit", ["-l20", "+E20"]),
            ("Bash", ["+x1", "+x2"]),
            ("Edit", ["-x2", "+E2"]),
            ("Edit", ["-l20", "+E20"]),
            ("Bash", ["-l2", "+B2"]),
            ("Edit", ["-l25", "+E25"]),
            ("Bash", gone),
            ("Write", ["+again"]),
        ],
    )


def agent(job: str) -> ToolUse:
    return ToolUse("Agent", {"description": "sub", "prompt": job, "subagent_type": "general-purpose"})


def is_in(file: Path, text: str) -> Callable[[], bool]:
    return lambda: text in file.read_text()


def until(text: str, file: str) -> str:
    return f"until grep -q {text} {{p}}/{file}; do sleep 0.05; done; "


@pytest.mark.parametrize("mode", ["hooked", "adopted"])
def test_agents_and_background_commands_that_write_between_edits_keep_their_changes(
    watched: WatchedSession, mode: str
) -> None:
    """Every write waits for the one before it to be on disk: the order does not depend on the machine."""
    MODES[mode](watched)
    a, c = watched.project / "a.txt", watched.project / "c.txt"
    begun, between, after = (threading.Event() for _ in range(3))
    slow = f"sed -i 's/^l2$/B2/' {{p}}/a.txt; {until('E3', 'a.txt')}sed -i 's/^l6$/B6/' {{p}}/b.txt"
    jobs: dict[str, list[list[Any]]] = {
        "the first job": [[bash(slow)], [Text("First done.")]],
        "the second job": [
            [WaitFor(begun), edit("a.txt", "l20\n", "E20\n")],
            [edit("a.txt", "l3\n", "E3\n")],
            [Text("Second done.")],
        ],
    }
    prepare(watched, jobs)
    both: list[list[Any]] = [[agent("the first job"), agent("the second job")], [Text("Both done.")]]
    prepare(watched, {"two agents": both})
    watched.send("two agents")
    wait_for(is_in(a, "B2"), what="the command's first write", seconds=60)
    begun.set()
    watched.wait_for_answer("Both done.")
    expect(
        watched,
        [
            ("Edit", ["-l20", "+E20"]),
            ("Edit", ["-l3", "+E3"]),
            ("Bash", ["-l2", "+B2", "-l6", "+B6"]),
        ],
    )
    command = "sed -i 's/^l2$/B2/' {p}/c.txt; " + until("E20", "c.txt")
    command += "sed -i 's/^l6$/B6/' {p}/c.txt; " + until("E3", "c.txt")
    turns: list[list[Any]] = [
        [bash(command, run_in_background=True)],
        [WaitFor(between), edit("c.txt", "l20\n", "E20\n")],
        [WaitFor(after), edit("c.txt", "l3\n", "E3\n")],
        [Text("Background done.")],
    ]
    prepare(watched, {"background": turns})
    watched.send("background")
    wait_for(is_in(c, "B2"), what="the background command's first write", seconds=60)
    between.set()
    wait_for(is_in(c, "B6"), what="the background command's second write", seconds=60)
    after.set()
    watched.wait_for_answer("Background done.")
    later: list[tuple[str, Lines]] = []

    def is_recorded() -> bool:
        entries = [entry for entry in watched.actions() if entry["status"] != "noop"]
        later[:] = [(entry["tool"], changed_lines(watched.project, entry)) for entry in entries][3:]
        return sum(len(lines) for _, lines in later) >= 8

    wait_for(is_recorded, what="all changes", seconds=60)
    # Without hooks the start of the command is reported when it has already written: it has two records then.
    by_command = [line for tool, lines in later if tool == "Bash" for line in lines]
    assert by_command == ["-l2", "+B2", "-l6", "+B6"]
    assert [lines for tool, lines in later if tool == "Edit"] == [["-l20", "+E20"], ["-l3", "+E3"]]
    assert [entry for entry in watched.log("--outside") if entry["status"] == "outside"] == []


def test_a_watcher_killed_during_a_turn_is_woken_and_each_action_keeps_its_own_change(
    watched: WatchedSession,
) -> None:
    """Also of calls that ran while nobody watched: a command and edits of the same file."""
    watched.start_hooked()
    home = find_home(watched.project)
    pid = wait_for(lambda: int(home.lock.read_text() or 0), what="the watcher")
    (watched.project / ".git/info/exclude").write_text("go\n")
    turns: list[list[Any]] = [
        [edit("a.txt", "l20\n", "E20\n")],
        [bash("until [ -e {p}/go ]; do sleep 0.02; done")],
        [sed("a.txt", "l2", "B2"), edit("a.txt", "l3\n", "E3\n"), edit("a.txt", "E3\n", "F3\n")],
        [sed("b.txt", "l2", "B2"), edit("b.txt", "l20\n", "E20\n")],
        [Text("All done.")],
    ]
    script = watched.script(*turns)
    watched.client.model_server.scripts["work"] = script
    watched.send("work")
    wait_for(lambda: "E20" in (watched.project / "a.txt").read_text(), what="the first edit", seconds=60)
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    (watched.project / "go").touch()
    watched.wait_for_answer("All done.")
    expect(
        watched,
        [
            ("Edit", ["-l20", "+E20"]),
            ("Bash", ["-l2", "+B2"]),
            ("Edit", ["-l3", "+E3"]),
            ("Edit", ["-E3", "+F3"]),
            ("Bash", ["-l2", "+B2"]),
            ("Edit", ["-l20", "+E20"]),
        ],
    )
    assert wait_for(lambda: int(home.lock.read_text() or 0), what="the next watcher") != pid


def test_changes_after_stop_are_recorded_by_the_next_watcher(watched: WatchedSession) -> None:
    watched.start_hooked()
    home = find_home(watched.project)
    stop(home)
    play(watched, "unwatched", [sed("a.txt", "l2", "B2"), edit("a.txt", "l3\n", "E3\n")])
    time.sleep(0.5)
    assert home.lock.read_text() == ""  # no hook has started another
    checks = {check["name"]: check["detail"] for check in watched.chorus("doctor", "--deep")["checks"]}
    assert "chorus stop" in checks["watcher"]
    assert "not recorded yet" in checks["history"]
    assert home.lock.read_text() == ""
    watched.chorus("attach", "-L", watched.terminal.name)
    expect(watched, [("Bash", ["-l2", "+B2"]), ("Edit", ["-l3", "+E3"])])


def outside_paths(watched: WatchedSession) -> set[str]:
    outside = [entry["paths"] for entry in watched.log("--outside") if entry["status"] == "outside"]
    return {path for paths in outside for path in paths}


@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
def test_a_change_of_the_user_while_a_call_waits_for_permission_is_not_the_calls(
    watched: WatchedSession, mode: str
) -> None:
    """The call is announced before the user is asked, and writes after the answer."""
    watched.start_modded("--permission-mode", mode)
    a, b = watched.project / "a.txt", watched.project / "b.txt"
    turns: list[list[Any]] = [
        [sed("a.txt", "l2", "B2"), edit("a.txt", "l3\n", "E3\n")],
        [sed("a.txt", "l20", "B20"), edit("b.txt", "l20\n", "E20\n")],
        [Text("All done.")],
    ]
    send_script(watched, "work", turns)
    first = next_prompt(watched)
    a.write_text(a.read_text().replace("l10\n", "user 10\n"))
    b.write_text(b.read_text().replace("l21\n", "user 21\n"))
    wait_for(lambda: outside_paths(watched) == {"a.txt", "b.txt"}, what="the user's change", seconds=60)
    answer_prompt(watched, "approve", first)
    if mode == "default":
        second = next_prompt(watched, but=first["id"])
        a.write_text(a.read_text().replace("l4\n", "user 4\n"))
        answer_prompt(watched, "approve", second)
        first = second
    third = next_prompt(watched, but=first["id"])
    answer_prompt(watched, "approve", third)
    if mode == "default":
        answer_prompt(watched, "approve", next_prompt(watched, but=third["id"]))
    watched.wait_for_answer("All done.")
    expect_actions(
        watched,
        [
            ("Bash", ["-l2", "+B2"]),
            ("Edit", ["-l3", "+E3"]),
            ("Bash", ["-l20", "+B20"]),
            ("Edit", ["-l20", "+E20"]),
        ],
    )
    assert outside_paths(watched) == {"a.txt", "b.txt"}
