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
def lending(tmp_path: Path) -> LentHooks:
    return LentHooks(tmp_path / "lent.json")


def lend(lending: LentHooks, settings: Path, client: str) -> None:
    backups = settings.parent.parent.parent / "backups"
    change = install_hooks(settings, GROUPS, backups=backups)
    lending.lend(HookLoan(str(settings), str(backups), client), installed=change.changed)


def test_hooks_go_when_the_last_client_they_were_lent_for_is_gone(lending: LentHooks, settings: Path) -> None:
    lend(lending, settings, "1:a")
    lend(lending, settings, "2:b")
    lending.remove_unused(lambda client: client == "2:b", AGENT.setup)
    assert settings.exists()
    lending.remove_unused(lambda client: False, AGENT.setup)
    assert not settings.parent.exists()


def test_a_client_that_has_only_just_started_is_shown_the_settings_again(
    lending: LentHooks, settings: Path
) -> None:
    lend(lending, settings, "1:a")
    content, long_ago = settings.read_bytes(), 1_000_000
    os.utime(settings, (long_ago, long_ago))
    lending.touch_settings(lambda client: False)
    assert settings.stat().st_mtime == long_ago
    lending.touch_settings(lambda client: client == "1:a")
    assert settings.stat().st_mtime > long_ago
    assert settings.read_bytes() == content
    settings.unlink()
    lending.touch_settings(lambda client: True)
    assert not settings.exists()


def test_the_persons_own_hooks_stay(lending: LentHooks, settings: Path, tmp_path: Path) -> None:
    install_hooks(settings, GROUPS, backups=tmp_path / "backups")
    before = settings.read_bytes()
    lend(lending, settings, "1:a")
    lending.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_bytes() == before


def test_a_new_watcher_takes_back_what_a_killed_one_lent(
    lending: LentHooks, settings: Path, tmp_path: Path
) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text('{\n   "mine": 1 }\n')
    lend(lending, settings, "1:a")
    fresh = LentHooks(tmp_path / "lent.json")
    fresh.load()
    fresh.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_text() == '{\n   "mine": 1 }\n'


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[1]", b'[{"settings": 1}]'])
def test_a_damaged_memory_means_that_nothing_is_lent(lending: LentHooks, rubbish: bytes) -> None:
    lending.path.write_bytes(rubbish)
    lending.load()
    assert lending.loans == []


def test_a_file_that_cannot_be_mended_is_left_alone(lending: LentHooks, settings: Path) -> None:
    lend(lending, settings, "1:a")
    settings.write_text("{ not settings")
    lending.remove_unused(lambda client: False, AGENT.setup)
    assert settings.read_text() == "{ not settings"
