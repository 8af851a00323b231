import time
from pathlib import Path

import pytest

from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import story_watcher


@pytest.fixture
def watcher(tmp_path: Path) -> ScriptedWatcher:
    """A watcher with two sessions and three turns, and no prompt. Not started."""
    return story_watcher(tmp_path)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The panel shows local times: make them the same everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
