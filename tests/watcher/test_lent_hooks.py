import os
from pathlib import Path

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.claude_code.hooks.program import render_portable_hook_groups
from chorus.agents.claude_code.settings.files import install_hooks
from chorus.watcher.state.lent_hooks import HookLoan, LentHooks

GROUPS = render_portable_hook_groups()


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    return tmp_path / "proj" / ".claude" / "settings.local.json"


@pytest.fixture
def lent_hooks(tmp_path: Path) -> LentHooks:
    return LentHooks(tmp_path / "lent.json")


def lend(lent_hooks: LentHooks, settings: Path, client: str) -> None:
    backups = settings.parent.parent.parent / "backups"
    change = install_hooks(settings, GROUPS, backups=backups)
    lent_hooks.lend(HookLoan(str(settings), str(backups), client), installed=change.changed)


def test_lent_hooks_are_removed_after_their_last_client(lent_hooks: LentHooks, settings: Path) -> None:
    lend(lent_hooks, settings, "1:a")
    lend(lent_hooks, settings, "2:b")
    lent_hooks.remove_unused(lambda client: client == "2:b", AGENT.setup)
    assert settings.exists()
    lent_hooks.remove_unused(lambda client: False, AGENT.setup)
    assert not settings.parent.exists()


def test_the_settings_of_a_young_client_are_touched_again(lent_hooks: LentHooks, settings: Path) -> None:
    lend(lent_hooks, settings, "1:a")
    content, long_ago = settings.read_bytes(), 1_000_000
    os.utime(settings, (long_ago, long_ago))
    lent_hooks.touch_settings(lambda client: False)
    assert settings.stat().st_mtime == long_ago
    lent_hooks.touch_settings(lambda client: client == "1:a")
    assert settings.stat().st_mtime > long_ago
    assert settings.read_bytes() == content
    settings.unlink()
    lent_hooks.touch_settings(lambda client: True)
    assert not settings.exists()


def test_the_users_own_hooks_are_kept(lent_hooks: LentHooks, settings: Path, tmp_path: Path) -> None:
    install_hooks(settings, GROUPS, backups=tmp_path / "backups")
    before = settings.read_bytes()
    lend(lent_hooks, settings, "1:a")
    lent_hooks.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_bytes() == before


def test_a_new_watcher_removes_the_hooks_a_killed_one_lent(
    lent_hooks: LentHooks, settings: Path, tmp_path: Path
) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text('{\n   "mine": 1 }\n')
    lend(lent_hooks, settings, "1:a")
    fresh = LentHooks(tmp_path / "lent.json")
    fresh.load()
    fresh.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_text() == '{\n   "mine": 1 }\n'


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[1]", b'[{"settings": 1}]'])
def test_a_damaged_loan_file_counts_as_empty(lent_hooks: LentHooks, rubbish: bytes) -> None:
    lent_hooks.path.write_bytes(rubbish)
    lent_hooks.load()
    assert lent_hooks.loans == []


def test_a_settings_file_that_cannot_be_changed_is_left_alone(lent_hooks: LentHooks, settings: Path) -> None:
    lend(lent_hooks, settings, "1:a")
    settings.write_text("{ not settings")
    lent_hooks.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_text() == "{ not settings"
