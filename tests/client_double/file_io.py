"""Read and write files as the client does.

A write makes `<name>.tmp.<pid>.<12 hex>` beside the file and renames it: a new inode, the mode kept,
hard links broken, a symbolic link refused.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

NEW_FILE_MODE = 0o666


class RefusedSymlink(Exception):
    """The client writes to a file, never through a link."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file as text with plain newlines, and how to encode such text again."""

    text: str
    encoding: str
    crlf: bool

    def encode(self, text: str) -> bytes:
        if self.crlf:
            text = text.replace("\n", "\r\n")
        return text.encode(self.encoding)


def read_text(path: Path) -> Decoded | None:
    """The file's text; None if there is no file. Bytes that are not UTF-8 are lost, as in the client."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = data.decode(encoding, errors="replace")
    newlines = text.count("\n")
    # Only a file with CRLF throughout keeps it; a mixed one becomes LF at its first edit.
    crlf = newlines > 0 and text.count("\r\n") == newlines
    return Decoded(text.replace("\r\n", "\n"), encoding, crlf)


def write_bytes(path: Path, data: bytes) -> None:
    if path.is_symlink():
        raise RefusedSymlink(f"Refusing to write through symlink: {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp.{os.getpid()}.{os.urandom(6).hex()}")
    mode = _mode_of(path)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, NEW_FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    if mode is not None:
        temporary.chmod(mode)
    temporary.replace(path)


def _mode_of(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None
