"""Turns on the command line: followed as they come, listed, and shown with their answer."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from chorus.commands.access.turn_follower import LiveOutput, NoAnswer, TurnFollower
from chorus.model.api.json_api import TurnJson
from chorus.model.turn import CLIENT_ENDED, TURNS_FILE
from chorus.text.sanitize import printable
from chorus.wire.client import WatcherNotRunning
from chorus.wire.home import find_home
from tests.commands.conftest import Shell, on_a_terminal

Capture = pytest.CaptureFixture[str]


def a_turn(turn: str = "t1", **fields: Any) -> TurnJson:
    tokens = {"input": 10, "output": 5, "cache_read": 7, "cache_write": 1}
    values: dict[str, Any] = {
        "session": "s", "turn": turn, "message": "fix it", "messages": ["m"], "state": "done",
        "answer": "Fixed.", "error": None, "reason": "completed", "model": "opus", "mode": "plan",
        "tokens": tokens, "context": 18, "window": 200, "cost_usd": 0.25, "duration_ms": 1500, "api_ms": 9,
        "steps": 2, "retries": 1, "started": "2026-01-01", "ended": "2026-01-02",
    }  # fmt: skip
    return cast(TurnJson, {**values, **fields})


RUNNING = a_turn(state="running", reason=None, answer=None, ended=None)


def turn_event(turn: TurnJson) -> dict[str, Any]:
    return {"event": "turn", "turn": turn}


def text(words: str, turn: str = "t1", session: str = "s") -> Any:
    return {"event": "text", "session": session, "turn": turn, "text": words}


def call(status: str, failure: str | None = None, name: str = "Bash make") -> Any:
    more = {"id": "c", "text": name, "status": status, "failure": failure}
    return {"event": "call", "session": "s", "turn": "t1", **more}


def ended(output: str = "") -> dict[str, Any]:
    return {"event": "run-ended", "run": "run-1", "code": -9, "how": "killed by signal 9", "output": output}


def follow(*events: Any, live: LiveOutput | None = None) -> TurnJson:
    return TurnFollower("run-1", "m", live).wait(events)


def prompt(name: str, kind: str = "edit", session: str = "s") -> dict[str, Any]:
    asked = {"id": name, "session": session, "kind": kind, "title": "Edit file"}
    return {"event": "prompt", "prompt": asked}


def test_a_prompt_that_delays_a_queued_message_is_said(capsys: Capture) -> None:
    follower = TurnFollower("run-1", "m", None, session="s")
    for asked in (prompt("p1"), prompt("p2", session="other")):
        follower.show_prompt(asked["prompt"])
    assert follower.wait([prompt("p1"), turn_event(RUNNING), turn_event(a_turn())]) == a_turn()  # type: ignore[list-item]  # only the keys it reads
    assert capsys.readouterr().err.splitlines() == [
        "chorus: waiting for an answer to p1, Edit file: `chorus approve p1` or `chorus deny p1`",
    ]


def test_a_prompt_that_the_turn_waits_for_is_said_once(capsys: Capture) -> None:
    prompts = [prompt("p1"), prompt("p1"), prompt("p2", session="other"), prompt("p3", "question")]
    events = [prompt("p0"), turn_event(RUNNING), text("Now"), *prompts, turn_event(a_turn())]
    assert follow(*events, live=LiveOutput(as_json=False)) == a_turn()
    assert capsys.readouterr().err.splitlines() == [
        "chorus: waiting for an answer to p1, Edit file: `chorus approve p1` or `chorus deny p1`",
        "chorus: waiting for an answer to p3, Edit file: `chorus answer p3 …`",
    ]
    assert follow(*events) == a_turn()


def test_a_terminal_shows_that_the_client_tries_again(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    errors = ["retrying after 429 rate_limit (2 of 10)", "interrupted", None]
    changed = [{"event": "session", "session": {"id": "s", "error": error}} for error in errors]
    assert follow(turn_event(RUNNING), *changed, turn_event(a_turn())) == a_turn()
    shown = capsys.readouterr().err
    assert "… retrying after 429 rate_limit (2 of 10)" in shown
    assert "interrupted" not in shown


def test_text_and_messages_keep_their_order_in_one_file(tmp_path: Path) -> None:
    """Both streams of a command may go to one file, where stdout is not written line by line."""
    code = (
        "from chorus.commands.access.turn_follower import LiveOutput\n"
        "from chorus.output import print_err\n"
        "live = LiveOutput(as_json=False)\n"
        "live.show({'event': 'text', 'session': 's', 'turn': 't', 'text': 'Now'})\n"
        "live.finish(); print_err('waiting')\n"
        f"live.show({call('succeeded')!r})\n"
        "import os; os.write(1, b'later\\n')\n"
    )
    with (tmp_path / "both").open("w+") as both:
        subprocess.run([sys.executable, "-c", code], stdout=both, stderr=both, check=True)
        both.seek(0)
        assert both.read().splitlines() == ["Now", "waiting", "✓ Bash make", "later"]


def test_text_and_calls_are_printed_as_they_come(capsys: Capture) -> None:
    live = LiveOutput(as_json=False)
    events = [
        text("Of another turn.", turn="t0"), text("Let me "), turn_event(RUNNING), text("look."),
        text("Not of this session.", session="other"), call("running"), call("succeeded"),
        call("running"), call("failed", "exit 2"), call("denied"), text("Done.\n"), turn_event(a_turn()),
    ]  # fmt: skip
    assert follow(*events, live=live) == a_turn()
    assert live.wrote
    assert capsys.readouterr() == (
        "Let me look.\n✓ Bash make\n✗ Bash make  failed: exit 2\n✗ Bash make  denied\nDone.\n",
        "",
    )


def test_followed_text_is_harmless_and_a_call_stays_in_its_line(capsys: Capture) -> None:
    hostile = "\x1b[8m\x9b2J\r\u202ea\nhint: forged"
    asked = prompt("p\nhint: forged", kind=hostile)
    asked["prompt"]["title"] = hostile
    events = [turn_event(RUNNING), text(hostile), call("failed", hostile, hostile), call(hostile), asked]
    follow(*events, turn_event(a_turn()), live=LiveOutput(as_json=False))
    shown = capsys.readouterr()
    for line in (shown.out + shown.err).split("\n"):
        assert printable(line) == line
    # The text of the model may have any lines; what Chorus says in a line of its own stays in it.
    assert shown.out.count("\n") == 4
    assert not any(line.startswith("hint:") for line in shown.err.split("\n"))


def test_the_last_line_of_a_followed_turn_is_ended(capsys: Capture) -> None:
    follow(turn_event(RUNNING), text("Done."), turn_event(a_turn()), live=LiveOutput(as_json=False))
    assert capsys.readouterr().out == "Done.\n"


def test_followed_events_are_json_lines(capsys: Capture) -> None:
    follow(
        turn_event(RUNNING),
        text("a\nb"),
        call("running"),
        turn_event(a_turn()),
        live=LiveOutput(as_json=True),
    )
    assert list(map(json.loads, capsys.readouterr().out.splitlines())) == [text("a\nb"), call("running")]


def test_a_terminal_shows_what_is_going_on(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    live = LiveOutput(as_json=False)
    for event in (call("running"), call("succeeded"), text("Half a line")):
        live.show(event)
    live.finish()
    shown = capsys.readouterr()
    assert shown.out == "✓ Bash make\nHalf a line\n"
    assert [part for part in shown.err.split("\r\x1b[K") if part] == ["… Bash make", "… working"]


def test_a_turn_that_answers_a_queued_message_of_the_session_is_its_turn() -> None:
    read = a_turn(state="running", reason=None)
    other = a_turn("t2", messages=[], answer="Both.", ended="9999")
    assert follow(turn_event(read), turn_event(a_turn("t0", messages=[])), turn_event(other)) == other


def test_a_client_that_ends_in_its_turn_fails_it_with_its_output() -> None:
    left = a_turn(state="failed", reason=CLIENT_ENDED, error="the client ended")
    turn = follow(turn_event(left), ended("out of memory\n"))
    assert turn["error"] == "run-1 ended without an answer (killed by signal 9): out of memory"


def test_a_client_that_ends_before_its_turn_is_an_error() -> None:
    with pytest.raises(NoAnswer, match=r"killed by signal 9.*: it printed nothing"):
        follow({"event": "run-ended", "run": "run-2"}, ended())


def test_a_watcher_that_ends_first_is_an_error() -> None:
    with pytest.raises(WatcherNotRunning):
        follow(turn_event(RUNNING))


@pytest.fixture
def with_turns(chorus: Shell) -> Shell:
    """Turns that a watcher left; none is running now."""
    failed = a_turn("bad-1", state="failed", answer=None, error="API Error: 400", cost_usd=None, retries=2)
    root = find_home(chorus.repo.path).root
    root.mkdir(parents=True, exist_ok=True)
    kept = [a_turn("good-1", answer="Fixed.\nAll of it."), {**failed, "started": "2026-01-03"}]
    (root / TURNS_FILE).write_text("".join(json.dumps(turn) + "\n" for turn in kept))
    return chorus


def test_turns_are_listed_with_what_each_took_and_why_it_failed(with_turns: Shell) -> None:
    lines = with_turns("log", "--turns").out.splitlines()
    took = "opus · plan · 18 tokens in (7 cached), 5 out · "
    assert lines == [
        "bad-1     failed   fix it",
        f"          {took}1.5 s · context 18 of 200 · 2 retries · 2 steps",
        "          failed: API Error: 400",
        "good-1    done     fix it",
        f"          {took}$0.2500 · 1.5 s · context 18 of 200 · 1 retry · 2 steps",
    ]
    assert with_turns("log", "--turns", "--reverse", "-n", "1").out.startswith("bad-1")
    assert [turn["turn"] for turn in with_turns("log", "--turns", "--json").json()] == ["good-1", "bad-1"]
    assert with_turns("log", "--turns", "--turn", "no").code == 3


def test_a_failed_turn_is_red_on_a_terminal(with_turns: Shell) -> None:
    code, shown = on_a_terminal(with_turns.repo, b"", "log", "--turns", GIT_PAGER="cat", TERM="xterm")
    assert code == 0
    assert b"\x1b[31m          failed: API Error: 400\x1b[0m" in shown


def test_a_turn_is_shown_with_its_answer(with_turns: Shell) -> None:
    shown = with_turns("show", "--turn", "good").out.splitlines()
    assert shown[0] == "turn good-1  done"
    assert "  message  fix it" in shown
    assert shown[-3:] == ["", "Fixed.", "All of it."]
    failed = with_turns("show", "--turn", "bad").out.splitlines()
    assert failed[-1] == "  failed   API Error: 400"
    assert with_turns("show", "--turn", "good", "--json").json()["answer"] == "Fixed.\nAll of it."


@pytest.mark.parametrize(
    ("words", "code"), [(["show"], 2), (["show", "1", "--turn", "x"], 2), (["show", "--turn", "x"], 3)]
)
def test_show_takes_one_action_or_one_turn(with_turns: Shell, words: list[str], code: int) -> None:
    assert with_turns(*words).code == code


def test_without_any_turn_the_list_says_so(chorus: Shell) -> None:
    nothing = chorus("log", "--turns")
    assert (nothing.code, nothing.err) == (3, "chorus: no turn is recorded yet\n")
