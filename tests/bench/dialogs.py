"""The real client asks every kind of prompt at 80 to 300 columns; each is answered from the panel.

With its fullscreen renderer, which docks its diff from 144 columns, and with the older one.
"""

import json
import os
import time

import pytest

# Clients mostly wait, but each also draws: more at once on two processors, and answers come late.
JOBS = os.environ.get("CHORUS_BENCH_JOBS", "2")
WIDTHS = (80, 120, 160, 200, 250, 300)
SIZES = [
    *((width, height, "fullscreen") for width in WIDTHS for height in (24, 50)),
    *((width, 24 if width % 100 else 50, "classic") for width in WIDTHS),
]


def main() -> None:
    os.environ["TEST_PANE_SIZES"] = json.dumps(SIZES)
    started = time.monotonic()
    code = pytest.main(["-q", "-n", JOBS, "--maxschedchunk", "1", "tests/e2e/test_wide_panes.py"])
    if code != 0:
        raise AssertionError(f"pytest ended with {code}")
    took = time.monotonic() - started
    print(f"{len(SIZES)} sizes in {took:.0f} s: every prompt answered from the panel, none by another key")
