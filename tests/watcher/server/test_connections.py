"""Single connections of the server, on the loop of the test: bad peers, the mod's requests, and the end."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from chorus.errors import ChorusError, ExitCode
from chorus.system.socket_path import short_path
from chorus.watcher.claim import listen
from chorus.watcher.server import server as server_module
from chorus.watcher.server.http_exchange import HttpRequest
from chorus.watcher.server.server import Server
from chorus.wire.home import Home
from chorus.wire.protocol import Request, encode

POST = b"POST /event HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s"


class Served:
    """A server whose handlers do as the request says, and the connections to it."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.go_on = asyncio.Event()
        self.handled: list[str] = []
        self.posted: list[tuple[HttpRequest, int | None]] = []
        self.server = Server(home, self.handle, self.handle_http)
        self.open_writers: list[asyncio.StreamWriter] = []

    async def handle(self, request: Request) -> object:
        self.handled.append(request.do)
        match request.do:
            case "wait":
                await self.go_on.wait()
            case "refuse":
                raise ChorusError("no", hint="Ask nicely.")
            case "fail":
                raise RuntimeError("a bug")
        return request.do

    async def handle_http(self, request: HttpRequest, pid: int | None) -> Mapping[str, object]:
        self.posted.append((request, pid))
        if len(self.posted) == 1:
            raise RuntimeError("a bug")
        return {"n": len(self.posted)}

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        with short_path(self.home.socket) as path:
            reader, writer = await asyncio.open_unix_connection(path)
        self.open_writers.append(writer)
        return reader, writer

    async def ask(self, line: bytes) -> dict[str, Any]:
        reader, writer = await self.connect()
        writer.write(line)
        return json.loads(await asyncio.wait_for(reader.readline(), 30))  # type: ignore[no-any-return]  # a test reads what it expects


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    """Fails if the loop hears of an exception that nobody caught."""
    monkeypatch.chdir(tmp_path)
    home = Home(Path("r"))
    home.root.mkdir(parents=True)
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
    served = Served(home)
    await served.server.open()
    yield served
    await served.server.close()
    for writer in served.open_writers:
        writer.close()
    await asyncio.sleep(0)
    assert problems == []


def request(do: str, id_: int = 1) -> bytes:
    return encode({"id": id_, "do": do})


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(), 30) == b""
    except ConnectionError:
        return True


async def test_each_answer_has_the_id_of_its_request(served: Served) -> None:
    assert await served.ask(request("x", 7)) == {"v": 1, "id": 7, "answer": "x"}
    refused = await served.ask(request("refuse", 8))
    assert (refused["id"], refused["error"]["message"]) == (8, "no")
    bug = await served.ask(request("fail", 9))
    assert bug["error"] == {
        "message": "RuntimeError: a bug",
        "hint": f"This is a bug; please report it with the watcher's log: {served.home.log}",
        "exit_code": ExitCode.BUG,
    }
    assert "answer" not in bug
    bad = await served.ask(b"nonsense\n")
    assert (bad["id"], "error" in bad) == (None, True)


async def test_only_a_subscriber_gets_events(served: Served) -> None:
    one, writer = await served.connect()
    other, silent = await served.connect()
    event: Any = {"event": "action"}
    served.server.publish(event)
    silent.write(request("x"))
    await other.readline()
    assert served.server.subscribers == 0
    writer.write(request("subscribe"))
    await one.readline()
    assert served.server.subscribers == 1
    served.server.publish(event)
    assert json.loads(await asyncio.wait_for(one.readline(), 30)) == {"v": 1, "event": "action"}
    writer.close()
    while served.server.subscribers:
        await asyncio.sleep(0.001)
    silent.write(request("x", 2))
    assert json.loads(await other.readline())["id"] == 2


async def test_a_subscriber_that_reads_stays_beside_one_that_does_not(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "MAX_BACKLOG_BYTES", 2**19)
    reader, writer = await served.connect()
    _, lazy = await served.connect()
    writer.write(request("subscribe"))
    lazy.write(request("subscribe"))
    lazy.transport.pause_reading()  # type: ignore[attr-defined]  # a transport that reads
    await reader.readline()
    while served.server.subscribers < 2:
        await asyncio.sleep(0.001)
    event: Any = {"event": "action", "text": "x" * 2**16}
    for _ in range(200):
        served.server.publish(event)
        await asyncio.wait_for(read_line(reader), 30)
        if served.server.subscribers == 1:
            break
    assert served.server.subscribers == 1
    served.server.publish(event)
    assert len(await asyncio.wait_for(read_line(reader), 30)) > 2**16


async def read_line(reader: asyncio.StreamReader) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += await reader.read(2**16)
    return line


