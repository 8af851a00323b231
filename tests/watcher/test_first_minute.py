"""Edits that follow at once after a session starts in a large repository keep their own change."""

from pathlib import Path

from tests.bench.first_minute import make_repository, measure

FILES = 5_000


def test_edits_and_commands_before_the_first_look_is_done_keep_their_changes(tmp_path: Path) -> None:
    make_repository(tmp_path / "proj", FILES)
    _, lost = measure(tmp_path / "proj")
    assert lost == []
