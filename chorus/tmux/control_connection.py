"""A kept connection to a tmux server, in control mode: 0.1 ms a call, and notices when a pane moves.

The connection is a client of its own beside the user's: it takes no part in sizing windows, draws
nothing, and is gone when closed, or with this process. Never reads or writes outside a call of its methods.
"""

import os
import secrets
import select
import shutil
import time
from collections import deque
from collections.abc import Sequence
from typing import Self

from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.system.child_process import ChildProcess
from chorus.tmux.address import Address, answers
from chorus.tmux.control_protocol import Block, BlockParser, ControlEvent
from chorus.tmux.errors import ConnectionLost, ServerGone, ServerTimeout, TmuxNotInstalled, translate_refusal
from chorus.tmux.quoting import render_line

# tmux answers within a millisecond; a stopped server never does.
REPLY_TIMEOUT_SECONDS = 2.0
# A pane that prints faster than we read is paused (for us alone) after this; nothing is buffered for ever.
PAUSE_AFTER_SECONDS = 1
# Notices nobody takes are dropped, oldest first: they only say "look again".
NOTICES_KEPT = 1000


class ControlConnection:
    """A `Tmux` over one kept process. `watch=True`: also told when a pane of that session prints."""

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
        self._process = ChildProcess.start(command)
        self._input, self._output = self._process.input, self._process.output
        os.set_blocking(self._output, False)
        self._parser = BlockParser()
        self._blocks: deque[Block] = deque()
        self._notices: deque[ControlEvent] = deque(maxlen=NOTICES_KEPT)
        self._calls = 0
        self._prefix = f"chorus-{secrets.token_hex(8)}-"  # nothing a pane shows begins like this
        self._ended = False
        try:
            self._expect_attached()
        except ChorusError:
            self.close()
            raise

    def fileno(self) -> int:
        """Readable when there may be notices; for an event loop."""
        return self._output

    def run(self, *commands: Sequence[str]) -> list[str]:
        """Run the commands in one go; give what they printed."""
        token = f"{self._prefix}{self._calls}"
        self._calls += 1
        # On an error tmux drops the rest of a line, so the token that says "all done" has its own.
        self._write(
            f"{render_line(commands)}\ndisplay-message -p {token}\n".encode("utf-8", "surrogateescape")
        )
        lines, failure = self._gather(token, time.monotonic() + REPLY_TIMEOUT_SECONDS)
        if failure is not None:
            raise translate_refusal(failure, socket=str(self.address.socket))
        return lines

    def notices(self) -> list[ControlEvent]:
        """What happened since the last call, without waiting. Raises ServerGone once the server left."""
        self._read()
        taken = list(self._notices)
        self._notices.clear()
        for notice in taken:
            if notice.kind == "pause":
                self.run(["refresh-client", "-A", f"{notice.words[0]}:continue"])
        if self._ended and not taken:
            raise self._loss()
        return taken

    def wait(self, seconds: float) -> bool:
        """Wait until there may be notices."""
        return bool(self._notices) or self._readable(seconds)

    def close(self) -> None:
        """Leave."""
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
        """The answer to the attaching itself. Commands sent before it may run although it fails."""
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
                lines, failure = [], None  # so far it was the late answer to a call that was given up
            else:
                lines += block.lines
        if block is None and failure is None:
            raise self._loss()
        return lines, failure

    def _next_block(self, deadline: float) -> Block | None:
        """The next answer, or None once the connection has ended."""
        while not self._blocks:
            if self._ended:
                return None
            if not self._readable(deadline - time.monotonic()):
                raise ServerTimeout(f"the tmux server at {self.address.socket} does not answer")
            self._read()
        return self._blocks.popleft()

    def _loss(self) -> ChorusError:
        """Why the connection ended: with its server, or without (its session closed, it was detached)."""
        if answers(self.address):
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
            for item in self._parser.feed(chunk):
                match item:
                    case Block():
                        self._blocks.append(item)
                    case ControlEvent():
                        self._notices.append(item)


def moved_panes(notices: Sequence[ControlEvent]) -> set[PaneId]:
    """The panes whose content or mode changed, by these notices."""
    kinds = {"output", "extended-output", "pause", "pane-mode-changed"}
    return {PaneId(notice.words[0]) for notice in notices if notice.kind in kinds}
