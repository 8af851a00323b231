"""The watcher as a process: its lock and its log."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.watcher import process
from chorus.watcher.process import OLD_LOG_FILES, open_log
from chorus.wire.home import Home

LINES = 400


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    home.root.mkdir()
    logger = logging.getLogger("chorus")
    before = logger.level, logger.propagate, list(logger.handlers)
    yield home
    for handler in set(logger.handlers) - set(before[2]):
        logger.removeHandler(handler)
        handler.close()
    logger.level, logger.propagate = before[:2]


def test_the_log_keeps_the_latest_lines_in_a_limited_number_of_files(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_LOG_BYTES", 2000)
    open_log(home)
    for number in range(LINES):
        logging.getLogger("chorus.watcher").info("line %d", number)

    files = sorted(home.root.glob("watcher.log*"))
    assert [file.name for file in files] == [
        "watcher.log",
        *(f"watcher.log.{n + 1}" for n in range(OLD_LOG_FILES)),
    ]
    assert all(file.stat().st_size <= 2000 for file in files)
    kept = "".join(file.read_text() for file in reversed(files)).splitlines()
    numbers = [int(line.rpartition(" ")[2]) for line in kept]
    assert numbers == list(range(LINES - len(kept), LINES))


def test_a_removed_log_is_recreated_and_an_unreachable_one_is_written_to(home: Home) -> None:
    open_log(home)
    log = logging.getLogger("chorus.watcher")
    log.info("one")
    home.log.unlink()
    log.info("two")
    assert home.log.read_text().endswith("INFO two\n")

    away = home.root.rename(home.root.with_name("away"))
    home.root.write_text("not a directory")
    log.info("three")
    assert (away / home.log.name).read_text().endswith("INFO three\n")


def test_files_of_an_earlier_version_are_removed(home: Home) -> None:
    home.spool.mkdir(parents=True)
    old = [
        home.root / "agent.lock",
        home.root / "agent.sock",
        home.root / "agent.log.1",
        home.spool / "agent",
    ]
    for path in old:
        path.write_text("")

    async def serve(_: asyncio.Event) -> bool:
        return False

    process.run_until_stopped(home, serve)
    assert not [path for path in old if path.exists()]
