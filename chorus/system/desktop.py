"""The command that shows a notification on the user's desktop, if there is a desktop."""

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.desktop import desktop_command
else:
    from chorus.system.macos.desktop import desktop_command

__all__ = ["desktop_command"]
