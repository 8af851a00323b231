"""Several repositories of one user, each with a watcher: real, scripted, hung, or of another version."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chorus.system.files.private_files import make_private
from chorus.system.socket_path import short_path
from chorus.wire.home import Home
from chorus.wire.registry import register
from tests.panel.scripted_watcher import ScriptedWatcher, make_home


def registered_home(directory: Path) -> Home:
    """A repository without git's part, known to the inbox."""
    directory.mkdir(parents=True)
    home = make_home(directory)
    make_private(home.root)
    register(home)
    return home


@dataclass(slots=True)
class OddWatcher:
    """A socket that accepts connections and answers each line with what it is given; nothing: it hangs."""

    home: Home
    reply: Callable[[dict[str, object]], bytes] | None = None
    _listener: socket.socket = field(init=False)
    _taken: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        with short_path(self.home.socket) as path:
            self._listener.bind(path)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for stream in (self._listener, *self._taken):
            stream.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                stream, _ = self._listener.accept()
                self._taken.append(stream)
                if self.reply is not None:
                    threading.Thread(target=self._answer, args=(stream,), daemon=True).start()

    def _answer(self, stream: socket.socket) -> None:
        assert self.reply is not None
        with suppress(OSError), stream.makefile("rb") as lines:
            for line in lines:
                stream.sendall(self.reply(json.loads(line)))


@pytest.fixture
def odd_watcher(tmp_path: Path) -> Iterator[Callable[..., OddWatcher]]:
    made: list[OddWatcher] = []

    def make(name: str, reply: Callable[[dict[str, object]], bytes] | None = None) -> OddWatcher:
        made.append(OddWatcher(registered_home(tmp_path / name), reply))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Callable[[str], ScriptedWatcher]]:
    """Start a scripted watcher in a repository of this name."""
    made: list[ScriptedWatcher] = []

    def make(name: str) -> ScriptedWatcher:
        watcher = ScriptedWatcher(registered_home(tmp_path / name))
        made.append(watcher)
        watcher.start()
        return watcher

    yield make
    for watcher in made:
        watcher.stop()
