"""A pool of recorders for threads, which must not use the recorders of the event loop.

Reading a long history takes a while, so a returned recorder is kept for the next request.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.watcher.background_threads import run_in_thread

# Requests come in groups: a dry run, then the change itself.
KEEP_SECONDS = 30.0

Result = TypeVar("Result")


class _Kept(NamedTuple):
    recorder: Recorder
    place: tuple[int, int]  # identifies its work tree: another one may be at the same path by now
    since: float


class RecorderPool:
    """A thread-safe pool. Keeps at most one idle recorder per work tree."""

    def __init__(self) -> None:
        self._kept: dict[Path, _Kept] = {}
        self._lock = threading.Lock()
        self._closed = False

    async def use(self, work_tree: Path, work: Callable[[Recorder], Result]) -> Result:
        """Call a function in a thread, with a recorder of this work tree that no other thread uses."""
        return await self.use_all({"": work_tree}, lambda recorders: work(recorders[""]))

    async def use_all(
        self, work_trees: Mapping[str, Path], work: Callable[[Mapping[str, Recorder]], Result]
    ) -> Result:
        """Like `use`, with one recorder for each of several work trees, by name."""

        def borrow_and_work() -> Result:
            with ExitStack() as stack:
                return work(
                    {name: stack.enter_context(self.borrow(root)) for name, root in work_trees.items()}
                )

        try:
            return await run_in_thread(borrow_and_work)
        finally:
            asyncio.get_running_loop().call_later(KEEP_SECONDS, self.close_unused)

    @contextmanager
    def borrow(self, work_tree: Path) -> Iterator[Recorder]:
        """Yield a recorder of this work tree that no other caller uses: the idle recorder or a new one."""
        with self._lock:
            kept = self._kept.pop(work_tree, None)
        place = _place(work_tree)
        if kept is not None and kept.place != place:
            kept.recorder.close()
            kept = None
        recorder = kept.recorder if kept is not None else Recorder.open(work_tree)
        try:
            yield recorder
        except ChorusError:
            self._give_back(work_tree, recorder, place)  # the work was refused; the recorder is still good
            raise
        except BaseException:
            recorder.close()
            raise
        self._give_back(work_tree, recorder, place)

    def _give_back(self, work_tree: Path, recorder: Recorder, place: tuple[int, int]) -> None:
        with self._lock:
            spare = self._closed or work_tree in self._kept
            if not spare:
                self._kept[work_tree] = _Kept(recorder, place, time.monotonic())
        if spare:
            recorder.close()

    def close_unused(self, seconds: float = KEEP_SECONDS) -> None:
        """Close the recorders that nobody has borrowed for `seconds`."""
        now = time.monotonic()
        with self._lock:
            unused = {root: kept for root, kept in self._kept.items() if now - kept.since >= seconds}
            for root in unused:
                del self._kept[root]
        for kept in unused.values():
            kept.recorder.close()

    def close(self) -> None:
        self._closed = True
        self.close_unused(0.0)


def _place(work_tree: Path) -> tuple[int, int]:
    try:
        found = os.stat(work_tree / ".git")  # noqa: PTH116  with two values of it
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino
