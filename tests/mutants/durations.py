"""A pytest plugin that writes how long each test took, one JSON line each."""

import json
import os
from pathlib import Path

import pytest


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    place = os.environ.get("CHORUS_TEST_SECONDS")
    if place and report.when == "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(place).open("a") as file:
            file.write(json.dumps([report.nodeid, report.duration, report.outcome]) + "\n")
