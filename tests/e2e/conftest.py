"""Fixtures for end-to-end tests with the real client: project, home, scripted model, terminal."""

import functools
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.demo.model_server.server import ModelServer
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import Client, find_client, prepare_home, read_version
from tests.lab.client_behavior import NEWEST, ClientBehavior, behavior_of
from tests.lab.reading_model import ReadingModelServer
from tests.lab.terminal import Terminal, terminal_fixture


@functools.cache
def _binary() -> tuple[Path, str] | None:
    binary = find_client()
    return (binary, read_version(binary)) if binary else None


@pytest.fixture
def behavior() -> ClientBehavior:
    """The behavior of the client version under test."""
    found = _binary()
    return behavior_of(found[1]) if found else NEWEST


@pytest.fixture
def model_server(behavior: ClientBehavior) -> Iterator[ModelServer]:
    with ModelServer() if behavior.edits_unread_files else ReadingModelServer() as model_server:
        yield model_server


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit and one file, app.py."""
    project = tmp_path / "proj"
    project.mkdir()
    (project / "app.py").write_text("def old():\n    pass\n")
    for command in (["init", "-q"], ["add", "app.py"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    return project


@pytest.fixture
def client(
    model_server: ModelServer, project: Path, sealed_environment: Path, short_directory: Path
) -> Client:
    found = _binary()
    if found is None:
        pytest.skip("no Claude Code client: claude-agent-sdk ships none for this platform")
    binary, version = found
    prepare_home(sealed_environment, [project], version=version)
    client = Client(binary, sealed_environment, project, model_server)
    # The mod reaches a socket with a long path through a link here: short, as below a user's home.
    client.extra_environment["XDG_DATA_HOME"] = str(short_directory)
    return client


terminal = terminal_fixture()


@pytest.fixture
def watched(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    """A session of the client in a pane, and its watcher, which is stopped at the end."""
    yield WatchedSession(client, terminal)
    stop(find_home(client.project))
