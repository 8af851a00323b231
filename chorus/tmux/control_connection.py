"""A connection to a tmux server in control mode: 0.1 ms per call, and events when a pane changes.

The connection is a tmux client of its own. It does not affect window sizes, and ends with this process.
"""

import os
import secrets
import select
import shutil
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Self

from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.system.processes.child_process import ChildProcess
from chorus.tmux.address import Address, accepts_connections
from chorus.tmux.control_protocol import Block, BlockParser, ControlEvent
from chorus.tmux.errors import ConnectionLost, ServerGone, TmuxNotInstalled, translate_refusal
from chorus.tmux.quoting import render_line
from chorus.tmux.silent_servers import note_reply, note_timeout, raise_if_silent

# tmux replies within a millisecond; a stopped server never does.
REPLY_TIMEOUT_SECONDS = 2.0
# If this client falls this far behind a pane's output, tmux pauses the output, for this client only.
PAUSE_AFTER_SECONDS = 1


class ControlConnection:
    """Runs tmux commands over one process in control mode.

    With `watch`, it also receives an event when a pane of the session prints.
    """

    def __init__(self, address: Address, *, target: str, watch: bool = False) -> None:
        self.address = address
        flags = f"ignore-size,pause-after={PAUSE_AFTER_SECONDS}" if watch else "ignore-size,no-output"
        # -N: attaching must not start a server.
        command = [
            "tmux",
            "-N",
            "-u",
            "-S",
            str(address.socket),
            "-C",
            "attach-session",
            "-t",
            target,
            "-f",
            flags,
        ]
        if shutil.which("tmux") is None:
            raise TmuxNotInstalled
        raise_if_silent(address)
        self._process = ChildProcess.start(command)
        self._input, self._output = self._process.input, self._process.output
        os.set_blocking(self._output, False)
        self._parser = BlockParser()
        self._blocks: deque[Block] = deque()
        # The newest event of each kind for each pane: an event only means "look again".
        self._events: dict[tuple[str, bytes], ControlEvent] = {}
        # Called when `run` has read events too: then `fileno` may not be readable, although there are events.
        self.on_events: Callable[[], object] = lambda: None
        self._calls = 0
        self._prefix = f"chorus-{secrets.token_hex(8)}-"  # no pane shows a line that begins like this
        self._ended = False
        try:
            self._expect_attached()
        except ChorusError:
            self.close()
            raise

    def fileno(self) -> int:
        """A descriptor for an event loop, readable when there may be events."""
        return self._output

    def run(self, *commands: Sequence[str]) -> list[str]:
        raise_if_silent(self.address)
        token = f"{self._prefix}{self._calls}"
        self._calls += 1
        # On an error tmux drops the rest of the line, so the token that marks the end is on its own line.
        self._write(
            f"{render_line(commands)}\ndisplay-message -p {token}\n".encode("utf-8", "surrogateescape")
        )
        lines, failure = self._gather(token, time.monotonic() + REPLY_TIMEOUT_SECONDS)
        if self._events:
            self.on_events()
        if failure is not None:
            raise translate_refusal(failure, socket=str(self.address.socket))
        return lines

    def events(self) -> list[ControlEvent]:
        """Return the newest event of each kind for each pane since the last call, without waiting for more.

        Raises ServerGone or ConnectionLost if there are no events and the connection has ended.
        """
        self._read()
        taken = list(self._events.values())
        self._events.clear()
        for event in taken:
            if event.kind == "pause":
                self.run(["refresh-client", "-A", f"{event.fields[0]}:continue"])
        if self._ended and not taken:
            raise self._loss()
        return taken

    def wait(self, seconds: float) -> bool:
        """Wait until there may be events. Return False if there are none after `seconds`."""
        return bool(self._events) or self._readable(seconds)

    def close(self) -> None:
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._input, data) :]
        except BrokenPipeError:
            raise self._loss() from None

    def _expect_attached(self) -> None:
        """Wait until this client is attached. A command sent earlier could run even if attaching fails."""
        block = self._next_block(time.monotonic() + REPLY_TIMEOUT_SECONDS)
        if block is None:
            raise self._loss()
        if block.failed:
            raise translate_refusal(" ".join(block.lines), socket=str(self.address.socket))

    def _gather(self, token: str, deadline: float) -> tuple[list[str], str | None]:
        lines: list[str] = []
        failure: str | None = None
        while (block := self._next_block(deadline)) is not None and block.lines != (token,):
            if block.failed:
                failure = failure or " ".join(block.lines)
            elif block.lines and block.lines[0].startswith(self._prefix):
                lines, failure = [], None  # these lines were the late reply to a call that timed out
            else:
                lines += block.lines
        if block is None and failure is None:
            raise self._loss()
        return lines, failure

    def _next_block(self, deadline: float) -> Block | None:
        """The next reply; None when the connection has ended."""
        while not self._blocks:
            if self._ended:
                return None
            if not self._readable(deadline - time.monotonic()):
                raise note_timeout(self.address)
            self._read()
        return self._blocks.popleft()

    def _loss(self) -> ChorusError:
        if accepts_connections(self.address):
            return ConnectionLost(f"tmux at {self.address.socket} ended the connection")
        return ServerGone(str(self.address.socket))

    def _readable(self, seconds: float) -> bool:
        poll = select.poll()  # select() stops at descriptor 1024
        poll.register(self._output, select.POLLIN)
        return bool(poll.poll(max(0.0, seconds) * 1000))

    def _read(self) -> None:
        while not self._ended:
            try:
                chunk = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return
            self._ended = not chunk
            note_reply(self.address)
            for item in self._parser.feed(chunk):
                match item:
                    case Block():
                        self._blocks.append(item)
                    case ControlEvent():
                        self._events[item.kind, item.rest.partition(b" ")[0]] = item


def changed_panes(events: Sequence[ControlEvent]) -> set[PaneId]:
    kinds = {"output", "extended-output", "pause", "pane-mode-changed"}
    return {PaneId(event.fields[0]) for event in events if event.kind in kinds}
