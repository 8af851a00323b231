"""What macOS does otherwise, with imitations of the calls that only macOS has."""

import asyncio
import errno
import fcntl
import os
import socket
import struct
from pathlib import Path
from typing import Any

import psutil
import pytest

from chorus.system.macos import disk
from chorus.system.macos.event_loop import create_event_loop
from chorus.system.macos.peer import LOCAL_PEERCRED, LOCAL_PEERPID, SOL_LOCAL, read_peer
from chorus.system.macos.socket_path import MAX_ADDRESS, short_path


class LocalSocket:
    """Answers `getsockopt` as <sys/un.h> of macOS describes it: a struct xucred, and a process id."""

    def __init__(self, pid: int, uid: int) -> None:
        groups = [20, 12] + [0] * 14
        self._options = {
            LOCAL_PEERCRED: struct.pack("=IIhxx16I", 0, uid, 2, *groups),
            LOCAL_PEERPID: struct.pack("=i", pid),
        }

    def getsockopt(self, level: int, option: int, size: int) -> bytes:
        assert level == SOL_LOCAL
        assert len(self._options[option]) == size
        return self._options[option]


def test_the_other_end_of_a_socket_is_known_by_local_credentials() -> None:
    connection: Any = LocalSocket(pid=4711, uid=501)
    assert read_peer(connection) == (4711, 501)


def test_a_system_without_local_credentials_says_nothing() -> None:
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert read_peer(here) in [(None, None), (os.getpid(), os.getuid())]


def test_a_short_path_of_a_socket_stays_as_it_is() -> None:
    with short_path(Path("/repo/.git/chorus/socket")) as name:
        assert name == "/repo/.git/chorus/socket"


def test_a_long_path_of_a_socket_is_reached_through_a_link(tmp_path: Path) -> None:
    directory = tmp_path / ("d" * 100) / ("e" * 100)
    directory.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        with short_path(directory / "socket") as name:
            assert len(os.fsencode(name)) <= MAX_ADDRESS
            listener.bind(name)
        assert not Path(name).parent.parent.exists()
        listener.listen()
        with short_path(directory / "socket") as name:
            client.connect(name)
    assert (directory / "socket").is_socket()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The calls that reach the disk, in order."""
    made: list[tuple[str, int]] = []
    names = {disk.F_FULLFSYNC: "full", disk.F_BARRIERFSYNC: "barrier"}
    monkeypatch.setattr(fcntl, "fcntl", lambda file, call: made.append((names[call], file)))
    monkeypatch.setattr(os, "fsync", lambda file: made.append(("fsync", file)))
    return made


def test_files_reach_the_disk_in_order_with_one_barrier(calls: list[tuple[str, int]]) -> None:
    for file in (7, 8, 9):
        disk.start_writing(file)
    disk.finish_writing([7, 8, 9])
    disk.finish_writing([])
    disk.sync_file(10)
    assert calls == [("fsync", 7), ("fsync", 8), ("fsync", 9), ("barrier", 9), ("full", 10)]


def test_a_file_system_without_these_calls_gets_an_fsync(
    calls: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_file: int, _call: int) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    disk.finish_writing([7, 8])
    disk.sync_file(9)
    assert calls == [("fsync", 8), ("fsync", 9)]


def test_a_failed_write_is_reported(calls: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "fcntl", fail)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        disk.finish_writing([7])
    assert calls == []


def test_the_type_of_a_file_system_is_found_by_its_mount(tmp_path: Path) -> None:
    if not any(mount.mountpoint == "/" for mount in psutil.disk_partitions(all=True)):
        pytest.skip("the mount of / is not listed here, as in a chroot")
    assert len(disk.file_system_types(tmp_path)) == 1
    assert disk.find_journaled_device(tmp_path) is None
    assert disk.is_in_memory(tmp_path) is False


def test_the_end_of_a_named_pipe_is_reported(tmp_path: Path) -> None:
    """As for the end of a pane. On a Mac neither kqueue nor `poll` would report it."""
    os.mkfifo(tmp_path / "fifo")

    async def read_to_the_end() -> bytes:
        loop, ended, read = asyncio.get_running_loop(), asyncio.Event(), bytearray()

        def readable() -> None:
            chunk = os.read(source, 100)
            read.extend(chunk)
            if chunk:
                os.close(sink)
            else:
                ended.set()

        loop.add_reader(source, readable)
        os.write(sink, b"text")
        await ended.wait()
        loop.remove_reader(source)
        return bytes(read)

    source = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    sink = os.open(tmp_path / "fifo", os.O_WRONLY)
    with asyncio.Runner(loop_factory=create_event_loop) as runner:
        assert runner.run(read_to_the_end()) == b"text"
    os.close(source)
