"""The command that shows a desktop notification."""

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.desktop import desktop_command
else:
    from chorus.system.macos.desktop import desktop_command

__all__ = ["desktop_command"]
