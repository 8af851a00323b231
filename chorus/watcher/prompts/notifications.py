"""Notify the user of pending prompts: a bell, a count for tmux's status line, a program of the user's choice.

Does only what the config asks for. Of a prompt only the title and the question are passed on. Failures are
logged and delay no prompt.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from chorus.config.user_config import Preferences
from chorus.errors import ChorusError
from chorus.model.json_api import PromptJson
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")

# The tmux option a status line shows with #{@chorus}.
OPTION = "@chorus"
# A notification program ends in a moment; one that hangs is left alone.
COMMAND_TIMEOUT_SECONDS = 10.0


class Notifier:
    def __init__(
        self,
        preferences: Callable[[], Preferences],
        servers: Callable[[], Iterable[Address]],
        start: Start,
    ) -> None:
        self._preferences = preferences
        self._servers = servers
        self._start = start

    def notify(self, new: list[PromptJson], pending: int) -> None:
        """Notify the user of new prompts, and of how many are pending."""
        try:
            wanted = self._preferences().notifications
        except ChorusError as error:
            log.warning("no notification: %s", error)
            return
        if wanted.bell and new:
            self._each_server(_ring_bell)
        if wanted.tmux:
            self._each_server(lambda tmux: _show_count(tmux, pending))
        if wanted.command:
            for prompt in new:
                self._start(_run([*wanted.command, "Claude Code asks", _summary(prompt)]))

    def _each_server(self, do: Callable[[TmuxServer], None]) -> None:
        for address in set(self._servers()):
            try:
                do(TmuxServer(address))
            except ChorusError as error:
                log.info("cannot notify through tmux at %s: %s", address.socket, error)


def _summary(prompt: PromptJson) -> str:
    text = f"{prompt['title']}: {prompt['question']}"
    return "".join(char if char.isprintable() else " " for char in text)[:200]


def _ring_bell(tmux: TmuxServer) -> None:
    for tty in tmux.run(["list-clients", "-F", "#{client_tty}"]):
        # A control client, such as the watcher's own, has no terminal.
        with suppress(OSError):
            terminal = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                os.write(terminal, b"\a")
            finally:
                os.close(terminal)


def _show_count(tmux: TmuxServer, pending: int) -> None:
    change = [OPTION, f"{pending} waiting"] if pending else ["-u", OPTION]
    tmux.run(["set-option", "-g", *change])
    for tty in tmux.run(["list-clients", "-F", "#{client_tty}"]):
        if tty:
            tmux.run(["refresh-client", "-S", "-t", tty])


async def _run(command: list[str]) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await asyncio.wait_for(process.wait(), COMMAND_TIMEOUT_SECONDS)
    except OSError as error:
        log.warning("cannot run %s: %s", command[0], error)
    except TimeoutError:
        log.warning("%s did not end in time; it is left running", command[0])
