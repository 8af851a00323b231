"""`chorus claude` outside tmux: a session named after the repository, with the way back after a detach."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.tmux.address import Address
from chorus.tmux.panes import read_panes
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.imitation import SOCKETS
from tests.lab.terminal import Pane, Terminal
from tests.repos import UserRepo
from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def project(template_repo: Path, tmp_path: Path) -> Iterator[Path]:
    root = UserRepo.copy(template_repo, tmp_path / "my.shop").path
    yield root
    stop(find_home(root))


def start(project: Path, outer: Terminal, inner: Terminal) -> Pane:
    client = project.parent / "client"
    client.write_text("#!/bin/sh\necho CLIENT\nexec cat\n")
    client.chmod(0o755)
    command = [sys.executable, "-P", "-m", "chorus", "claude", "-L", inner.name, "--client", str(client)]
    environment = {
        "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "TERM": "tmux-256color", "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT), **SOCKETS,
    }  # fmt: skip
    return outer.open(["sh", "-c", '"$@"; exec cat', "sh", *command], cwd=project, environment=environment)


@pytest.mark.parametrize(
    ("width", "height", "where"),
    [(200, 50, "right"), (100, 30, "below"), (80, 24, "window")],
)
def test_the_session_has_the_repositorys_name_and_the_panel_fits_its_size(
    project: Path, width: int, height: int, where: str
) -> None:
    with Terminal(width=width, height=height) as outer, Terminal() as inner:
        pane = start(project, outer, inner)
        if where == "window":
            pane.wait_for("CLIENT", seconds=30)
            wait_for(lambda: len(read_panes(TmuxServer(Address(inner.socket())))) == 2, seconds=30)
            pane.press("C-b", "1")
            pane.wait_for(r"(?s)no session yet.*0:\S+ 1:chorus\*", seconds=30)
        else:
            pane.wait_for("(?s)CLIENT.*no session yet", seconds=30)
        states = read_panes(TmuxServer(Address(inner.socket())))
        client, panel = sorted(states, key=lambda state: state.id)
        assert {state.session for state in states} == {client.session}
        assert inner.tmux("list-sessions", "-F", "#{session_name}").split() == ["my-shop"]
        assert (panel.width == client.width) is (where != "right")
        assert (panel.window == client.window) is (where != "window")

        inner.tmux("detach-client", "-s", "my-shop")
        back = pane.wait_for(r"(?s)Return with: tmux -L .+?\s+attach\s+-t\s+my-shop", seconds=30)
        assert "still running" in back
        inner.tmux("kill-server")
        wait_for(lambda: not inner.tmux("list-sessions", check=False))
