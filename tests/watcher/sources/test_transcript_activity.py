"""When transcripts are read: after a change where directories are watched, else at intervals."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.system.this_system import IS_LINUX
from chorus.watcher.sources.transcript_activity import QUIET_SECONDS, TranscriptActivity

NEVER = 3600.0
SOON = 30.0

needs_inotify = pytest.mark.skipif(not IS_LINUX, reason="directories are watched on Linux only")


@pytest.fixture
def activity() -> Iterator[TranscriptActivity]:
    made = TranscriptActivity()
    yield made
    made.close()


async def is_read_soon(activity: TranscriptActivity) -> bool:
    try:
        await asyncio.wait_for(activity.wait(NEVER), SOON)
    except TimeoutError:
        return False
    return True


@needs_inotify
@pytest.mark.parametrize("name", ["s.jsonl", "s/subagents/agent-1.jsonl"])
async def test_a_file_that_grows_is_read_soon(
    activity: TranscriptActivity, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    activity.watch([tmp_path, tmp_path / "s" / "subagents"])
    assert activity.is_watching
    with path.open("a") as file:
        file.write("{}\n")
    assert await is_read_soon(activity)


@needs_inotify
async def test_a_directory_that_appears_later_is_watched(
    activity: TranscriptActivity, tmp_path: Path
) -> None:
    directory = tmp_path / "projects" / "here" / "s" / "subagents"
    for made in (*reversed(directory.parents[:3]), directory, directory / "agent-1.jsonl"):
        activity.watch([directory])
        made.touch() if made.suffix else made.mkdir()
        assert await is_read_soon(activity)


@needs_inotify
async def test_a_write_before_the_files_are_read_wakes_nobody(
    activity: TranscriptActivity, tmp_path: Path
) -> None:
    activity.watch([tmp_path])
    (tmp_path / "s.jsonl").write_text("{}\n")
    activity.watch([tmp_path])
    started = time.monotonic()
    await activity.wait(0.3)
    assert time.monotonic() - started >= 0.3


async def test_a_new_file_is_read_soon(activity: TranscriptActivity, tmp_path: Path) -> None:
    activity.watch([tmp_path])
    activity.note_file()
    assert await is_read_soon(activity)


async def test_without_a_watch_files_are_read_at_intervals(
    activity: TranscriptActivity, tmp_path: Path
) -> None:
    activity.close()
    activity._active_at = time.monotonic() - QUIET_SECONDS
    activity.watch([tmp_path])
    assert not activity.is_watching
    started = time.monotonic()
    await activity.wait(NEVER)
    quiet = time.monotonic() - started
    assert quiet >= 0.99
    activity.note()
    started = time.monotonic()
    await activity.wait(NEVER)
    assert time.monotonic() - started < quiet