async def test_requests_of_the_mod_are_handled_with_the_process_that_made_them(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = await served.connect()
    replies = []
    for body in (b'{"a":1}', b'{"b":2}'):
        writer.write(POST % (len(body), body))
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r")[0])
        replies.append(json.loads(await reader.readexactly(length)))
    assert replies == [{}, {"n": 2}]
    assert "a report of the mod failed" in caplog.text
    assert [pid for _, pid in served.posted] == [os.getpid()] * 2


async def test_what_is_not_a_whole_request_of_the_mod_ends_its_connection_only(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = await served.connect()
    writer.write(b"POST /event HTTP/1.1\r\nContent-Length: many\r\n\r\n")
    assert await is_closed(reader)
    assert "invalid request from the mod" in caplog.text
    assert served.posted == []
    assert (await served.ask(request("x")))["answer"] == "x"


async def test_without_a_handler_for_the_mod_its_request_is_a_bad_line(tmp_path: Path) -> None:
    home = Home(tmp_path / "r")
    home.root.mkdir(parents=True)
    served = Served(home)
    served.server = Server(home, served.handle)
    await served.server.open()
    assert "error" in await served.ask(b"POST /event HTTP/1.1\r\n")
    await served.server.close()
    served.open_writers[0].close()


async def test_a_line_that_is_too_long_ends_its_connection_quietly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server_module, "MAX_LINE_BYTES", 100)
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
    home = Home(tmp_path / "r")
    home.root.mkdir(parents=True)
    served = Served(home)
    await served.server.open()
    reader, writer = await served.connect()
    writer.write(b"x" * 500 + b"\n")
    assert await is_closed(reader)
    assert (await served.ask(request("x")))["answer"] == "x"
    await served.server.close()
    for each in served.open_writers:
        each.close()
    assert (problems, caplog.text) == ([], "")


async def test_a_peer_that_leaves_before_its_answer_disturbs_nobody(served: Served) -> None:
    client = socket.socket(socket.AF_UNIX)
    with short_path(served.home.socket) as path:
        client.connect(path)
    client.sendall(request("wait") + request("x") * 3)
    while not served.handled:
        await asyncio.sleep(0.001)
    client.close()
    served.go_on.set()
    while served.server._clients:
        await asyncio.sleep(0.001)
    assert served.server._serving == set()
    assert (await served.ask(request("y")))["answer"] == "y"


@pytest.mark.parametrize(("uid", "is_served"), [(os.getuid(), True), (None, True), (os.getuid() + 1, False)])
async def test_only_the_owner_is_served(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    uid: int | None,
    is_served: bool,
) -> None:
    monkeypatch.setattr(server_module, "read_peer", lambda connection: (1, uid))
    reader, writer = await served.connect()
    writer.write(request("x"))
    writer.write_eof()
    assert await is_closed(reader) is not is_served
    assert served.handled == (["x"] if is_served else [])
    assert ("refused a connection from another user" in caplog.text) is not is_served


async def test_the_end_waits_for_a_request_that_is_being_handled(served: Served) -> None:
    _, writer = await served.connect()
    writer.write(request("wait") + request("never"))
    while not served.handled:
        await asyncio.sleep(0.001)
    closing = asyncio.create_task(served.server.close())
    await asyncio.sleep(0.02)
    assert not closing.done()
    assert not served.home.socket.exists()
    served.go_on.set()
    await asyncio.wait_for(closing, 30)
    assert served.handled == ["wait"]


async def test_the_end_does_not_wait_long(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "CLOSE_TIMEOUT_SECONDS", 0.0)
    reader, writer = await served.connect()
    writer.write(request("wait"))
    while not served.handled:
        await asyncio.sleep(0.001)
    await asyncio.wait_for(served.server.close(), 30)
    assert await is_closed(reader)
    (task,) = served.server._serving
    task.cancel()  # as the end of the loop does
    await asyncio.wait([task])
    assert served.server._serving == set()
    assert not task.cancelled()


async def test_a_connection_that_is_cancelled_while_the_server_runs_says_so(served: Served) -> None:
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # asyncio reports it
    _, writer = await served.connect()
    writer.write(request("wait"))
    while not served.handled:
        await asyncio.sleep(0.001)
    (task,) = served.server._serving
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_the_socket_of_another_watcher_is_left_alone(served: Served) -> None:
    served.home.socket.unlink()
    served.home.socket.write_text("another's")
    await served.server.close()
    assert served.home.socket.read_text() == "another's"


async def test_a_socket_that_is_removed_just_before_the_end_is_no_failure(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.server, "_is_reachable", lambda: True)
    served.home.socket.unlink()
    await served.server.close()
    assert not served.home.socket.exists()


async def test_a_socket_removed_while_the_watcher_loads_is_recreated(tmp_path: Path) -> None:
    home = Home(tmp_path / "r")
    home.root.mkdir(parents=True)
    served = Served(home)
    await served.server.reopen_if_gone()  # not open yet: nothing is there to recreate
    assert not home.socket.exists()
    listener = listen(home)
    home.socket.unlink()
    server = served.server = Server(home, served.handle, listener=listener)
    await server.open()
    assert not home.socket.exists()
    await server.reopen_if_gone()
    assert (await served.ask(request("x")))["answer"] == "x"
    inode = home.socket.stat().st_ino
    await server.reopen_if_gone()
    assert home.socket.stat().st_ino == inode
    await server.close()
    served.open_writers[0].close()
