"""The user is notified of pending prompts as the config says, and in no other way."""

import asyncio
import os
import pty
import select
import subprocess
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.config.user_config import BadConfig, Preferences, read_preferences
from chorus.errors import ChorusError
from chorus.tmux.address import Address
from chorus.watcher.prompts.notifications import Notifier
from tests.lab.terminal import Terminal, wait_until

PROMPT: Any = {"title": "Bash command", "question": "Do you want\x1b to proceed?", "body": "secret"}


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal() as terminal:
        terminal.open(["cat"], cwd=tmp_path, environment={"PATH": os.environ["PATH"]})
        yield terminal


def notifier_for(terminal: Terminal, **tell: Any) -> tuple[Notifier, list[Coroutine[Any, Any, None]]]:
    started: list[Coroutine[Any, Any, None]] = []
    preferences = Preferences.model_validate({"tell": tell})
    address = Address(terminal.socket())
    return Notifier(lambda: preferences, lambda: [address, address], started.append), started


def option(terminal: Terminal) -> str:
    return terminal.tmux("show-options", "-gqv", "@chorus").strip()


def test_tmux_shows_the_number_of_pending_prompts_and_nothing_for_none(terminal: Terminal) -> None:
    notifier, _ = notifier_for(terminal, tmux=True)

    notifier.notify([PROMPT], 2)
    assert option(terminal) == "2 waiting"
    notifier.notify([], 0)
    assert option(terminal) == ""


def test_without_preferences_nobody_is_notified(terminal: Terminal) -> None:
    notifier, started = notifier_for(terminal)

    notifier.notify([PROMPT], 1)

    assert option(terminal) == ""
    assert started == []


def test_the_bell_rings_in_the_terminal_that_shows_the_server(terminal: Terminal) -> None:
    seen, shows = pty.openpty()
    command = ["tmux", "-L", terminal.name, "attach"]
    person = subprocess.Popen(command, stdin=shows, stdout=shows, stderr=shows, start_new_session=True)
    os.close(shows)
    wait_until(lambda: terminal.tmux("list-clients") != "", what="a person attaches")
    notifier, _ = notifier_for(terminal, bell=True)
    shown = b""

    def rung() -> bool:
        nonlocal shown
        while select.select([seen], [], [], 0.01)[0]:
            shown += os.read(seen, 65536)
        return shown.endswith(b"\a") or b"\a" in shown.replace(b"\x1b]", b"")

    notifier.notify([], 1)
    notifier.notify([PROMPT], 1)
    wait_until(rung, what="the bell")
    terminal.stop()
    person.wait()
    os.close(seen)


async def test_the_users_program_gets_only_title_and_question(terminal: Terminal, tmp_path: Path) -> None:
    program, told = tmp_path / "notify", tmp_path / "told"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {told}\n')
    program.chmod(0o755)
    notifier, started = notifier_for(terminal, command=[str(program), "-u"])

    notifier.notify([PROMPT], 1)
    await asyncio.gather(*started)

    assert told.read_text() == "-u|Claude Code asks|Bash command: Do you want  to proceed?|"


async def test_a_failed_notification_stops_nothing(terminal: Terminal) -> None:
    notifier, started = notifier_for(terminal, command=["/nowhere/at/all"], tmux=True)
    terminal.stop()

    notifier.notify([PROMPT], 1)
    await asyncio.gather(*started)

    def unreadable() -> Preferences:
        raise BadConfig("no")

    Notifier(unreadable, list, started.append).notify([PROMPT], 1)


def test_preferences_are_read_and_checked(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    assert read_preferences(config) == Preferences(relay="keys")
    config.write_text('relay = "auto"\n[tell]\nbell = true\ncommand = ["notify-send"]\n[policy]\n')
    read = read_preferences(config)
    assert (read.relay, read.notifications.bell, read.notifications.tmux, read.notifications.command) == (
        "auto", True, False, ("notify-send",),
    )  # fmt: skip
    for wrong in ('relay = "always"\n', "[tell]\nloud = true\n"):
        config.write_text(wrong)
        with pytest.raises(ChorusError, match=r"relay|tell.loud"):
            read_preferences(config)
