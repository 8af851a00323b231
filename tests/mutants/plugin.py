"""A pytest plugin that writes the processor time of each test, and measures the processes that tests start.

Coverage starts in a Python process that has `COVERAGE_PROCESS_START` in its environment. It is set here, in
the process of the tests, and not for that process itself: there pytest-cov measures.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

SECONDS = "processor_seconds"
# What a second of waiting counts: by the clock, no test would seem quick on a busy machine.
CLOCK_SHARE = 0.1


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    os.environ["COVERAGE_PROCESS_START"] = os.environ["MUTANTS_PROCESS_SETTINGS"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    start = os.times()
    try:
        return (yield)
    finally:
        item.user_properties.append((SECONDS, sum(os.times()[:4]) - sum(start[:4])))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        found = [value for name, value in report.user_properties if name == SECONDS]
        seconds = CLOCK_SHARE * report.duration + sum(value for value in found if isinstance(value, float))
        with Path(os.environ["MUTANTS_TEST_SECONDS"]).open("a") as file:
            file.write(json.dumps([report.nodeid, seconds, report.outcome]) + "\n")
