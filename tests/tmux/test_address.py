"""Which server a command line means."""

import os
import re
from pathlib import Path

import pytest

from chorus.errors import UsageError
from chorus.tmux import launch
from chorus.tmux.address import Address, UnsafeDirectory, list_addresses, make_directory, select_address
from chorus.tmux.errors import CannotStartServer
from chorus.tmux.launch import PanePlacement
from chorus.tmux.tmux_server import TmuxServer
from tests.lab.terminal import Terminal
from tests.tmux.conftest import Open

DIRECTORY = Path(f"/tmp/tmux-{os.getuid()}")


@pytest.mark.parametrize(
    ("environment", "name", "path", "expected"),
    [
        ({}, None, None, DIRECTORY / "default"),
        ({}, "work", None, DIRECTORY / "work"),
        ({"TMUX_TMPDIR": "/run"}, "work", None, Path(f"/run/tmux-{os.getuid()}/work")),
        ({"TMUX_TMPDIR": "/no/such/directory"}, "work", None, DIRECTORY / "work"),
        ({"TMUX": "/tmp/a,b/sock,123,0"}, None, None, Path("/tmp/a,b/sock")),
        ({"TMUX": "/tmp/sock,123,0"}, "work", None, DIRECTORY / "work"),
        ({"TMUX": "/tmp/sock,123,0"}, None, "/x/y", Path("/x/y")),
    ],
)
def test_options_take_precedence_over_the_environment(
    environment: dict[str, str], name: str | None, path: str | None, expected: Path
) -> None:
    assert select_address(environment, name=name, path=path) == Address(expected)


def test_a_server_is_the_same_by_every_path_to_its_socket(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")  # as /tmp on macOS
    named, told = Address(tmp_path / "link" / "socket"), Address(tmp_path / "real" / "socket")
    assert named == told
    assert {named: 1} == {told: 1}
    assert named.socket != told.socket
    assert named != Address(tmp_path / "socket")


def test_a_name_and_a_path_exclude_each_other() -> None:
    with pytest.raises(UsageError) as both:
        select_address({}, name="a", path="/b")
    assert both.value.hint == "Leave one out."
    with pytest.raises(UsageError):
        select_address({}, name="a/b", path=None)


def test_a_directory_writable_by_others_is_refused(tmp_path: Path) -> None:
    environment = {"TMUX_TMPDIR": str(tmp_path)}
    address = select_address(environment, name="work", path=None)
    directory = address.socket.parent
    directory.mkdir()
    directory.chmod(0o777)

    refused = pytest.raises(UnsafeDirectory, match=re.escape(str(directory)))
    with refused:
        make_directory(address)
    with refused:
        select_address(environment, name="work", path=None)
    with refused:
        select_address(environment, name=None, path=None)
    with refused:
        list_addresses(environment)
    assert select_address({**environment, "TMUX": "/x,1,0"}, name=None, path=None) == Address(Path("/x"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory to another user")
def test_a_directory_of_another_user_is_not_used(tmp_path: Path) -> None:
    environment = {"TMUX_TMPDIR": str(tmp_path)}
    directory = select_address(environment, name="work", path=None).socket.parent
    directory.mkdir(0o700)
    os.chown(directory, 65534, 65534)

    with pytest.raises(UnsafeDirectory):
        list_addresses(environment)
    with pytest.raises(UnsafeDirectory):
        select_address(environment, name="work", path=None)


def test_a_given_path_is_not_checked(short_directory: Path) -> None:
    address = select_address({}, name=None, path=str(short_directory / "missing" / "socket"))

    make_directory(address)

    assert list(short_directory.iterdir()) == []
    with pytest.raises(CannotStartServer, match=re.escape(str(address.socket))):
        launch.open_pane(TmuxServer(address), PanePlacement.SESSION, ["sleep", "9"], cwd=short_directory)


def test_only_servers_that_accept_connections_are_listed(terminal: Terminal, open_pane: Open) -> None:
    open_pane("cat")
    environment = {"TMUX_TMPDIR": os.environ.get("TMUX_TMPDIR", "")}
    assert Address(terminal.socket()) in list_addresses(environment)

    terminal.stop()

    assert Address(terminal.socket()) not in list_addresses(environment)
