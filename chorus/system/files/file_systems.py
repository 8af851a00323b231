"""Differences between file systems: the spelling of names, and changes by other machines."""

from pathlib import Path

from chorus.system.files.durable_writes import file_system_types
from chorus.system.this_system import IS_LINUX

# True if git converts the names that it reads from the disk to NFC, as its build for macOS does.
COMPOSES_NAMES = not IS_LINUX

# File systems to which other machines, or the host of a virtual machine, can write without an event here.
REMOTE_FILE_SYSTEMS = {
    "9p", "afpfs", "afs", "ceph", "cifs", "drvfs", "fakeowner", "fuse.grpcfuse", "fuse.rclone", "fuse.sshfs",
    "fuse.vmhgfs-fuse", "macfuse", "nfs", "nfs4", "osxfuse", "prl_fs", "smb2", "smb3", "smbfs", "vboxsf",
    "virtiofs", "vmhgfs", "webdav",
}  # fmt: skip


def is_remote(directory: Path) -> bool:
    """True if other machines may write to the directory's file system.

    This machine gets no event for such a write.
    """
    return bool(file_system_types(directory) & REMOTE_FILE_SYSTEMS)
