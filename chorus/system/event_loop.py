"""The watcher's event loop. It must notice when the last writer of a named pipe is gone."""

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.event_loop import create_event_loop
else:
    from chorus.system.macos.event_loop import create_event_loop

__all__ = ["create_event_loop"]
