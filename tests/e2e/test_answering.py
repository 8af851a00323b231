"""The real client asks, Chorus answers with one key, and the client does what was meant."""

from collections.abc import Iterator
from typing import Any

import pytest

from chorus.wire.client import AgentGone, connect, stop
from chorus.wire.home import find_home
from chorus.wire.protocol import AgentError
from tests.e2e.answering import ASKING, Case, ask, next_prompt, no_prompt, play
from tests.e2e.scenarios import APP, bash, edit, read, write
from tests.e2e.watching import Watching
from tests.lab.client import Client
from tests.lab.script import Step, Text, ToolUse
from tests.lab.terminal import Terminal

pytestmark = pytest.mark.client


@pytest.fixture
def asking(client: Client, terminal: Terminal) -> Iterator[Watching]:
    watching = Watching(client, terminal)
    watching.start_adopted(*ASKING)
    yield watching
    stop(find_home(client.project))


def keep(name: str) -> ToolUse:
    return ToolUse("mcp__notes__keep", {"path": f"{{p}}/{name}", "text": "kept\n"})


def sub_agent(task: str) -> ToolUse:
    given = {"description": "do it", "prompt": task, "subagent_type": "general-purpose"}
    return ToolUse("Agent", {**given, "run_in_background": False})


FETCH = ToolUse("WebFetch", {"url": "https://localhost:9/page", "prompt": "what is there"})
EDIT = [[read("app.py")], [edit("app.py", "old", "new")]]
TWO_FILES = [[write("b.txt", "b\n")], [write("c.txt", "c\n")]]
RENAMED = APP.replace("old", "new")
PERMISSIONS = [
    Case("edit, yes", EDIT, "edit", ["approve"], {"app.py": RENAMED}),
    Case(
        "edit, no", [[edit("app.py", "new", "other")]], "edit", ["deny"], {"app.py": RENAMED}, goes_on=False
    ),
    Case(
        "write, no, with words",
        [[write("a.txt", "a\n")]],
        "create",
        ["deny", "--message", "call it b.txt; not 1 2 3"],
        {"a.txt": None},
        heard="call it b.txt; not 1 2 3",
    ),
    Case("write, yes", [[write("a.txt", "a\n")]], "create", ["approve"], {"a.txt": "a\n"}),
    Case("overwrite, no", [[write("a.txt", "b\n")]], "overwrite", ["deny"], {"a.txt": "a\n"}, goes_on=False),
    Case("bash, yes", [[bash("touch made.txt")]], "bash", ["approve"], {"made.txt": ""}),
    Case("bash, no", [[bash("rm made.txt")]], "bash", ["deny"], {"made.txt": ""}, goes_on=False),
    Case(
        "bash, no, with words",
        [[bash("rm made.txt; echo $HOME")]],
        "bash",
        ["deny", "--message", "leave it there"],
        {"made.txt": ""},
        heard="leave it there",
    ),
    Case("fetch, no", [[FETCH]], "fetch", ["deny"], goes_on=False),
    Case("tool server, no", [[keep("k.txt")]], "mcp", ["deny"], {"k.txt": None}, goes_on=False),
    Case("tool server, yes", [[keep("k.txt")]], "mcp", ["approve"], {"k.txt": "kept\n"}, heard="kept"),
    Case(
        "sub-agent's write, yes",
        [[sub_agent("make s.txt, agent")]],
        "create",
        ["approve"],
        {"s.txt": "s\n"},
        scripts={"make s.txt, agent": [[write("s.txt", "s\n")], [Text("Made it.")]]},
    ),
    Case(
        "sub-agent's write, no, with words",
        [[sub_agent("make t.txt, agent")]],
        "create",
        ["deny", "--message", "no t.txt"],
        {"t.txt": None},
        scripts={"make t.txt, agent": [[write("t.txt", "t\n")], [Text("Left it.")]]},
    ),
    Case("tool server, always", [[keep("k2.txt")], [keep("k3.txt")]], "mcp", ["approve", "--always"],
         {"k2.txt": "kept\n", "k3.txt": "kept\n"}),
    Case("write, always", TWO_FILES, "create", ["approve", "--always"],
         {"b.txt": "b\n", "c.txt": "c\n"}),
]  # fmt: skip


