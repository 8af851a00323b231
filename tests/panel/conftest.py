import time
from pathlib import Path

import pytest

from tests.panel.agent import ScriptedAgent
from tests.panel.story import scripted


@pytest.fixture
def agent(tmp_path: Path) -> ScriptedAgent:
    """Two sessions, three turns; nothing asked yet. Started by whoever needs it."""
    return scripted(tmp_path)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of day is told in the machine's own zone: here one that is the same everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
