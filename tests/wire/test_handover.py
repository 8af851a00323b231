import os
import stat
import time
from pathlib import Path

import pytest

from chorus.wire.handover import STALE_SECONDS, handed_over, take_environment, write_environment
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


def test_a_program_that_cannot_be_started_leaves_no_environment_behind(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(RuntimeError), handed_over(home, {"API_KEY": "secret"}):
        raise RuntimeError("no tmux")
    assert list(home.root.iterdir()) == []


def test_an_environment_nobody_came_for_is_removed_by_the_next(tmp_path: Path) -> None:
    home = Home(tmp_path)
    forgotten, waiting = write_environment(home, {}), write_environment(home, {})
    long_ago = time.time() - STALE_SECONDS - 1
    os.utime(forgotten, (long_ago, long_ago))

    written = write_environment(home, {})

    assert set(home.root.iterdir()) == {waiting, written}
