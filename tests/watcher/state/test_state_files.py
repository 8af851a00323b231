"""What a watcher saves for the next one."""

import json
import resource
from pathlib import Path

from chorus.model.session import SessionTable
from chorus.watcher.state.files import SessionFile, save_json


def test_a_full_disk_raises_nothing_and_leaves_what_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    save_json(path, ["earlier"])
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, old[1]))  # as on a full disk, no byte can be written
    try:
        SessionFile(path, SessionTable()).save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert json.loads(path.read_bytes()) == ["earlier"]


def test_nothing_is_written_once_chorus_was_removed(tmp_path: Path) -> None:
    save_json(tmp_path / "gone" / "sessions.json", [])
    assert not (tmp_path / "gone").exists()
