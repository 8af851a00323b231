"""The real client asks for each kind of tool, and each kind of answer by key has its effect.

For Edit, Write, Bash, fetch, an MCP server and a sub-agent: yes, yes for the session, no, no with a message.
An answer without an option in the dialog is refused, and no key is sent.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chorus.wire.client import connect
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.asked_session import ASKING, SECONDS, AskedCall, Call, UnaskedCall, play
from tests.e2e.scenarios import APP, bash, edit, read, write
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import Client
from tests.lab.client_behavior import ClientBehavior
from tests.lab.script import Text, ToolUse
from tests.lab.terminal import Terminal
from tests.lab.web import Site

pytestmark = pytest.mark.client

NEW = APP.replace("old", "new")
SUMMARY = "The page says seven."
FIRST, BOTH = "[keep]\n\tone = yes\n", "[keep]\n\tone = yes\n\ttwo = yes\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, "<h1>Seven</h1>") as site:
        yield site


@pytest.fixture
def asking(client: Client, terminal: Terminal, site: Site) -> Iterator[WatchedSession]:
    # The client asks a server of its vendor about every host before it fetches, unless this is set.
    settings = client.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"skipWebFetchPreflight": True}))
    client.extra_environment["NODE_EXTRA_CA_CERTS"] = str(site.certificate)
    client.model_server.scripts["Web page content:"] = [[Text(SUMMARY)]]
    watched = WatchedSession(client, terminal)
    watched.start_adopted(*ASKING)
    yield watched
    stop(find_home(client.project))


def keep(name: str) -> ToolUse:
    return ToolUse("mcp__notes__keep", {"path": f"{{p}}/{name}", "text": "kept\n"})


def fetch(site: Site, path: str) -> ToolUse:
    return ToolUse("WebFetch", {"url": site.url(path), "prompt": "what is there"})


def no(words: str) -> list[str]:
    return ["deny", "--message", words]


YES, ALWAYS, NO = ["approve"], ["approve", "--always"], ["deny"]
EDITS: list[Call] = [
    UnaskedCall(read("app.py")),
    AskedCall(edit("app.py", "old", "new"), "edit", YES, {"app.py": NEW}),
    AskedCall(edit("app.py", "new", "other"), "edit", no("keep new; not 1 2 3"), {"app.py": NEW},
          received="keep new; not 1 2 3"),
    AskedCall(edit("app.py", "pass", "return"), "edit", NO, {"app.py": NEW}),
]  # fmt: skip
WRITES = [
    AskedCall(
        write("a.txt", "a\n"), "create", no("call it b.txt"), {"a.txt": None}, received="call it b.txt"
    ),
    AskedCall(write("b.txt", "b\n"), "create", YES, {"b.txt": "b\n"}),
    AskedCall(write("b.txt", "c\n"), "overwrite", NO, {"b.txt": "b\n"}),
]
COMMANDS = [
    AskedCall(bash("touch made.txt"), "bash", YES, {"made.txt": ""}),
    AskedCall(bash("rm made.txt; echo $HOME"), "bash", no("leave it there"), {"made.txt": ""},
          received="leave it there"),
    AskedCall(bash("rm made.txt"), "bash", NO, {"made.txt": ""}),
]  # fmt: skip
TOOL_SERVER = [
    AskedCall(keep("k.txt"), "mcp", YES, {"k.txt": "kept\n"}, received="kept"),
    AskedCall(keep("l.txt"), "mcp", no("k.txt will do"), {"l.txt": None}, received="k.txt will do"),
]
FILES: list[Call] = [
    AskedCall(write("c.txt", "c\n"), "create", ALWAYS, {"c.txt": "c\n"}),
    UnaskedCall(write("d.txt", "d\n"), {"d.txt": "d\n"}),
]
SUB_AGENT: list[Call] = [
    AskedCall(write("s.txt", "s\n"), "create", YES, {"s.txt": "s\n"}),
    AskedCall(
        write("t.txt", "t\n"),
        "create",
        no("s.txt is enough"),
        {"t.txt": None},
        received="s.txt is enough",
    ),
    AskedCall(bash("rm s.txt"), "bash", NO, {"s.txt": "s\n"}),
    AskedCall(write("u.txt", "u\n"), "create", ALWAYS, {"u.txt": "u\n"}),
    UnaskedCall(write("v.txt", "v\n"), {"v.txt": "v\n"}),
]


def pages(site: Site) -> list[Call]:
    return [
        AskedCall(fetch(site, "/one"), "fetch", YES, received=SUMMARY),
        AskedCall(fetch(site, "/two"), "fetch", NO, refused=(no("not that one"), "takes no text")),
    ]


def granted(site: Site, behavior: ClientBehavior) -> list[Call]:
    """Each yes for the session, and the same call again, which is not asked about."""
    config = "git config -f kept.ini keep."
    command = AskedCall(bash(f"{config}one yes"), "bash", ALWAYS, {"kept.ini": FIRST})
    if behavior.offers_auto_mode:
        why = "choose one by its key: 2: Yes, and don’t ask again for: git config"
        command = replace(command, answer=["approve", "--option", "2"], refused=(ALWAYS, why))
    return [
        command,
        UnaskedCall(bash(f"{config}two yes"), {"kept.ini": BOTH}),
        AskedCall(fetch(site, "/three"), "fetch", ALWAYS),
        UnaskedCall(fetch(site, "/four")),
        AskedCall(keep("k2.txt"), "mcp", ALWAYS, {"k2.txt": "kept\n"}),
        UnaskedCall(keep("k3.txt"), {"k3.txt": "kept\n"}),
        AskedCall(edit("app.py", "pass", "return 1"), "edit", ALWAYS),
        UnaskedCall(edit("app.py", "return 1", "return 2"), {"app.py": NEW.replace("pass", "return 2")}),
    ]  # fmt: skip


def narrow(behavior: ClientBehavior) -> list[Call]:
    """In a pane of 40 columns the newest client leaves out answers for the session."""
    left_out = (
        None if behavior.grants_in_narrow_panes else (ALWAYS, 'this prompt has no "don\'t ask again" option')
    )
    return [AskedCall(keep("m.txt"), "mcp", NO, {"m.txt": None}, refused=left_out)]


def resize(asking: WatchedSession, columns: int) -> None:
    assert asking.pane is not None
    asking.terminal.tmux("resize-window", "-t", asking.pane.id, "-x", str(columns))
    asking.pane.wait_for(rf"(?m)^─{{{columns}}}\n❯", seconds=SECONDS)


def ask_about_edits(asking: WatchedSession, behavior: ClientBehavior) -> None:
    """Switch to the mode in which the client asks about edits."""
    assert asking.pane is not None
    for mode in ("accept edits on", "plan mode on", "auto mode on"):
        asking.pane.wait_for(mode, seconds=SECONDS)
        asking.pane.press("BTab")
    asking.pane.wait_for(behavior.asking_mode, seconds=SECONDS)


def test_every_permission_answer_has_its_effect(
    asking: WatchedSession, site: Site, behavior: ClientBehavior
) -> None:
    play(asking, "edits", EDITS)
    play(asking, "writes", WRITES)
    play(asking, "commands", COMMANDS)
    play(asking, "pages", pages(site))
    assert site.visited == ["/one"]
    play(asking, "tools", TOOL_SERVER)
    resize(asking, 40)
    play(asking, "narrow", narrow(behavior))
    resize(asking, asking.terminal.width)
    play(asking, "grants", granted(site, behavior))
    assert site.visited == ["/one", "/three", "/four"]
    ask_about_edits(asking, behavior)
    play(asking, "files", FILES)
    ask_about_edits(asking, behavior)
    play(asking, "agent", SUB_AGENT, agent="make s.txt and more")

    rules = json.loads((asking.project / ".claude" / "settings.local.json").read_text())
    assert rules == {"permissions": {"allow": [
        "Bash(git config *)", "WebFetch(domain:127.0.0.1)", "mcp__notes__keep",
    ]}}  # fmt: skip
    with connect(find_home(asking.project)) as watcher:
        audit = watcher.ask("audit")
    given = [entry for entry in audit if entry["refused"] is None]
    assert all(
        (entry["how"], bool(entry["keys"]), bool(entry["screen"])) == ("keys", True, True) for entry in given
    )
    steps = [
        *EDITS,
        *WRITES,
        *COMMANDS,
        *pages(site),
        *TOOL_SERVER,
        *narrow(behavior),
        *granted(site, behavior),
        *FILES,
        *SUB_AGENT,
    ]
    asked = [step for step in steps if isinstance(step, AskedCall)]
    assert len(given) == len(asked)
    refused = [entry["keys"] for entry in audit if entry["refused"] is not None]
    assert refused == [[]] * behavior.answers_without_option
    assert len(refused) == sum(step.refused is not None for step in asked)
