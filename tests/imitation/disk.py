"""A disk as other systems have it, mounted here: a file system in memory, which the kernel asks through FUSE.

    python -m tests.imitation.disk DIRECTORY [OPTION...]

`folds`: upper and lower case are the same, and names keep the case they were made in (APFS, HFS+, NTFS).
`decomposes`: names are kept in NFD, and found in NFC too (HFS+).
`seconds`: times are whole seconds. `no-links`: no hard links. `no-locks`: no locks, as some network mounts.

Imitates names, times, links and locks. Does not imitate what a crash does, extended attributes, or speed. It
is unmounted when its standard input ends. Needs root and /dev/fuse, and no library.
"""

import ctypes
import errno
import itertools
import os
import select
import stat
import struct
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

OPTIONS = ("folds", "decomposes", "seconds", "no-links", "no-locks")
ROOT = 1
MAX_WRITE = 128 * 1024
MNT_DETACH = 2
# From <linux/fuse.h>, version 7.31.
HEADER = struct.Struct("=IIQQIIIHH")
REPLY = struct.Struct("=IiQ")
ENTRY = struct.Struct("=QQQQII")
ATTRIBUTES = struct.Struct("=QQQQQQIIIIIIIIII")
SET_ATTRIBUTES = struct.Struct("=IIQQQQQQIIIIIIII")
READ = struct.Struct("=QQIIQII")
SET_MODE, SET_UID, SET_GID, SET_SIZE, SET_ATIME, SET_MTIME = 1, 2, 4, 8, 16, 32
SET_ATIME_NOW, SET_MTIME_NOW = 128, 256
ASYNC_READ, POSIX_LOCKS, BIG_WRITES, FLOCK_LOCKS, AUTO_INVAL_DATA, MAX_PAGES = (
    1, 1 << 1, 1 << 5, 1 << 10, 1 << 12, 1 << 22,
)  # fmt: skip
NO_REPLACE, EXCHANGE = 1, 2
libc = ctypes.CDLL(None, use_errno=True)


def can_mount() -> bool:
    return os.geteuid() == 0 and Path("/dev/fuse").exists()


@contextmanager
def mounted(directory: Path, *options: str) -> Iterator[Path]:
    """Mount a disk with these options on a new directory, until the block ends."""
    directory.mkdir(parents=True)
    command = [sys.executable, "-m", "tests.imitation.disk", str(directory), *options]
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == b"mounted\n"
            yield directory
        finally:
            server.stdin.close()
            server.wait()


@dataclass(eq=False, slots=True)
class Node:
    number: int
    mode: int
    uid: int
    gid: int
    rdev: int = 0
    links: int = 1
    data: bytearray = field(default_factory=bytearray)  # of a file or a symbolic link
    entries: "dict[str, tuple[str, Node]]" = field(default_factory=dict)  # of a directory, by folded name
    atime: int = 0  # nanoseconds
    mtime: int = 0
    ctime: int = 0
    known: int = 0  # how often the kernel was told of it
    aliases: dict[str, int] = field(default_factory=dict)  # other spellings: the kernel takes each for a file


