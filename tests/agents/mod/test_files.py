"""The user's copy of the mod, and when a client is started with it."""

import json
import os
from pathlib import Path

import pytest

from chorus.agents import load_agent
from chorus.agents.claude_code.mod.files import can_load_mod, copy_mod, reachable_path
from chorus.system.files.private_files import NotOwned

MODULE = Path("hooks") / "register.js"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path


def client(home: Path, version: str) -> str:
    program = home / "claude"
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    return str(program)


def test_the_copy_is_private_and_made_once(home: Path) -> None:
    copy = copy_mod({})
    assert (copy / MODULE).is_file()
    assert (copy / ".claude-plugin" / "plugin.json").is_file()
    assert (home / ".local" / "share" / "chorus" / "mod").stat().st_mode & 0o077 == 0
    (copy / "tsconfig.json").write_text("{}")  # as the client does
    assert copy_mod({}) == copy
    assert (copy / "tsconfig.json").exists()
    assert len(list(copy.parent.iterdir())) == 1


def test_a_damaged_copy_is_replaced(home: Path) -> None:
    copy = copy_mod({})
    (copy / MODULE).write_text("")
    assert copy_mod({}) == copy
    assert (copy / MODULE).read_text()


@pytest.mark.parametrize(
    ("version", "arguments", "loads"),
    [
        ("2.1.287", [], True),
        ("2.2.0", ["--model", "x"], True),
        ("2.1.286", [], False),
        ("nonsense", [], False),
        ("2.1.325", ["--bare"], False),
        ("2.1.325", ["--safe-mode"], False),
    ],
)
def test_a_client_loads_the_mod_by_its_version_and_arguments(
    home: Path, version: str, arguments: list[str], loads: bool
) -> None:
    assert can_load_mod(client(home, version), arguments, {}) is loads


def test_a_missing_client_loads_no_mod(home: Path) -> None:
    assert not can_load_mod(str(home / "none"), [], {})


@pytest.mark.parametrize(
    ("remembered", "loads"),
    [
        ({"cachedGrowthBookFeatures": {"tengu_plugin_hooks_modules": False}}, False),
        ({"cachedGrowthBookFeatures": {"tengu_plugin_hooks_modules": True}}, True),
        ({}, True),
        ([], True),
    ],
)
def test_the_clients_switch_for_mods_is_respected(home: Path, remembered: object, loads: bool) -> None:
    (home / ".claude.json").write_text(json.dumps(remembered))
    assert can_load_mod(client(home, "2.1.325"), [], {}) is loads


def test_a_long_socket_path_is_reached_through_a_link(
    short_directory: Path,
) -> None:
    assert reachable_path(Path("/s.sock"), {}) == Path("/s.sock")
    long = Path("/", "x" * 100, "watcher.sock")
    link = reachable_path(long, {"XDG_DATA_HOME": str(short_directory)})
    assert link is not None
    assert len(str(link)) < 100
    assert link.readlink() == long
    assert reachable_path(long, {"XDG_DATA_HOME": str(link.parents[2])}) == link
    link.unlink()
    assert reachable_path(long, {"XDG_DATA_HOME": "/" + "y" * 100}) is None


def test_a_client_is_started_with_the_mod_or_with_hooks(home: Path) -> None:
    setup, socket = load_agent().setup, Path("/s.sock")
    start = setup.watched_start(client(home, "2.1.325"), ["-c"], socket)
    assert start.arguments == ["--plugin-dir", str(copy_mod({})), "-c"]
    assert start.environment["CHORUS_SOCKET"] == "/s.sock"
    assert start.environment["CHORUS_HOOK"].endswith("chorus-hook")
    for older in (
        setup.watched_start(client(home, "2.1.191"), ["-c"], socket),
        setup.watched_start(client(home, "2.1.325"), ["-c"], socket, mod=False),
    ):
        assert older.arguments[0] == "--settings"
        assert older.environment == {}


@pytest.mark.parametrize("existing", [False, True])
def test_nobody_else_can_write_where_the_client_loads_the_mod_from(tmp_path: Path, existing: bool) -> None:
    data = tmp_path / "home" / "share"
    before = os.umask(0)
    try:
        if existing:  # by an older version
            (data / "chorus" / "mod").mkdir(parents=True)
        environment = {"XDG_DATA_HOME": str(data)}
        copy = copy_mod(environment)
        link = reachable_path(tmp_path / ("s" * 200), environment)
    finally:
        os.umask(before)
    assert copy.is_dir()
    places = [data / "chorus", data / "chorus" / "mod", copy]
    places += [link.parent] if link is not None else []
    assert [oct(place.stat().st_mode & 0o077) for place in places] == ["0o0"] * len(places)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory to another user")
def test_a_directory_of_another_user_is_not_used_for_the_mod(tmp_path: Path) -> None:
    (tmp_path / "chorus").mkdir()
    os.chown(tmp_path / "chorus", 65534, 65534)
    with pytest.raises(NotOwned):
        copy_mod({"XDG_DATA_HOME": str(tmp_path)})
