"""Random histories of a user and two sessions, against a reference that knows the place of every line."""

import os
from pathlib import Path

import pytest

from tests.history.line_model import make_line_template, play_history

# Each prints what happened if it fails. `python -m tests.bench lines` plays 10,000.
HISTORIES = int(os.environ.get("CHORUS_LINE_HISTORIES", "240"))
BATCHES = 8


@pytest.mark.parametrize("batch", range(BATCHES))
def test_lanes_reverts_and_landings_hold_exactly_the_lines_they_should(batch: int, tmp_path: Path) -> None:
    template = make_line_template(tmp_path / "template")
    for seed in range(batch, HISTORIES, BATCHES):
        play_history(template, seed)