def test_every_permission_is_answered_as_decided(asking: Watching) -> None:
    for number, case in enumerate(PERMISSIONS):
        play(asking, case, number)

    with connect(find_home(asking.project)) as agent:
        audit = agent.ask("audit")
    assert [entry["how"] for entry in audit] == ["keys"] * len(PERMISSIONS)
    assert all(entry["refused"] is None and entry["keys"] and entry["screen"] for entry in audit)


def question(text: str, header: str, *labels: str, many: bool = False) -> dict[str, Any]:
    options = [{"label": label, "description": f"take {label}"} for label in labels]
    return {"question": text, "header": header, "options": options, "multiSelect": many}


def asks(*questions: dict[str, Any]) -> list[list[ToolUse]]:
    return [[ToolUse("AskUserQuestion", {"questions": list(questions)})]]


LANGUAGE = question("Which language?", "Lang", "Python", "Go")
FEATURES = question("Which features?", "Feat", "Log", "Undo", "Redo", many=True)
NAME = question("What is its name?", "Name", "Ada", "Bob")
EACH = [
    "answer",
    "--to",
    "Lang",
    "Python",
    "--say",
    "Name",
    "Eve the 2nd",
    "--to",
    "Which features?",
    "Log",
    "Redo",
]
QUESTIONS = [
    Case("one choice", asks(LANGUAGE), "question", ["answer", "Go"], heard='"Which language?"="Go"'),
    Case("by number", asks(LANGUAGE), "question", ["answer", "1"], heard='"Which language?"="Python"'),
    Case("own words", asks(LANGUAGE), "question", ["answer", "--text", "Zig, 1 day"], heard="Zig, 1 day"),
    Case("several choices", asks(FEATURES), "question", ["answer", "Undo", "Redo"], heard="Undo, Redo"),
    Case("by option", asks(NAME), "question", ["approve", "--option", "2"], heard="Bob"),
    Case("several questions", asks(LANGUAGE, FEATURES, NAME), "question", EACH, heard="Log, Redo"),
    Case("no answer", asks(NAME), "question", ["deny"], goes_on=False),
]  # fmt: skip


def test_every_kind_of_question_is_answered(asking: Watching) -> None:
    for number, case in enumerate(QUESTIONS):
        play(asking, case, number)
    (several,) = (t for t in asking.client.stub.messages()[-1].texts() if "Eve the 2nd" in t)
    assert "Python" in several


def test_only_the_prompt_that_was_decided_on_is_answered(asking: Watching) -> None:
    turns: list[list[Step]] = [[write("a.txt", "a\n")], [write("b.txt", "b\n")], [Text("Both there.")]]
    prompt = ask(asking, "go on", turns)
    assert asking.pane is not None
    asking.terminal.tmux("copy-mode", "-t", asking.pane.id)
    with connect(find_home(asking.project)) as agent, pytest.raises(AgentError, match="copy mode") as caught:
        agent.ask("answer", prompt=prompt["id"], fingerprint=prompt["fingerprint"], decision="allow")
    assert caught.value.exit_code == 6
    asking.terminal.tmux("send-keys", "-t", asking.pane.id, "-X", "cancel")
    assert not (asking.project / "a.txt").exists()

    asking.pane.wait_settled(r"3\. No")
    asking.pane.press("1")
    second = next_prompt(asking, but=prompt["id"])
    with connect(find_home(asking.project)) as agent:
        for fingerprint in (prompt["fingerprint"], second["fingerprint"]):
            with pytest.raises((AgentError, AgentGone)):
                agent.ask("answer", prompt=prompt["id"], fingerprint=fingerprint, decision="allow")
        with pytest.raises(AgentError, match="not the one"):
            agent.ask("answer", prompt=second["id"], fingerprint=prompt["fingerprint"], decision="allow")
    assert not (asking.project / "b.txt").exists()
    asking.chorus("deny", second["id"])
    no_prompt(asking)
    assert not (asking.project / "b.txt").exists()
    with connect(find_home(asking.project)) as agent:
        refused, given = agent.ask("audit")
    assert "copy mode" in refused["refused"]
    assert (refused["keys"], given["keys"]) == ([], ["3"])
