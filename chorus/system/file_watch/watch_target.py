"""The directories to watch, and the handler of their events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from watchdog.events import FileSystemEventHandler


@dataclass(frozen=True, slots=True)
class WatchTarget:
    root: str  # the work tree, with everything below it
    git_dir: str
    flat: Sequence[str]  # the git directory and some directories in it, watched without their subdirectories
    handler: FileSystemEventHandler
    on_overflow: Callable[[], None]  # events were lost
    on_limit: Callable[[str], None]  # not everything can be watched, with the reason
