"""Everything a pane prints from now on, byte for byte, through a pipe of Chorus's own.

tmux has one pipe per pane and the last comer wins. So the pipe is opened only if there is none, in
one step with looking, and closed only while it is still ours.
"""

import os
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.errors import PaneGone, PipeTaken, ServerGone, TmuxRefused
from chorus.tmux.panes import history_of, read_history
from chorus.tmux.quoting import escape_format, quote, render_line
from chorus.tmux.tmux_server import Tmux

_TAKEN = "chorus-taken"
_READ_BYTES = 1 << 20
# A shell starts in a few milliseconds.
_START_SECONDS = 5.0


@dataclass(slots=True)
class PanePipe:
    """Readable like a file, without ever waiting. `before`: what the pane still held when it began."""

    pane: PaneId
    before: str
    _fifo: Path
    _descriptor: int
    _first: bytes = b""
    ended: bool = False

    def fileno(self) -> int:
        return self._descriptor

    def read(self) -> bytes:
        """What has come; b"" if nothing has. `ended` once the pane, or another pipe, put an end to it."""
        first, self._first = self._first, b""
        try:
            chunk = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return first
        self.ended = self.ended or not chunk
        return first + chunk

    def close(self, tmux: Tmux) -> None:
        """End our pipe; one that has taken its place stays.

        Ending only the program behind it would leave tmux with a dead pipe until the pane prints again.
        """
        while not self.ended and self.read():
            pass
        try:
            if not self.ended:
                tmux.run(["pipe-pane", "-t", self.pane])
        except (PaneGone, ServerGone):
            pass  # the pipe went with it
        os.close(self._descriptor)
        self._fifo.unlink(missing_ok=True)


def open_pipe(tmux: Tmux, pane: PaneId, fifo: Path) -> PanePipe:
    """Start piping the pane into `fifo`, which is made here. Raises PipeTaken if somebody pipes it already.

    What was printed before is read in the same step, so that nothing is missed and nothing doubled.
    A pipe that a watcher which has died left at `fifo` is taken up again; then `before` may repeat some
    of what follows.
    """
    left = _take_up(fifo)
    if left is not None:
        return PanePipe(pane, read_history(tmux, pane), fifo, *left)
    os.mkfifo(fifo, 0o600)
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        opening = render_line([["pipe-pane", "-O", "-t", pane, _render_writer(fifo)], history_of(pane)])
        taken = f"display-message -p {quote(_TAKEN)}"
        lines = tmux.run(["if-shell", "-F", "-t", pane, "#{pane_pipe}", taken, opening])
        if lines == [_TAKEN]:
            raise PipeTaken(pane)
        _wait_for_writer(fifo)
    except BaseException:
        os.close(descriptor)
        fifo.unlink()
        raise
    return PanePipe(pane, "".join(line + "\n" for line in lines), fifo, descriptor)


def _take_up(fifo: Path) -> tuple[int, bytes] | None:
    """A pipe whose writer still lives, with what had to be read to find out; else None and no fifo."""
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
    """The program tmux feeds. It leaves a note once it is connected."""
    path, note = shlex.quote(str(fifo)), shlex.quote(str(_note(fifo)))
    return escape_format(f"exec > {path}; echo > {note}; exec cat")


def _wait_for_writer(fifo: Path) -> None:
    """Until the writer has come, an empty read would look like the end."""
    note, deadline = _note(fifo), time.monotonic() + _START_SECONDS
    while not note.exists():
        if time.monotonic() > deadline:
            raise TmuxRefused(f"the pipe into {fifo} did not start")
        time.sleep(0.001)
    note.unlink()


def _note(fifo: Path) -> Path:
    return fifo.with_name(fifo.name + ".connected")
