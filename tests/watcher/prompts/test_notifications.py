"""The user is notified of pending prompts as the config says, and in no other way."""

import os
import pty
import select
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.config.user_config import BadConfig, Preferences, read_preferences
from chorus.errors import ChorusError
from chorus.system.macos.desktop import desktop_command
from chorus.system.this_system import IS_LINUX
from chorus.tmux.address import Address
from chorus.watcher.prompts.notifications import Notifier, describe
from chorus.wire.home import Home
from chorus.wire.registry import registry_directory
from tests.inbox.conftest import scripted
from tests.lab.terminal import Terminal, wait_until
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import prompt

__all__ = ["scripted"]  # fixtures

COMMAND = "npm run build;\x1b]0;x\x07\n  echo \u202edone"
PROMPT: Any = {
    "id": "1.1.a",
    "tool": "Bash",
    "title": "Bash command",
    "question": "Do you want to proceed?",
    "body": "",
    "input": {"command": COMMAND},
}
TEXT = "Bash: npm run build;\ufffd]0;x\ufffd echo \ufffddone"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal() as terminal:
        terminal.open(["cat"], cwd=tmp_path, environment={"PATH": os.environ["PATH"]})
        yield terminal


class Later:
    """Calls what was put off, when the test says so."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Callable[[], None]]] = []

    def __call__(self, seconds: float, do: Callable[[], None]) -> None:
        self.calls.append((seconds, do))

    def pass_time(self) -> list[float]:
        due, self.calls = self.calls, []
        for _, do in due:
            do()
        return [seconds for seconds, _ in due]


def notifier_for(terminal: Terminal, repository: Path, **tell: Any) -> tuple[Notifier, Later]:
    preferences = Preferences.model_validate({"notify": {"desktop": "off", **tell}})
    address, later = Address(terminal.socket()), Later()
    home = Home(repository / ".git")
    return Notifier(home, lambda: preferences, lambda: [address, address], later), later


def make_program(path: Path) -> Path:
    """A program that writes its arguments to `told` beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\ncd {path.parent} && printf "%s|" "$@" > unfinished && mv unfinished told\n')
    path.chmod(0o755)
    return path.parent / "told"


def make_desktop(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program of this system's desktop, which is where a user has logged in to one."""
    told = make_program(directory / ("notify-send" if IS_LINUX else "osascript"))
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    return told


def option(terminal: Terminal) -> str:
    return terminal.tmux("show-options", "-gqv", "@chorus").strip()


def test_tmux_shows_the_number_of_prompts_in_all_repositories(
    terminal: Terminal, tmp_path: Path, scripted: Callable[[str], ScriptedWatcher]
) -> None:
    notifier, later = notifier_for(terminal, tmp_path / "shop", tmux=True)
    notifier.notify([PROMPT], [PROMPT, PROMPT | {"id": "2"}])
    wait_until(lambda: option(terminal) == "2 waiting", what="its own prompts")
    other = scripted("other")
    other.prompts["p"] = prompt("p")
    later.pass_time()  # another watcher may have counted at the same time: count again
    wait_until(lambda: option(terminal) == "3 waiting", what="the other repository's too")
    notifier.notify([], [])
    wait_until(lambda: option(terminal) == "1 waiting", what="only the other's")
    other.stop()
    later.pass_time()
    wait_until(lambda: option(terminal) == "", what="nothing")


def test_without_preferences_only_the_desktop_is_used(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = make_desktop(tmp_path / "bin", monkeypatch)
    notifier, later = notifier_for(terminal, tmp_path / "shop", desktop="auto")
    notifier.notify([PROMPT], [PROMPT])
    if IS_LINUX:
        assert later.pass_time() == [5.0]
        assert not told.exists()  # there is no desktop
    assert option(terminal) == ""

    monkeypatch.setenv("DISPLAY", ":0")
    hostile = PROMPT | {"input": {"command": "<b>&x"}}
    notifier.notify([hostile], [hostile])
    later.pass_time()
    shown = "--|Chorus: shop|Bash: &lt;b&gt;&amp;x|" if IS_LINUX else "end run|Chorus: shop|Bash: <b>&x|"
    # With a desktop the first prompt is shown too, a moment before.
    wait_until(lambda: told.exists() and told.read_text().endswith(shown), what="the notification")


def test_a_prompt_that_was_answered_soon_is_not_announced(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = make_desktop(tmp_path / "bin", monkeypatch)
    monkeypatch.setenv("DISPLAY", ":0")
    notifier, later = notifier_for(terminal, tmp_path / "shop", desktop="auto")
    notifier.notify([PROMPT], [PROMPT])
    notifier.notify([], [])
    later.pass_time()
    after = PROMPT | {"id": "2", "input": {"file_path": "/a/b.py"}, "tool": "Edit"}
    notifier.notify([after], [after])
    later.pass_time()
    wait_until(told.exists, what="the notification of the next one")
    assert "Edit: /a/b.py" in told.read_text()


def test_bell_and_escape_sequence_reach_the_terminal_that_shows_the_server(
    terminal: Terminal, tmp_path: Path
) -> None:
    seen, shows = pty.openpty()
    command = ["tmux", "-L", terminal.name, "attach"]
    person = subprocess.Popen(command, stdin=shows, stdout=shows, stderr=shows, start_new_session=True)
    os.close(shows)
    wait_until(lambda: terminal.tmux("list-clients") != "", what="a person attaches")
    shown = b""

    def has(data: bytes) -> bool:
        nonlocal shown
        while select.select([seen], [], [], 0.01)[0]:
            shown += os.read(seen, 65536)
        return data in shown

    notifier, _ = notifier_for(terminal, tmp_path / "shop", bell=True)
    notifier.notify([], [PROMPT])
    notifier.notify([PROMPT], [PROMPT])
    wait_until(lambda: shown.endswith(b"\a") or has(b"\a"), what="the bell")
    notifier, later = notifier_for(terminal, tmp_path / "shop", desktop="terminal", desktop_seconds=0)
    notifier.notify([PROMPT], [PROMPT])
    later.pass_time()
    wait_until(lambda: has(f"\x1b]9;Chorus: shop: {TEXT}\x07".encode()), what="the escape sequence")
    terminal.stop()
    person.wait()
    os.close(seen)


def test_the_users_program_gets_repository_tool_and_command(terminal: Terminal, tmp_path: Path) -> None:
    told = make_program(tmp_path / "notify")
    notifier, _ = notifier_for(terminal, tmp_path / "-shop", command=[str(tmp_path / "notify"), "-u"])
    notifier.notify([PROMPT], [PROMPT])
    wait_until(told.exists, what="the program runs")
    assert told.read_text() == f"-u|Chorus: shop|{TEXT}|"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"input": None, "body": "╌╌╌\n  rm -r x\n╌╌╌\n"}, "Bash: rm -r x"),
        ({"input": None, "tool": None}, "Bash command: Do you want to proceed?"),
        ({"input": {"command": ["x"]}}, "Bash: Do you want to proceed?"),
        ({"tool": "--help", "input": {"command": "x"}}, "help: x"),
        ({"input": {"command": "x" * 1000}}, f"Bash: {'x' * 193}…"),
        ({"tool": "-", "title": "-", "input": {"command": "-"}}, ": -"),
    ],
)
def test_the_text_is_short_and_begins_with_no_dash(fields: dict[str, Any], text: str, tmp_path: Path) -> None:
    assert describe(Home(tmp_path / "shop" / ".git"), PROMPT | fields) == ("Chorus: shop", text)
    assert describe(Home(tmp_path / "bare.git"), PROMPT)[0] == "Chorus: bare"


