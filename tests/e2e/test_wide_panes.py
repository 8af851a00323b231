"""Every kind of prompt the client can be made to ask is answered from the panel, in panes of many widths.

From 144 columns the client docks its diff after the first edit, unless it draws with its older renderer,
which has no docks. `python -m tests.bench dialogs` plays it from 80 to 300 columns, with both; here one
docked width is enough.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.asked_session import (
    ASKING,
    SECONDS,
    AskedCall,
    Call,
    GiveAnswer,
    UnaskedCall,
    ask,
    next_prompt,
    no_prompt,
    play,
)
from tests.e2e.panel_answers import PanelAnswers, expected_keys
from tests.e2e.scenarios import bash, edit, in_directory, notebook, read, write
from tests.e2e.test_key_answers import FEATURES, LANGUAGE, asks
from tests.e2e.test_permissions import keep
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import INPUT_BOX, Client, say
from tests.lab.script import Step, Text, ToolUse
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

pytestmark = pytest.mark.client

SIZES = json.loads(os.environ.get("TEST_PANE_SIZES", '[[160, 50, "fullscreen"]]'))
FULLSCREEN_VARIABLE = "CLAUDE_CODE_NO_FLICKER"
DOCKED_FROM = 144
DOCK = r"│\d+ files? changed"
AUTO = (*ASKING[:1], "auto", *ASKING[2:])
LONG = "touch long.txt && echo " + " ".join(f"word{n}" for n in range(50))
YES, NO = ["approve"], ["deny"]
CELL = {"notebook_path": "{p}/n.ipynb", "cell_id": "c1", "new_source": "y = 2"}
CALLS: list[Call] = [
    AskedCall(edit("app.py", "old", "new"), "edit", YES, {"app.py": "def new():\n    pass\n"}),
    AskedCall(write("b.txt", "- b\n"), "create", ["approve", "--option", "1"], {"b.txt": "- b\n"}),
    AskedCall(write("b.txt", "- c\n"), "overwrite", YES, {"b.txt": "- c\n"}),
    UnaskedCall(read("n.ipynb")),
    AskedCall(ToolUse("NotebookEdit", CELL), "notebook", YES, {"n.ipynb": notebook("y = 2")}),
    AskedCall(bash(LONG), "bash", YES, {"long.txt": ""}),
    AskedCall(bash("echo $HOME > made.txt; rm made.txt; touch one.txt"), "bash", YES, {"one.txt": ""}),
    AskedCall(ToolUse("Read", {"file_path": "/etc/hostname"}), "read", YES),
    AskedCall(keep("k.txt"), "mcp", YES, {"k.txt": "kept\n"}, received="kept"),
    AskedCall(asks(LANGUAGE), "question", ["answer", "Go"], received='"Which language?"="Go"'),
    AskedCall(asks(FEATURES), "question", ["answer", "Undo", "Redo"], received="Undo, Redo"),
    AskedCall(
        write("d.txt", "d\n"),
        "create",
        ["deny", "--message", "not 1 2 3"],
        {"d.txt": None},
        received="not 1 2 3",
    ),
    AskedCall(ToolUse("WebSearch", {"query": "lanes"}), "search", NO),
]
FETCH = [AskedCall(ToolUse("WebFetch", {"url": "https://127.0.0.1/x", "prompt": "read"}), "fetch", NO)]
SUB_AGENT: list[Call] = [AskedCall(write("s.txt", "s\n"), "create", YES, {"s.txt": "s\n"})]


@dataclass(slots=True)
class SizedSession(WatchedSession):
    fullscreen: bool = True

    def has_dock(self) -> bool:
        """Whether the client docks its diff in this pane."""
        return self.fullscreen and self.terminal.width >= DOCKED_FROM


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]} {size[2]}")
def session(client: Client, request: pytest.FixtureRequest) -> Iterator[SizedSession]:
    width, height, renderer = request.param
    fullscreen = renderer == "fullscreen"
    client.extra_environment[FULLSCREEN_VARIABLE] = "1" if fullscreen else "0"
    with Terminal(width=width, height=height) as terminal:
        yield SizedSession(client, terminal, fullscreen=fullscreen)
    stop(find_home(client.project))


@pytest.fixture
def panel_terminal() -> Iterator[Terminal]:
    with Terminal(width=110, height=45) as terminal:
        yield terminal


def checked(panel: PanelAnswers) -> GiveAnswer:
    """Answer in the panel; check that exactly the key of the chosen label was pressed, and none refused."""

    def answer(prompt: Mapping[str, Any], words: Sequence[str]) -> None:
        given = panel.answer(prompt, words)
        keys = expected_keys(prompt, words)
        assert (given["by"], given["how"], given.get("refused")) == ("panel", "keys", None)
        assert keys is None or given["keys"] == keys, given

    return answer


def test_every_prompt_is_answered_at_this_width(session: SizedSession, panel_terminal: Terminal) -> None:
    (session.project / "n.ipynb").write_text(notebook("x = 1"))
    session.start_adopted(*ASKING)
    panel = PanelAnswers(session, panel_terminal)
    answer = checked(panel)
    assert session.pane is not None
    play(session, "calls", CALLS, answer=answer)
    assert bool(re.search(DOCK, session.pane.screen())) == session.has_dock()
    play(session, "page", FETCH, answer=answer)
    play(session, "helper", SUB_AGENT, agent="the helper's task", answer=answer)
    answer_forms(session, panel)
    assert [entry for entry in panel.audit() if entry.get("refused") or entry["by"] != "panel"] == []


def answer_forms(session: WatchedSession, panel: PanelAnswers) -> None:
    """A form of an MCP server has two buttons side by side; one with a field can be cancelled."""
    forms = [
        ("confirm", "approve", ["Enter"], "accept"),
        ("confirm", "deny", ["Right", "Enter"], "decline"),
        ("name", "deny", ["Escape"], "cancel"),
        ("visit", "deny", ["Right", "Enter"], "decline"),
    ]
    for number, (tool, word, keys, done) in enumerate(forms):
        call = ToolUse(f"mcp__notes__{tool}", {})
        asked = ask(session, f"form {number}, please", [[call], [Text(f"Form {number} is over.")]])
        panel.answer(asked, ["approve"])
        form = next_prompt(session, but=asked["id"])
        assert form["kind"] == "form"
        if tool == "confirm":
            assert [option["key"] for option in form["options"]] == ["1", "2"]
        given = panel.answer(form, [word])
        assert given["keys"] == keys
        assert session.pane is not None
        session.pane.wait_for(f"Form {number} is over", seconds=SECONDS)
        assert any(
            f"the user did: {done}" in text for text in session.client.model_server.messages()[-1].texts()
        )
        no_prompt(session)


@pytest.mark.skipif(not os.environ.get("TEST_PANE_SIZES"), reason="part of the benchmark")
def test_what_the_client_asks_at_its_start_is_answered_at_this_width(
    session: SizedSession, panel_terminal: Terminal
) -> None:
    state = session.client.home / ".claude.json"
    known = json.loads(state.read_text())
    state.write_text(json.dumps({**known, "customApiKeyResponses": {}, "projects": {}}))
    command = session.client.command("--permission-mode", "default")
    session.pane = session.terminal.open(
        command, cwd=session.project, environment=session.client.environment()
    )
    session.pane.wait_settled(r"Enter to confirm", seconds=SECONDS)
    session.chorus("attach", "-L", session.terminal.name)
    panel = PanelAnswers(session, panel_terminal)
    trust = next_prompt(session)
    given = [panel.answer(trust, ["approve"])]
    key = next_prompt(session, but=trust["id"])
    given.append(panel.answer(key, ["approve"]))
    session.pane.wait_for(INPUT_BOX, seconds=SECONDS)
    assert (trust["kind"], key["kind"]) == ("trust", "api-key")
    assert [answer.get("refused") for answer in given] == [None, None]
    no_prompt(session)


def test_a_plan_is_answered_at_this_width(session: SizedSession, panel_terminal: Terminal) -> None:
    session.start_adopted("--permission-mode", "plan")
    panel = PanelAnswers(session, panel_terminal)
    answer = checked(panel)
    leave = ToolUse("ExitPlanMode", {})
    answer(ask(session, "leave, please", [[leave], [Text("Still planning.")]]), ["deny"])
    no_prompt(session)
    texts = [text for sent in session.client.model_server.messages() for text in sent.texts()]
    (place,) = {match[1] for text in texts if (match := re.search(r"your plan at (\S+\.md)", text))}
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).write_text("# The plan\n\n1. edit app.py\n2. run the tests\n")
    first = ask(session, "plan it, please", [[leave], [leave], [Text("Off we go.")]])
    assert (first["kind"], first["tool"]) == ("plan", "ExitPlanMode")
    answer(first, ["deny", "--message", "more tests"])
    second = next_prompt(session, but=first["id"])
    answer(second, ["approve"])
    assert session.pane is not None
    session.pane.wait_for("Off we go", seconds=SECONDS)
    sent = session.client.model_server.messages()
    assert any("more tests" in text for message in sent for text in message.texts())
    no_prompt(session)


def test_a_teammate_asks_in_the_leads_pane_at_this_width(
    session: SizedSession, panel_terminal: Terminal
) -> None:
    session.client.extra_environment["CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"] = "1"
    session.start_adopted(*ASKING)
    panel = PanelAnswers(session, panel_terminal)
    answer = checked(panel)
    calls: list[list[Step]] = [[edit("app.py", "old", "new")], [bash("touch t.txt")], [Text("I did it.")]]
    session.client.model_server.scripts["alice's task"] = [
        [in_directory(step, session.project) for step in turn] for turn in calls
    ]
    given = {"description": "do it", "prompt": "alice's task", "subagent_type": "general-purpose"}
    first = ask(session, "team, please", [[ToolUse("Agent", {**given, "name": "alice"})], [Text("Started.")]])
    assert (first["kind"], "from the alice agent" in first["title"]) == ("edit", True)
    answer(first, ["approve"])
    second = next_prompt(session, but=first["id"])
    assert (second["kind"], "from the alice agent" in second["title"]) == ("bash", True)
    answer(second, ["approve"])
    wait_for((session.project / "t.txt").exists, seconds=SECONDS)
    assert (session.project / "app.py").read_text() == "def new():\n    pass\n"
    no_prompt(session)


def test_auto_modes_own_questions_are_answered_at_this_width(
    session: SizedSession, panel_terminal: Terminal
) -> None:
    session.start_adopted(*AUTO)
    panel = PanelAnswers(session, panel_terminal)
    assert session.pane is not None
    # The dock opens a moment after the edit, and a prompt drawn anew beside it is another one to answer.
    play(session, "edit", [UnaskedCall(edit("app.py", "old", "new"), {"app.py": "def new():\n    pass\n"})])
    if session.has_dock():
        session.pane.wait_settled(DOCK, seconds=SECONDS)
    ended = Text("It is kept.")
    notice = ask(session, "keep it, please", [[keep("auto.txt")], [ended]])
    assert notice["kind"] == "auto-mode-notice"
    panel.answer(notice, ["approve", "--option", "1"])
    asked = next_prompt(session, but=notice["id"])
    assert (asked["kind"], [option["meaning"] for option in asked["options"]]) == ("mcp", ["deny", "allow"])
    panel.answer(asked, ["approve"])
    session.pane.wait_for(ended.text, seconds=SECONDS)
    assert (session.project / "auto.txt").read_text() == "kept\n"
    no_prompt(session)

    denied = ask(session, "keep another, please", [[keep("other.txt")], [ended]])
    panel.answer(denied, ["deny"])
    no_prompt(session)
    assert not (session.project / "other.txt").exists()
    assert [entry["keys"] for entry in panel.audit()] == [["Enter"], ["Down", "Enter"], ["Enter"]]


@pytest.mark.skipif(not os.environ.get("TEST_PANE_SIZES"), reason="two clients: part of the benchmark")
def test_a_message_of_another_session_is_answered_at_this_width(
    session: SizedSession, panel_terminal: Terminal
) -> None:
    session.start_adopted("--name", "reviewer")
    panel = PanelAnswers(session, panel_terminal)
    assert session.pane is not None
    with Terminal() as elsewhere:
        sender = session.client.interactive(elsewhere, "--permission-mode", "default")
        for number, word in enumerate(("approve", "deny")):
            text = f"message number {number}"
            sent = {"to": "reviewer", "summary": "news", "message": text}
            session.client.model_server.scripts[f"tell {number}"] = [
                [ToolUse("SendMessage", sent)],
                [Text("Told.")],
            ]
            say(sender, f"tell {number}")
            held = next_prompt(session)
            assert (held["kind"], held["cut"], text in held["body"]) == ("message", False, True)
            given = panel.answer(held, [word])
            assert given["keys"] == (["Down", "Enter"] if word == "approve" else ["Enter"])
            no_prompt(session)
            sender.wait_for("released after approval" if word == "approve" else "declined", seconds=SECONDS)
            sender.wait_for(INPUT_BOX, seconds=SECONDS)
