import asyncio
import gc
import os
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chorus.errors import ChorusError, ExitCode
from chorus.model.json_limit import MAX_COMMAS
from chorus.system.socket_path import short_path
from chorus.watcher.claim import listen
from chorus.watcher.server.server import Server, encode_quickly, loads_quickly
from chorus.wire.client import Connection, WatcherNotRunning, connect
from chorus.wire.home import Home
from chorus.wire.protocol import Request, WatcherError, decode, encode
from tests.waiting import wait_for


class Running:
    """A server on a thread of its own, with a handler that echoes, refuses or fails."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.server = Server(home, self._handle)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        self._ready.wait()

    async def _serve(self) -> None:
        self.loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        await self.server.open()
        self._ready.set()
        await self._stopping.wait()
        await self.server.close()

    async def _handle(self, request: Request) -> Any:
        match request.do:
            case "refuse":
                raise ChorusError("no", hint="Ask nicely.")
            case "fail":
                raise RuntimeError("a bug")
            case _:
                return request.arguments

    def publish(self, event: str, **fields: Any) -> None:
        message: Any = {"event": event, **fields}
        self.loop.call_soon_threadsafe(lambda: self.server.publish(message))

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    # Deeper than a socket address is long, as real checkouts can be.
    common = tmp_path / ("deep" * 20) / ("er" * 30) / ".git"
    home = Home(common)
    home.root.mkdir(parents=True)
    one = Running(home)
    yield one
    one.stop()


@pytest.fixture
def connection(running: Running) -> Iterator[Connection]:
    with connect(running.home) as one:
        yield one


def test_a_request_is_answered(connection: Connection) -> None:
    assert connection.request("echo", {"word": "hi"}) == {"word": "hi"}


def test_a_refusal_arrives_with_its_hint_and_exit_code(connection: Connection) -> None:
    with pytest.raises(WatcherError) as caught:
        connection.request("refuse", {})
    assert (str(caught.value), caught.value.hint) == ("no", "Ask nicely.")
    assert caught.value.exit_code is ExitCode.SYSTEM_ERROR


def test_a_bug_in_one_request_leaves_the_watcher_and_the_connection_alive(connection: Connection) -> None:
    with pytest.raises(WatcherError, match="a bug") as caught:
        connection.request("fail", {})
    assert caught.value.exit_code is ExitCode.BUG
    assert connection.request("echo", {}) == {}


@pytest.mark.parametrize("line", [b"nonsense\n", b"[]\n", b'{"v":99,"id":1,"do":"x"}\n', b'{"v":1}\n'])
def test_a_line_that_is_not_a_request_is_refused_and_the_next_one_served(
    running: Running, line: bytes
) -> None:
    with connect(running.home) as one:
        one._socket.sendall(line)
        assert b"error" in one._reader.readline()
        assert one.request("echo", {}) == {}


def test_subscribers_get_what_is_published(running: Running) -> None:
    with connect(running.home) as one, connect(running.home) as silent:
        one.ask("subscribe")
        silent.request("echo", {})
        running.publish("action", n=1)
        running.publish("action", n=2)
        events = one.events()
        assert [next(events)["n"], next(events)["n"]] == [1, 2]
        assert silent.request("echo", {}) == {}


def test_a_subscriber_that_does_not_read_is_disconnected(running: Running) -> None:
    with connect(running.home) as lazy:
        lazy.ask("subscribe")
        big = "x" * 2**20
        for _ in range(24):
            running.publish("action", text=big)
        wait_for(lambda: running.server.subscribers == 0)


def test_a_reader_of_events_ends_when_the_watcher_does(running: Running) -> None:
    with connect(running.home) as one:
        one.ask("subscribe")
        running.loop.call_soon_threadsafe(running.server.disconnect_all)
        assert list(one.events()) == []


def test_the_socket_is_for_its_owner_alone(running: Running) -> None:
    assert stat.S_IMODE(running.home.socket.stat().st_mode) == 0o600


def test_a_removed_socket_is_recreated_and_one_that_is_there_is_left_alone(
    running: Running, connection: Connection
) -> None:
    def check() -> int:
        asyncio.run_coroutine_threadsafe(running.server.reopen_if_gone(), running.loop).result()
        return running.home.socket.stat().st_ino

    first = check()
    assert check() == first
    running.home.socket.unlink()
    assert running.home.socket.exists() is False
    check()
    with connect(running.home) as another:
        assert another.request("echo", {"word": "new"}) == {"word": "new"}
    assert connection.request("echo", {"word": "old"}) == {"word": "old"}


def test_another_user_is_refused(running: Running) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else")
    code = running.home.root
    for directory in (code, *code.parents):
        if directory != Path("/tmp"):
            directory.chmod(directory.stat().st_mode | 0o011)
    running.home.socket.chmod(0o666)
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        try:
            os.chdir(code)
            one = socket.socket(socket.AF_UNIX)
            one.connect("watcher.sock")
            one.sendall(encode({"id": 1, "do": "echo"}))
            os._exit(0 if one.recv(100) == b"" else 1)
        except ConnectionError:
            os._exit(0)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_without_a_watcher_the_error_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.root.mkdir()
    with pytest.raises(WatcherNotRunning, match="no watcher is running"):
        connect(home)


@pytest.mark.parametrize("turns", range(8))
async def test_a_connection_that_comes_as_the_server_closes_is_not_left_open(
    tmp_path: Path, turns: int
) -> None:
    home = Home(tmp_path / ".git")
    home.root.mkdir(parents=True)

    async def answer(request: Request) -> Any:
        return request.arguments

    server = Server(home, answer)
    await server.open()
    with connect_socket(home) as client:
        for _ in range(turns):
            await asyncio.sleep(0)
        await server.close()
        gc.collect()  # what is left open complains here, and every warning is an error
        client.settimeout(30)
        with suppress(ConnectionResetError):  # it was never accepted
            assert await asyncio.to_thread(client.recv, 1) == b""


async def test_requests_sent_while_the_watcher_loads_are_handled_afterwards(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / ".git")
    home.root.mkdir(parents=True)
    handled: list[str] = []

    async def answer(request: Request) -> Any:
        handled.append(request.do)
        return "here"

    listener = listen(home)
    with connect(home) as leaving:
        leaving.send("watch", {"pane": "%1"})
    with connect(home) as staying:
        server = Server(home, answer, listener=listener)
        await server.open()
        assert await asyncio.to_thread(staying.request, "hello", {}) == "here"
    assert sorted(handled) == ["hello", "watch"]
    await server.close()


def connect_socket(home: Home) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with short_path(home.socket) as path:
        client.connect(path)
    return client


@pytest.mark.parametrize("value", ["plain", "naïve ✓", "not\udc80utf8", ["\u2028", "\n", "\0"]])
def test_any_text_survives_the_quick_encoding_and_decoding(value: object) -> None:
    line = encode_quickly({"id": 1, "answer": value})
    assert line.count(b"\n") == 1
    assert decode(line) == {"v": 1, "id": 1, "answer": value}
    assert loads_quickly(encode({"a": value})) == {"v": 1, "a": value}


def test_a_line_of_too_many_values_is_refused() -> None:
    with pytest.raises(ValueError, match="too many values"):
        loads_quickly(b"[" + b"0," * MAX_COMMAS + b"0, 0]")
