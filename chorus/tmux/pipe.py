"""Read everything a pane prints, byte for byte, through a pipe.

tmux has one pipe per pane, and a new pipe replaces the old one. So Chorus opens a pipe only if the pane has
none, and closes only its own pipe.
"""

import os
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.errors import PaneGone, PipeTaken, ServerGone, ServerTimeout, TmuxRefused
from chorus.tmux.panes import history_command, read_history
from chorus.tmux.quoting import escape_format, quote, render_line
from chorus.tmux.tmux_server import Tmux

_TAKEN = "chorus-taken"
_READ_BYTES = 1 << 20
# A shell starts in a few milliseconds.
_START_TIMEOUT_SECONDS = 5.0


@dataclass(slots=True)
class PanePipe:
    """An open pipe, read without waiting. `before`: the pane's output from before the pipe was opened."""

    pane: PaneId
    server_pid: str
    before: str
    _fifo: Path
    _descriptor: int
    _first: bytes = b""
    ended: bool = False

    def fileno(self) -> int:
        return self._descriptor

    def read(self) -> bytes:
        """Return the new bytes, or b"". Set `ended` if the pane ended or another pipe replaced this one."""
        first, self._first = self._first, b""
        try:
            chunk = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return first
        self.ended = self.ended or not chunk
        return first + chunk

    def close(self, tmux: Tmux) -> None:
        """Close the pipe, unless another program's pipe has replaced it.

        Ending the program that tmux writes to is not enough: tmux would keep a dead pipe until the pane
        prints again.
        """
        while not self.ended and self.read():
            pass
        try:
            if not self.ended:
                # A new server at this address may have a pane with this id.
                same = f"#{{==:#{{pid}},{self.server_pid}}}"
                tmux.run(["if-shell", "-F", "-t", self.pane, same, f"pipe-pane -t {self.pane}"])
        except (PaneGone, ServerGone):
            pass  # the pipe is gone too
        except ServerTimeout:
            pass  # tmux closes the pipe when the pane prints again, because nothing reads it any more
        os.close(self._descriptor)
        self._fifo.unlink(missing_ok=True)


def open_pipe(tmux: Tmux, pane: PaneId, fifo: Path) -> PanePipe:
    """Pipe the pane into `fifo`, which is created. Raises PipeTaken if another program pipes the pane.

    Earlier output is read in the same command, so that nothing is missed or repeated. If a killed watcher
    left an open pipe at `fifo`, that pipe is used again, and some output may be read twice.
    """
    left = _reopen(fifo)
    server_pid = tmux.run(["display-message", "-p", "#{pid}"])[0]
    if left is not None:
        return PanePipe(pane, server_pid, read_history(tmux, pane), fifo, *left)
    os.mkfifo(fifo, 0o600)
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        opening = render_line([["pipe-pane", "-O", "-t", pane, _render_writer(fifo)], history_command(pane)])
        taken = f"display-message -p {quote(_TAKEN)}"
        lines = tmux.run(["if-shell", "-F", "-t", pane, "#{pane_pipe}", taken, opening])
        if lines == [_TAKEN]:
            raise PipeTaken(pane)
        _wait_for_writer(fifo)
    except BaseException:
        os.close(descriptor)
        fifo.unlink()
        raise
    return PanePipe(pane, server_pid, "".join(line + "\n" for line in lines), fifo, descriptor)


def _reopen(fifo: Path) -> tuple[int, bytes] | None:
    """If the fifo still has a writer, return a descriptor of the fifo and the byte that was read from it.

    Only reading shows whether there is a writer. The byte is b"" if nothing was written yet. Without a
    writer, remove the fifo and return None.
    """
    if not fifo.exists():
        return None
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = os.read(descriptor, 1)
    except BlockingIOError:
        return descriptor, b""
    if first:
        return descriptor, first
    os.close(descriptor)
    fifo.unlink()
    return None


def _render_writer(fifo: Path) -> str:
    """The shell command that copies the pane's output to the fifo.

    It creates the file that `_wait_for_writer` waits for.
    """
    path, connected = shlex.quote(str(fifo)), shlex.quote(str(_connected_file(fifo)))
    return escape_format(f"umask 077; exec > {path}; echo > {connected}; exec cat")


def _wait_for_writer(fifo: Path) -> None:
    """Wait until the writer has opened the fifo. Until then, a read would report the end of the pipe."""
    connected, deadline = _connected_file(fifo), time.monotonic() + _START_TIMEOUT_SECONDS
    while not connected.exists():
        if time.monotonic() > deadline:
            raise TmuxRefused(f"the pipe into {fifo} did not start", hint="Check the pane, then try again.")
        time.sleep(0.001)
    connected.unlink()


def _connected_file(fifo: Path) -> Path:
    return fifo.with_name(fifo.name + ".connected")
