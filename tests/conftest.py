"""The seal: no test sees the machine it runs on, and none leaves a trace on it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.imitation import SOCKETS
from tests.repos import UserRepo, make_template

# A busy machine takes any time: no example fails because it was slow.
settings.register_profile("chorus", deadline=None)
settings.load_profile("chorus")

FIXED_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada User",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+00:00",
    "GIT_COMMITTER_NAME": "Ada User",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+00:00",
    "GIT_TERMINAL_PROMPT": "0",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-256color",
    "TZ": "UTC",
}
# `.ci/imitated` may ask for tests without a file watch.
FILE_WATCH = "\tfileWatch = poll\n" if os.environ.get("IMITATE_WATCH") == "poll" else ""
INHERITED = (
    "GIT_",
    "TMUX",
    "CLAUDE",
    "ANTHROPIC",
    "XDG_",
    "CHORUS_",
    "DISPLAY",
    "WAYLAND_",
    "DBUS_",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "NO_COLOR",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The core is covered by its examples, not by chance."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("no_cover")


DIED = pytest.StashKey[list[str]]()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker that dies says how at the end, where it is read: below zero the signal that ended it."""
    if error:
        code = node.gateway._io.wait()
        node.config.stash.setdefault(DIED, []).append(f"worker {node.gateway.id} ended with {code}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash.get(DIED, []):
        terminalreporter.write_line(line, red=True)


@pytest.fixture(autouse=True)
def sealed_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, a fixed identity and dates, nothing inherited that could steer a tool."""
    for name in list(os.environ):
        if name.startswith(INHERITED):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name, value in (FIXED_ENVIRONMENT | SOCKETS).items():
        monkeypatch.setenv(name, value)
    (home / ".gitconfig").write_text(
        "[init]\n\tdefaultBranch = main\n[user]\n\tname = Ada User\n\temail = ada@example.com\n"
        # Waiting for the disk proves nothing here; what it is for has a test of its own.
        "[chorus]\n\tdurable = false\n" + FILE_WATCH
    )
    return home


@pytest.fixture(scope="session")
def template_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once for all tests of a process, under the same seal."""
    home = tmp_path_factory.mktemp("template-home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(INHERITED):
                patch.delenv(name)
        for name, value in FIXED_ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setenv("HOME", str(home))
        return make_template(tmp_path_factory.mktemp("template") / "repo")


@pytest.fixture
def short_directory() -> Iterator[Path]:
    """For a socket that another program opens: TMPDIR may be too long for its address, as on macOS."""
    with tempfile.TemporaryDirectory(prefix="chorus-", dir="/tmp") as directory:
        yield Path(directory).resolve()


@pytest.fixture
def repo(template_repo: Path, tmp_path: Path) -> UserRepo:
    """A user's repository with history, a stash, and staged, unstaged and untracked work."""
    return UserRepo.copy(template_repo, tmp_path / "repo")
