"""Differences between file systems: how git spells names on them, and whether every change is reported."""

from pathlib import Path

from chorus.system.files.durable_writes import file_system_types
from chorus.system.this_system import IS_LINUX

# Whether git turns the names it reads from the disk into NFC, as its build for macOS does.
COMPOSES_NAMES = not IS_LINUX

# Other machines, or the host of a virtual machine, write here too, and no event says so.
REMOTE_FILE_SYSTEMS = {
    "9p", "afpfs", "afs", "ceph", "cifs", "drvfs", "fakeowner", "fuse.grpcfuse", "fuse.rclone", "fuse.sshfs",
    "fuse.vmhgfs-fuse", "macfuse", "nfs", "nfs4", "osxfuse", "prl_fs", "smb2", "smb3", "smbfs", "vboxsf",
    "virtiofs", "vmhgfs", "webdav",
}  # fmt: skip


def is_remote(directory: Path) -> bool:
    """Whether other machines may write to the file system without an event here."""
    return bool(file_system_types(directory) & REMOTE_FILE_SYSTEMS)
