"""The watcher's event loop, which must notice when a named pipe has lost its last writer."""

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.event_loop import create_event_loop
else:
    from chorus.system.macos.event_loop import create_event_loop

__all__ = ["create_event_loop"]