class Disk:
    """The files, and the answer to each request. A method named as the operation, with its node and body."""

    def __init__(self, options: Sequence[str]) -> None:
        self._folds = "folds" in options
        self._decomposes = "decomposes" in options
        self._granularity = 1_000_000_000 if "seconds" in options else 1
        self._links = "no-links" not in options
        self._locks = "no-locks" not in options
        self._numbers = itertools.count(ROOT)
        root = self._create(stat.S_IFDIR | 0o755, 0, 0)
        root.links = 2
        self._nodes = {ROOT: root}
        self._uid = self._gid = 0

    def answer(self, request: memoryview) -> bytes | None:
        """The reply to a request, without its header; None if there is none. Raises OSError to refuse."""
        _, opcode, _, number, self._uid, self._gid, *_ = HEADER.unpack_from(request)
        body = request[HEADER.size :]
        if opcode == FORGET:
            self._forget(number, *struct.unpack_from("=Q", body))
            return None
        if opcode == BATCH_FORGET:
            (count,) = struct.unpack_from("=I", body)
            for each in range(count):
                self._forget(*struct.unpack_from("=QQ", body, 8 + 16 * each))
            return None
        if opcode == INTERRUPT:
            return None
        if opcode == INIT:
            return self._init(body)
        operation = OPERATIONS.get(opcode)
        if operation is None:
            raise OSError(errno.ENOSYS, "no such operation")
        return operation(self, self._nodes[number], body)

    # names

    def _key(self, name: str) -> str:
        if self._decomposes:
            name = unicodedata.normalize("NFD", name)
        return name.casefold() if self._folds else name

    def _stored(self, name: str) -> str:
        return unicodedata.normalize("NFD", name) if self._decomposes else name

    def _find(self, parent: Node, name: str) -> Node:
        found = parent.entries.get(self._key(name))
        if found is None:
            raise OSError(errno.ENOENT, name)
        return found[1]

    def _id(self, parent: Node, name: str, node: Node) -> int:
        """The number by which the kernel knows the node by this name.

        Another spelling has another number: the kernel would not ask for a rename of a file to itself.
        """
        if parent.entries[self._key(name)][0] == name:
            return node.number
        if name not in node.aliases:
            node.aliases[name] = next(self._numbers)
            self._nodes[node.aliases[name]] = node
        return node.aliases[name]

    def _add(self, parent: Node, name: str, node: Node) -> None:
        if self._key(name) in parent.entries:
            raise OSError(errno.EEXIST, name)
        parent.entries[self._key(name)] = (self._stored(name), node)
        self._touch(parent)
        if stat.S_ISDIR(node.mode):
            parent.links += 1

    def _remove(self, parent: Node, name: str) -> Node:
        node = self._find(parent, name)
        del parent.entries[self._key(name)]
        self._touch(parent)
        node.ctime = self._now()
        node.links -= 1
        if stat.S_ISDIR(node.mode):
            parent.links -= 1
            node.links = 0
        self._drop_if_unused(node)
        return node

    # nodes

    def _now(self) -> int:
        now = time.time_ns()
        return now - now % self._granularity

    def _touch(self, node: Node) -> None:
        node.mtime = node.ctime = self._now()

    def _create(self, mode: int, uid: int, gid: int, rdev: int = 0) -> Node:
        now = self._now()
        return Node(next(self._numbers), mode, uid, gid, rdev, atime=now, mtime=now, ctime=now)

    def _make(self, parent: Node, name: str, mode: int, rdev: int = 0, data: bytes = b"") -> bytes:
        node = self._create(mode, self._uid, self._gid, rdev)
        node.data += data
        if stat.S_ISDIR(mode):
            node.links = 2
        self._add(parent, name, node)
        self._nodes[node.number] = node
        return self._entry(parent, name, node)

    def _forget(self, number: int, count: int) -> None:
        if node := self._nodes.get(number):
            node.known -= count
            self._drop_if_unused(node)

    def _drop_if_unused(self, node: Node) -> None:
        if node.links == 0 and node.known <= 0:
            for number in (node.number, *node.aliases.values()):
                self._nodes.pop(number, None)

    def _attributes(self, node: Node) -> bytes:
        size = len(node.data)
        times = [divmod(each, 1_000_000_000) for each in (node.atime, node.mtime, node.ctime)]
        return ATTRIBUTES.pack(
            node.number, size, (size + 511) // 512,
            *(seconds for seconds, _ in times), *(rest for _, rest in times),
            node.mode, node.links, node.uid, node.gid, node.rdev, 4096, 0,
        )  # fmt: skip

    def _entry(self, parent: Node, name: str, node: Node) -> bytes:
        node.known += 1
        return ENTRY.pack(self._id(parent, name, node), 0, 0, 0, 0, 0) + self._attributes(node)

    # operations

    def _init(self, body: memoryview) -> bytes:
        major, _, readahead, flags = struct.unpack_from("=IIII", body)
        wanted = ASYNC_READ | BIG_WRITES | AUTO_INVAL_DATA | MAX_PAGES
        if not self._locks:
            wanted |= POSIX_LOCKS | FLOCK_LOCKS
        head = struct.pack(
            "=IIIIHHII", major, 31, readahead, flags & wanted, 0, 0, MAX_WRITE, self._granularity
        )
        return head + struct.pack("=HHII6I", MAX_WRITE // 4096, 0, 0, 0, *[0] * 6)

    def lookup(self, parent: Node, body: memoryview) -> bytes:
        name = _name(body)
        return self._entry(parent, name, self._find(parent, name))

    def getattr(self, node: Node, _body: memoryview) -> bytes:
        return struct.pack("=QII", 0, 0, 0) + self._attributes(node)

    def setattr(self, node: Node, body: memoryview) -> bytes:
        valid, _, _, size, _, atime, mtime, _, atime_rest, mtime_rest, _, mode, _, uid, gid, _ = (
            SET_ATTRIBUTES.unpack_from(body)
        )
        now = self._now()
        if valid & SET_MODE:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        if valid & SET_UID:
            node.uid = uid
        if valid & SET_GID:
            node.gid = gid
        if valid & SET_SIZE:
            del node.data[size:]
            node.data.extend(bytes(size - len(node.data)))
            node.mtime = now
        if valid & SET_ATIME:
            node.atime = now if valid & SET_ATIME_NOW else self._rounded(atime, atime_rest)
        if valid & SET_MTIME:
            node.mtime = now if valid & SET_MTIME_NOW else self._rounded(mtime, mtime_rest)
        node.ctime = now
        return self.getattr(node, body)

    def _rounded(self, seconds: int, rest: int) -> int:
        return seconds * 1_000_000_000 + rest - rest % self._granularity

    def readlink(self, node: Node, _body: memoryview) -> bytes:
        return bytes(node.data)

    def symlink(self, parent: Node, body: memoryview) -> bytes:
        name, target = _names(body)
        return self._make(parent, name, stat.S_IFLNK | 0o777, data=os.fsencode(target))

    def mknod(self, parent: Node, body: memoryview) -> bytes:
        mode, rdev = struct.unpack_from("=II", body)
        return self._make(parent, _name(body[16:]), mode, rdev)

    def mkdir(self, parent: Node, body: memoryview) -> bytes:
        (mode,) = struct.unpack_from("=I", body)
        return self._make(parent, _name(body[8:]), stat.S_IFDIR | stat.S_IMODE(mode))

    def unlink(self, parent: Node, body: memoryview) -> bytes:
        self._remove(parent, _name(body))
        return b""

    def rmdir(self, parent: Node, body: memoryview) -> bytes:
        name = _name(body)
        if self._find(parent, name).entries:
            raise OSError(errno.ENOTEMPTY, name)
        self._remove(parent, name)
        return b""

    def rename(self, parent: Node, body: memoryview) -> bytes:
        (target,) = struct.unpack_from("=Q", body)
        old, new = _names(body[8:])
        return self._rename(parent, self._nodes[target], 0, old, new)

    def rename2(self, parent: Node, body: memoryview) -> bytes:
        target, flags = struct.unpack_from("=QI", body)
        old, new = _names(body[16:])
        return self._rename(parent, self._nodes[target], flags, old, new)

    def _rename(self, parent: Node, target: Node, flags: int, old: str, new: str) -> bytes:
        if flags & EXCHANGE:
            raise OSError(errno.EINVAL, "not here")
        node = self._find(parent, old)
        if _holds(node, target):
            raise OSError(errno.EINVAL, "a directory cannot be moved into itself")
        replaced = target.entries.get(self._key(new), (new, None))[1]
        if replaced is not None and replaced is not node:
            if flags & NO_REPLACE:
                raise OSError(errno.EEXIST, new)
            if replaced.entries:
                raise OSError(errno.ENOTEMPTY, new)
            self._remove(target, new)
        is_directory = stat.S_ISDIR(node.mode)
        del parent.entries[self._key(old)]
        parent.links -= is_directory
        if replaced is node and self._key(new) in target.entries:  # two hard links to one file
            del target.entries[self._key(new)]
            node.links -= 1
        self._add(target, new, node)
        self._touch(parent)
        node.aliases.clear()
        node.ctime = self._now()
        return b""

    def link(self, parent: Node, body: memoryview) -> bytes:
        if not self._links:
            raise OSError(errno.EPERM, "no hard links")
        (number,) = struct.unpack_from("=Q", body)
        name = _name(body[8:])
        node = self._nodes[number]
        self._add(parent, name, node)
        node.links += 1
        node.ctime = self._now()
        return self._entry(parent, name, node)

    def open(self, _node: Node, _body: memoryview) -> bytes:
        return struct.pack("=QII", 0, 0, 0)

    def create(self, parent: Node, body: memoryview) -> bytes:
        _, mode = struct.unpack_from("=II", body)
        return self._make(parent, _name(body[16:]), mode) + struct.pack("=QII", 0, 0, 0)

    def read(self, node: Node, body: memoryview) -> bytes:
        _, offset, size, *_ = READ.unpack_from(body)
        return bytes(node.data[offset : offset + size])

    def write(self, node: Node, body: memoryview) -> bytes:
        _, offset, size, _, _, flags, _ = READ.unpack_from(body)
        if flags & os.O_APPEND:
            offset = len(node.data)
        if offset > len(node.data):
            node.data.extend(bytes(offset - len(node.data)))
        node.data[offset : offset + size] = body[READ.size : READ.size + size]
        self._touch(node)
        return struct.pack("=II", size, 0)

    def statfs(self, _node: Node, _body: memoryview) -> bytes:
        return struct.pack("=QQQQQIIII6I", *[1 << 20] * 5, 4096, 255, 4096, 0, *[0] * 6)

    def readdir(self, node: Node, body: memoryview) -> bytes:
        _, offset, size, *_ = READ.unpack_from(body)
        names = [(".", node), ("..", node), *node.entries.values()]
        listed = bytearray()
        for number, (name, entry) in enumerate(names[offset:], offset + 1):
            data = os.fsencode(name)
            record = (
                struct.pack("=QQII", entry.number, number, len(data), stat.S_IFMT(entry.mode) >> 12) + data
            )
            record += bytes(-len(record) % 8)
            if len(listed) + len(record) > size:
                break
            listed += record
        return bytes(listed)

    def nothing(self, _node: Node, _body: memoryview) -> bytes:
        return b""

    def lock(self, _node: Node, _body: memoryview) -> bytes:
        raise OSError(errno.ENOLCK, "no locks")


FORGET, INIT, INTERRUPT, BATCH_FORGET = 2, 26, 36, 42
OPERATIONS: dict[int, Callable[[Disk, Node, memoryview], bytes]] = {
    1: Disk.lookup, 3: Disk.getattr, 4: Disk.setattr, 5: Disk.readlink, 6: Disk.symlink, 8: Disk.mknod,
    9: Disk.mkdir, 10: Disk.unlink, 11: Disk.rmdir, 12: Disk.rename, 13: Disk.link, 14: Disk.open,
    15: Disk.read, 16: Disk.write, 17: Disk.statfs, 18: Disk.nothing, 20: Disk.nothing, 25: Disk.nothing,
    27: Disk.open, 28: Disk.readdir, 29: Disk.nothing, 30: Disk.nothing, 31: Disk.lock, 32: Disk.lock,
    33: Disk.lock, 35: Disk.create, 45: Disk.rename2,
}  # fmt: skip


def _holds(directory: Node, node: Node) -> bool:
    return directory is node or any(_holds(each, node) for _, each in directory.entries.values())


def _names(body: memoryview) -> list[str]:
    return [os.fsdecode(name) for name in bytes(body).split(b"\0")[:-1]]


def _name(body: memoryview) -> str:
    (name,) = _names(body)
    return name


def serve(device: int, disk: Disk) -> None:
    """Answer the kernel until the disk is unmounted."""
    while True:
        try:
            request = memoryview(os.read(device, MAX_WRITE + 4096))
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):  # the request was interrupted
                continue
            return
        _, _, unique, *_ = HEADER.unpack_from(request)
        try:
            reply, failure = disk.answer(request), 0
        except OSError as error:
            reply, failure = b"", -(error.errno or errno.EIO)
        if reply is not None:
            try:
                os.write(device, REPLY.pack(REPLY.size + len(reply), failure, unique) + reply)
            except OSError as error:
                if error.errno != errno.ENOENT:  # interrupted
                    return


def mount(directory: str) -> int:
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    data = f"fd={device},rootmode=40000,user_id=0,group_id=0,default_permissions,allow_other"
    if libc.mount(b"imitation", os.fsencode(directory), b"fuse", 0, data.encode()):
        raise OSError(ctypes.get_errno(), f"cannot mount on {directory}")
    return device


def unmount(directory: str) -> None:
    """As `umount --lazy`, which needs /proc."""
    libc.umount2(os.fsencode(directory), MNT_DETACH)


def main(directory: str, *options: str) -> None:
    if unknown := set(options) - set(OPTIONS):
        raise SystemExit(f"no such option: {', '.join(sorted(unknown))}")
    device = mount(directory)
    server = threading.Thread(target=serve, args=(device, Disk(options)), daemon=True)
    server.start()
    sys.stdout.write("mounted\n")
    sys.stdout.flush()
    try:
        while select.select([0], [], [], None)[0] and os.read(0, 1):
            pass
    finally:
        unmount(directory)
        server.join(5)


if __name__ == "__main__":
    main(*sys.argv[1:])
