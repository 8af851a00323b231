"""Making it known that a prompt waits: a bell, a word in tmux's status line, a program of the person's own.

Does only what the config asks for. Nothing of a prompt but its title and question is told. Whatever fails
here is a line in the log: no prompt waits for it.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from chorus.config.user_config import Preferences
from chorus.errors import ChorusError
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")

# The tmux option a status line shows with #{@chorus}.
OPTION = "@chorus"
# A program that tells is done in a moment; one that hangs is let go.
COMMAND_SECONDS = 10.0


class Ringing:
    def __init__(
        self,
        preferences: Callable[[], Preferences],
        servers: Callable[[], Iterable[Address]],
        start: Start,
    ) -> None:
        self._preferences = preferences
        self._servers = servers
        self._start = start

    def ring(self, fresh: Iterable[dict[str, Any]], waiting: int) -> None:
        """These prompts are new; so many wait in all."""
        try:
            wanted = self._preferences().notifications
        except ChorusError as error:
            log.warning("nobody is told: %s", error)
            return
        fresh = list(fresh)
        if wanted.bell and fresh:
            self._each_server(_ring_bell)
        if wanted.tmux:
            self._each_server(lambda tmux: _show(tmux, waiting))
        if wanted.command:
            for prompt in fresh:
                self._start(_run([*wanted.command, "Claude Code asks", _words(prompt)]))

    def _each_server(self, do: Callable[[TmuxServer], None]) -> None:
        for address in set(self._servers()):
            try:
                do(TmuxServer(address))
            except ChorusError as error:
                log.info("tmux at %s is not told: %s", address.socket, error)


def _words(prompt: dict[str, Any]) -> str:
    text = f"{prompt['title']}: {prompt['question']}"
    return "".join(char if char.isprintable() else " " for char in text)[:200]


def _ring_bell(tmux: TmuxServer) -> None:
    for tty in tmux.run(["list-clients", "-F", "#{client_tty}"]):
        # A control client, such as the agent's own, has no terminal.
        with suppress(OSError):
            terminal = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                os.write(terminal, b"\a")
            finally:
                os.close(terminal)


def _show(tmux: TmuxServer, waiting: int) -> None:
    change = [OPTION, f"{waiting} waiting"] if waiting else ["-u", OPTION]
    tmux.run(["set-option", "-g", *change])
    for tty in tmux.run(["list-clients", "-F", "#{client_tty}"]):
        if tty:
            tmux.run(["refresh-client", "-S", "-t", tty])


async def _run(words: list[str]) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await asyncio.wait_for(process.wait(), COMMAND_SECONDS)
    except OSError as error:
        log.warning("%s cannot be run: %s", words[0], error)
    except TimeoutError:
        log.warning("%s does not end; it is let go", words[0])
