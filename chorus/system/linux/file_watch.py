"""Start watching a work tree with inotify, through Chorus's own emitter."""

from watchdog.observers.api import BaseObserver

from chorus.system.file_watch.watch_target import WatchTarget
from chorus.system.linux.inotify import InotifyEmitter

# Events arrive in the order of the changes, so a barrier proves that all earlier events have been delivered.
KEEPS_ORDER = True


def start_observer(target: WatchTarget) -> BaseObserver:
    """Watch the work tree, and the directories in `target.flat` without their subdirectories.

    Raises OSError if the work tree cannot be watched.
    """
    observer = BaseObserver(
        InotifyEmitter, flat=target.flat, on_overflow=target.on_overflow, on_limit=target.on_limit
    )
    observer.start()
    try:
        observer.schedule(target.handler, target.root, recursive=True)
    except OSError:
        observer.stop()
        observer.join()
        raise
    return observer
