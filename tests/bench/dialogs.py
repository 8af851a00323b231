"""The real client asks every kind of prompt at 80 to 300 columns; each is answered from the panel."""

import json
import os
import time

import pytest

SIZES = [(80, 40), (120, 40), (160, 50), (200, 24), (250, 50), (300, 50)]


def main() -> None:
    os.environ["TEST_PANE_SIZES"] = json.dumps(SIZES)
    started = time.monotonic()
    code = pytest.main(["-q", "-p", "no:xdist", "tests/e2e/test_wide_panes.py"])
    if code != 0:
        raise AssertionError(f"pytest ended with {code}")
    took = time.monotonic() - started
    print(f"{len(SIZES)} sizes in {took:.0f} s: every prompt answered from the panel, none by another key")
