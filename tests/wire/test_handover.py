import stat
from pathlib import Path

import pytest

from chorus.wire.handover import take_environment, write_environment
from chorus.wire.home import Home


def test_the_callers_environment_arrives_but_for_what_is_the_panes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"API_KEY": "a=b\nc", "TERM": "xterm", "TMUX": "/other", "ODD": "\udcff"}
    path = write_environment(Home(tmp_path), given)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setenv("TERM", "tmux-256color")
    monkeypatch.setenv("TMUX_PANE", "%1")
    taken = take_environment(path)
    assert (taken["API_KEY"], taken["ODD"]) == ("a=b\nc", "\udcff")
    assert (taken["TERM"], taken["TMUX_PANE"], taken.get("TMUX")) == ("tmux-256color", "%1", None)
    assert not path.exists()
