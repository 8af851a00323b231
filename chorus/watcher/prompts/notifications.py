"""Notify the user of pending prompts: on the desktop, by a bell, in tmux's status line, by a program.

Everything that may take time runs in another thread, so that a hung desktop or a hung tmux delays neither the
watcher nor its exit.
"""

import logging
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from chorus.config.user_config import Notifications, Preferences
from chorus.errors import ChorusError
from chorus.model.api.json_api import PromptJson
from chorus.model.prompt import summarize_prompt
from chorus.system.desktop import desktop_command
from chorus.text.sanitize import printable
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.fan_out import ask_each
from chorus.wire.home import Home
from chorus.wire.registry import list_registered

log = logging.getLogger("chorus.watcher")

# The tmux option a status line shows with #{@chorus}.
OPTION = "@chorus"
# A notification program ends in a moment; one that hangs is left alone.
COMMAND_TIMEOUT_SECONDS = 10.0
# Other watchers answer at once, or after a scan. A watcher that does not answer is left out of the sum.
SUM_TIMEOUT_SECONDS = 3.0
# When to count again after a change. Another watcher may have counted before the change and shown its count
# after it, or it may have been too busy to answer.
RECOUNT_SECONDS = (0.3, 2.0, 10.0)
# More than a notification shows.
MAX_TEXT_LENGTH = 200
MAX_NAME_LENGTH = 40

# Calls a function after some seconds, on the watcher's loop.
Later = Callable[[float, Callable[[], None]], object]


class Notifier:
    def __init__(
        self,
        home: Home,
        preferences: Callable[[], Preferences],
        servers: Callable[[], Iterable[Address]],
        later: Later,
    ) -> None:
        self._home = home
        self._preferences = preferences
        self._servers = servers
        self._later = later
        self._pending: dict[str, PromptJson] = {}
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def notify(self, new: list[PromptJson], pending: list[PromptJson]) -> None:
        """Notify the user of new prompts and the number of pending ones."""
        self._pending = {prompt["id"]: prompt for prompt in pending}
        try:
            wanted = self._preferences().notifications
        except ChorusError as error:
            log.warning("no notification: %s", error)
            return
        if wanted.bell and new:
            self._each_server(_ring_bell)
        if wanted.tmux:
            self._show_count()
            for seconds in RECOUNT_SECONDS:
                self._later(seconds, self._show_count)
        for prompt in new:
            title, text = describe(self._home, prompt)
            if wanted.command:
                self._do(lambda command=[*wanted.command, title, text]: _run(command))  # type: ignore[misc]  # bound now
            if wanted.desktop != "off":
                self._later(wanted.desktop_seconds, self._announcer(prompt["id"], wanted, title, text))

    def _announcer(self, name: str, wanted: Notifications, title: str, text: str) -> Callable[[], None]:
        def announce() -> None:
            if name not in self._pending:
                return  # answered meanwhile
            if wanted.desktop == "terminal":
                self._each_server(lambda tmux: _write_to_terminals(tmux, terminal_notification(title, text)))
            elif command := desktop_command(title, text, os.environ):
                self._do(lambda: _run(command))

        return announce

    def _show_count(self) -> None:
        servers = set(self._servers())

        def show() -> None:
            elsewhere = _count_elsewhere(self._home)
            count = elsewhere + len(self._pending)  # as it is now
            for address in servers:
                _on_server(address, lambda tmux: _set_count(tmux, count))

        self._do(show)

    def _each_server(self, do: Callable[[TmuxServer], None]) -> None:
        for address in set(self._servers()):
            self._do(lambda address=address: _on_server(address, do))  # type: ignore[misc]  # bound now

    def _do(self, job: Callable[[], None]) -> None:
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="chorus-notifications", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except (OSError, ChorusError) as error:
                log.warning("no notification: %s", error)


def describe(home: Home, prompt: PromptJson) -> tuple[str, str]:
    """Return the title and text of a notification, sanitized. Neither begins with `-`."""
    common_dir = home.common_dir
    repository = common_dir.parent.name if common_dir.name == ".git" else common_dir.stem
    about = summarize_prompt(prompt, str(common_dir.parent))
    text = f"{prompt.get('tool') or prompt['title']}: {about}"
    return f"Chorus: {_one_line(repository, MAX_NAME_LENGTH)}", _one_line(text, MAX_TEXT_LENGTH)


def terminal_notification(title: str, text: str) -> bytes:
    """Return the escape sequence OSC 9. Some terminals show it as a notification; others ignore it."""
    return f"\x1b]9;{title}: {text}\x07".encode()


def _one_line(text: str, length: int) -> str:
    joined = printable(" ".join(text[: 4 * length].split()))
    return (joined if len(joined) <= length else f"{joined[: length - 1]}…").lstrip("- ") or "?"


def _count_elsewhere(home: Home) -> int:
    """Return how many prompts are pending in this user's other repositories."""
    try:
        others: Mapping[Home, list[tuple[str, Mapping[str, object]]]] = {
            other: [("status", {})] for other in list_registered() if other != home
        }
    except ChorusError:
        return 0
    answers = (
        reply.answers.get("status") for reply in ask_each(others, seconds=SUM_TIMEOUT_SECONDS).values()
    )
    counts = (status.get("prompts") for status in answers if isinstance(status, dict))
    return sum(count for count in counts if isinstance(count, int))


def _on_server(address: Address, do: Callable[[TmuxServer], None]) -> None:
    try:
        do(TmuxServer(address))
    except ChorusError as error:
        log.info("cannot notify through tmux at %s: %s", address.socket, error)


def _ring_bell(tmux: TmuxServer) -> None:
    _write_to_terminals(tmux, b"\a")


def _write_to_terminals(tmux: TmuxServer, data: bytes) -> None:
    """Write the data to every terminal attached to the server, except those that would block."""
    for tty in tmux.run(["list-clients", "-F", "#{client_tty}"]):
        # A control client, such as the watcher's own, has no terminal.
        with suppress(OSError):
            terminal = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                os.write(terminal, data)
            finally:
                os.close(terminal)


def _set_count(tmux: TmuxServer, pending: int) -> None:
    change = [OPTION, f"{pending} waiting"] if pending else ["-u", OPTION]
    tmux.run(["set-option", "-g", *change])
    for tty in tmux.run(["list-clients", "-F", "#{client_tty}"]):
        if tty:
            tmux.run(["refresh-client", "-S", "-t", tty])


def _run(command: list[str]) -> None:
    null = subprocess.DEVNULL
    try:
        subprocess.run(command, stdin=null, stdout=null, stderr=null, timeout=COMMAND_TIMEOUT_SECONDS)
    except OSError as error:
        log.warning("cannot run %s: %s", command[0], error)
    except subprocess.TimeoutExpired:
        log.warning("%s did not exit in time; it was killed", command[0])
