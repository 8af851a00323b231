"""A pytest plugin that writes how long each test took, and measures the processes that tests start.

Coverage starts in a Python process that has `COVERAGE_PROCESS_START` in its environment. It is set here, in
the process of the tests, and not for that process itself: there pytest-cov measures.
"""

import json
import os
from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    os.environ["COVERAGE_PROCESS_START"] = os.environ["MUTANTS_PROCESS_SETTINGS"]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(os.environ["MUTANTS_TEST_SECONDS"]).open("a") as file:
            file.write(json.dumps([report.nodeid, report.duration, report.outcome]) + "\n")
