"""What an agent writes down for the next one."""

import json
from pathlib import Path

from chorus.model.session import SessionTable
from chorus.watcher.state.files import keep
from chorus.watcher.state.session_file import SessionFile


def test_a_full_disk_ends_no_loop_and_leaves_what_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    keep(path, ["earlier"])
    path.with_suffix(".tmp").symlink_to("/dev/full")
    SessionFile(path, SessionTable()).keep()
    assert json.loads(path.read_bytes()) == ["earlier"]


def test_nothing_is_written_where_chorus_was_taken_out(tmp_path: Path) -> None:
    keep(tmp_path / "gone" / "sessions.json", [])
    assert not (tmp_path / "gone").exists()
