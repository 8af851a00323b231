"""10,000 random histories of a user and two sessions: every line is where the reference has it."""

import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.history.line_model import Mismatch, make_line_template, play_history, scratch

# The first histories are those of the test suite. To play them in slices, name the first one of the slice.
HISTORIES = int(os.environ.get("CHORUS_LINE_HISTORIES", "10000"))
FIRST = int(os.environ.get("CHORUS_FIRST_LINE_HISTORY", "0"))
BATCH = 50


def main() -> None:
    started = time.perf_counter()
    failed: list[str] = []
    with (
        tempfile.TemporaryDirectory() as home,
        ProcessPoolExecutor(initializer=seal, initargs=(home,)) as pool,
    ):
        for number, wrong in enumerate(pool.map(play_batch, range(FIRST, FIRST + HISTORIES, BATCH)), 1):
            failed += wrong
            played = min(number * BATCH, HISTORIES)
            print(f"\r  {played:,} histories, {len(failed)} differ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    seconds = time.perf_counter() - started
    print(f"  {HISTORIES:,} histories: {len(failed)} differ from the reference ({seconds:.0f} s)")
    assert not failed, "\n".join(failed[:3])


def seal(home: str) -> None:
    """Give this process an identity of its own, and no waiting for the disk."""
    os.environ["HOME"] = home
    text = "[user]\n\tname = Ada User\n\temail = ada@example.com\n[chorus]\n\tdurable = false\n"
    (Path(home) / ".gitconfig").write_text(text)


def play_batch(first: int) -> list[str]:
    failed = []
    with scratch() as folder:
        template = make_line_template(folder / "template")
        for seed in range(first, min(first + BATCH, FIRST + HISTORIES)):
            try:
                play_history(template, seed)
            except Mismatch as mismatch:
                failed.append(f"history {seed}: {mismatch}")
    return failed
