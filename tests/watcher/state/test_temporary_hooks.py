import os
from pathlib import Path

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.claude_code.hooks.program import render_portable_hook_groups
from chorus.agents.claude_code.settings.files import install_hooks
from chorus.watcher.state.temporary_hooks import HookInstallation, TemporaryHooks

GROUPS = render_portable_hook_groups()


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    return tmp_path / "proj" / ".claude" / "settings.local.json"


@pytest.fixture
def temporary_hooks(tmp_path: Path) -> TemporaryHooks:
    return TemporaryHooks(tmp_path / "temporary-hooks.json")


def add(temporary_hooks: TemporaryHooks, settings: Path, client: str) -> None:
    backups = settings.parent.parent.parent / "backups"
    change = install_hooks(settings, GROUPS, backups=backups)
    temporary_hooks.add(HookInstallation(str(settings), str(backups), client), installed=change.changed)


def test_temporary_hooks_are_removed_after_their_last_client(
    temporary_hooks: TemporaryHooks, settings: Path
) -> None:
    add(temporary_hooks, settings, "1:a")
    add(temporary_hooks, settings, "2:b")
    temporary_hooks.remove_unused(lambda client: client == "2:b", AGENT.setup)
    assert settings.exists()
    temporary_hooks.remove_unused(lambda client: False, AGENT.setup)
    assert not settings.parent.exists()


def test_the_settings_of_a_young_client_are_touched_again(
    temporary_hooks: TemporaryHooks, settings: Path
) -> None:
    add(temporary_hooks, settings, "1:a")
    content, long_ago = settings.read_bytes(), 1_000_000
    os.utime(settings, (long_ago, long_ago))
    temporary_hooks.touch_settings(lambda client: False)
    assert settings.stat().st_mtime == long_ago
    temporary_hooks.touch_settings(lambda client: client == "1:a")
    assert settings.stat().st_mtime > long_ago
    assert settings.read_bytes() == content
    settings.unlink()
    temporary_hooks.touch_settings(lambda client: True)
    assert not settings.exists()


def test_the_users_own_hooks_are_kept(
    temporary_hooks: TemporaryHooks, settings: Path, tmp_path: Path
) -> None:
    install_hooks(settings, GROUPS, backups=tmp_path / "backups")
    before = settings.read_bytes()
    add(temporary_hooks, settings, "1:a")
    temporary_hooks.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_bytes() == before


def test_a_new_watcher_removes_the_hooks_a_killed_one_left(
    temporary_hooks: TemporaryHooks, settings: Path, tmp_path: Path
) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text('{\n   "mine": 1 }\n')
    add(temporary_hooks, settings, "1:a")
    fresh = TemporaryHooks(tmp_path / "temporary-hooks.json")
    fresh.load()
    fresh.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_text() == '{\n   "mine": 1 }\n'


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[1]", b'[{"settings": 1}]'])
def test_a_damaged_loan_file_counts_as_empty(temporary_hooks: TemporaryHooks, rubbish: bytes) -> None:
    temporary_hooks.path.write_bytes(rubbish)
    temporary_hooks.load()
    assert temporary_hooks.installations == []


def test_hooks_that_cannot_be_removed_now_are_removed_later(
    temporary_hooks: TemporaryHooks, settings: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add(temporary_hooks, settings, "1:a")
    with_hooks = settings.read_text()
    settings.write_text("{ not settings")
    for _ in range(3):
        temporary_hooks.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_text() == "{ not settings"
    assert len(caplog.records) == 1
    settings.write_text(with_hooks)
    next_watchers = TemporaryHooks(tmp_path / "temporary-hooks.json")
    next_watchers.load()
    next_watchers.remove_unused(lambda client: False, AGENT.setup)
    assert not settings.exists()
    assert next_watchers.installations == []