def test_failed_and_hung_notifications_stop_nothing(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("chorus.watcher.prompts.notifications.COMMAND_TIMEOUT_SECONDS", 0.05)
    notifier, later = notifier_for(terminal, tmp_path / "shop", command=["/nowhere/at/all"], tmux=True)
    hung, _ = notifier_for(terminal, tmp_path / "shop", command=["sh", "-c", "exec sleep 60"])
    terminal.stop()
    with caplog.at_level("INFO"):
        notifier.notify([PROMPT], [PROMPT])
        hung.notify([PROMPT], [PROMPT])
        wait_until(lambda: "cannot run /nowhere" in caplog.text, what="the missing program")
        wait_until(lambda: "sh did not exit in time" in caplog.text, what="the hung one")
        wait_until(lambda: "cannot notify through tmux" in caplog.text, what="the missing server")
    registry_directory().mkdir(parents=True)
    registry_directory().chmod(0o777)
    later.pass_time()

    def unreadable() -> Preferences:
        raise BadConfig("no")

    Notifier(Home(tmp_path), unreadable, list, later).notify([PROMPT], [PROMPT])
    assert later.calls == []


def test_on_a_mac_the_notification_is_shown_by_osascript(tmp_path: Path) -> None:
    make_program(tmp_path / "osascript")
    command = desktop_command("Chorus: shop", 'Bash: " & quit', {"PATH": str(tmp_path)})
    assert command is not None
    assert command[0] == str(tmp_path / "osascript")
    assert command[-2:] == ["Chorus: shop", 'Bash: " & quit']  # arguments, never part of the script
    assert desktop_command("a", "b", {"PATH": "/nowhere"}) is None


def test_preferences_are_read_and_checked(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    assert read_preferences(config) == Preferences(relay="mod")
    config.write_text('relay = "auto"\n[notify]\nbell = true\ncommand = ["notify-send"]\n[policy]\n')
    read = read_preferences(config)
    assert (read.notifications.desktop, read.notifications.desktop_seconds) == ("auto", 5.0)
    assert (read.relay, read.notifications.bell, read.notifications.tmux, read.notifications.command) == (
        "auto", True, False, ("notify-send",),
    )  # fmt: skip
    for wrong in ('relay = "always"\n', "[notify]\nloud = true\n", '[notify]\ndesktop = "yes"\n'):
        config.write_text(wrong)
        with pytest.raises(ChorusError, match=r"relay|notify.loud|notify.desktop"):
            read_preferences(config)
