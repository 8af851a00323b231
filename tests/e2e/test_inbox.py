"""Two repositories on one tmux server, both asking: each answer reaches the pane it was meant for."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains

from chorus.config.user_config import user_config_path
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.asked_session import EVERY, SECONDS, send_script
from tests.e2e.scenarios import write
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import INPUT_BOX, Client, prepare_home, read_version
from tests.lab.script import Text, ToolUse
from tests.lab.terminal import Terminal
from tests.waiting import wait_for
from tests.web.browser import find, open_browser, wait_until_pressable
from tests.web.served_page import ServedPage, serve_page

pytestmark = pytest.mark.client

ASKING = ("--permission-mode", "default")
CHORUS = (sys.executable, "-m", "chorus")
TOUCH = ToolUse("Bash", {"command": "touch built.txt", "description": "Build it"})


@pytest.fixture
def both(client: Client, terminal: Terminal, tmp_path: Path) -> Iterator[list[WatchedSession]]:
    """A session in each of two repositories, watched from outside: answers are keys."""
    other = tmp_path / "shop"
    subprocess.run(["git", "clone", "-q", client.project, other], check=True)
    prepare_home(client.home, [client.project, other], version=read_version(client.binary))
    told, program = tmp_path / "told", tmp_path / "tell"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1 / $2" >> {told}\n')
    program.chmod(0o755)
    user_config_path().parent.mkdir(parents=True)
    user_config_path().write_text(f'[notify]\ntmux = true\ncommand = ["{program}"]\n')
    sessions = [
        WatchedSession(replace(client, project=project), terminal) for project in (client.project, other)
    ]
    for session in sessions:  # both start at once
        command, project = client.command(*ASKING), session.project
        session.pane = terminal.open(command, cwd=project, environment=client.environment())
    for session in sessions:
        assert session.pane is not None
        session.pane.wait_for(INPUT_BOX)
        session.chorus("attach", session.pane.id, "-L", terminal.name)
    yield sessions
    for session in sessions:
        stop(find_home(session.project))


def inbox(session: WatchedSession) -> dict[str, Any]:
    """Each repository's prompts, by its name."""
    return {one["name"]: one["prompts"] for one in session.chorus("inbox")["repositories"]}


def count_shown(terminal: Terminal) -> str:
    return terminal.tmux("show-options", "-gqv", "@chorus").strip()


def answers(session: WatchedSession) -> list[tuple[str, str, list[str]]]:
    return [(one["by"], one["answer"], one["keys"]) for one in session.chorus("log", "--prompts")]


def approve_twice(page: ServedPage) -> None:
    """Approve the prompt of `shop` in a browser, or as one would where there is none; only once it counts."""
    if shutil.which("chromium") and shutil.which("chromedriver"):
        with open_browser() as browser:
            browser.get(page.link)
            assert "touch built.txt" in find(browser, ".card", "shop").text
            assert "a.txt" in find(browser, ".card", "proj").text
            wait_until_pressable(browser)
            card = find(browser, ".card", "shop")
            ActionChains(browser).double_click(card.find_element("css selector", "button.allow")).perform()
            wait_for(lambda: len(browser.find_elements("css selector", ".card")) == 1, what="one is left")
        return
    http = page.log_in()
    (shown,) = wait_for(
        lambda: [p for one in http.state()["repositories"] if one["name"] == "shop" for p in one["prompts"]],
        what="the page shows it",
    )
    assert [text.strip() for _, text in shown["lines"]] == ["touch built.txt", "Build it"]
    approval = {"offer": shown["offer"], "decision": "allow"}
    assert [http.request("POST", "/answer", approval).status for _ in range(2)] == [200, 409]


def test_each_answer_reaches_the_repository_it_was_given_for(
    both: list[WatchedSession], terminal: Terminal, tmp_path: Path
) -> None:
    proj, shop = both
    send_script(proj, "write it", [[write("a.txt", "a\n")], [Text("Written.")]])
    send_script(shop, "build it", [[TOUCH], [Text("Built.")]])
    pending = wait_for(
        lambda: p if all((p := inbox(proj)).values()) else None, what="both ask", seconds=SECONDS, every=EVERY
    )
    assert {name: prompts[0]["tool"] for name, prompts in pending.items()} == {
        "proj": "Write",
        "shop": "Bash",
    }
    assert subprocess.run(
        [*CHORUS, "inbox", "--short"], env=shop.environment(), capture_output=True, text=True
    ).stdout == ("2 waiting\n")
    wait_for(lambda: count_shown(terminal) == "2 waiting", what="tmux shows the sum")
    told = wait_for(
        lambda: t if len(t := sorted((tmp_path / "told").read_text().splitlines())) == 2 else None,
        what="two notifications",
    )
    assert told[0].startswith("Chorus: proj / Write: ")
    assert told[1] == "Chorus: shop / Bash: touch built.txt"

    with serve_page() as page:
        approve_twice(page)
    wait_for((shop.project / "built.txt").exists, what="the command runs", seconds=SECONDS)
    assert not (proj.project / "a.txt").exists()
    wait_for(lambda: count_shown(terminal) == "1 waiting", what="one is left")

    done = subprocess.run(
        [*CHORUS, "deny", f"proj:{pending['proj'][0]['id']}", "--json"],
        cwd=shop.project,  # from the other repository
        env=proj.environment(),
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["how"] == "keys", done.stderr
    wait_for(lambda: not any(inbox(proj).values()), what="nothing is left", seconds=SECONDS)
    wait_for(lambda: count_shown(terminal) == "", what="tmux shows nothing")
    assert not (proj.project / "a.txt").exists()
    assert [(by, len(keys)) for by, _, keys in answers(shop)] == [("web, browser 1", 1)]
    assert [(by, answer, len(keys)) for by, answer, keys in answers(proj)] == [("command", "deny", 1)]
