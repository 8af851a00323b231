"""Run what the policy allows of a million texts in bash, dash and zsh: no other program, no file."""

import os
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.shells import Counts, Scratch, is_allowed, scripts

TEXTS = int(os.environ.get("CHORUS_TEXTS", "1000000"))
CHUNK = 20_000
BATCH = 500


def main() -> None:
    os.nice(5)
    seed, started = time.time_ns(), time.monotonic()
    allowed, total, spent = 0, Counts(), 0.0
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        chunks = [(seed + number, CHUNK) for number in range(TEXTS // CHUNK)]
        for found, counts, seconds in pool.map(check_chunk, *zip(*chunks, strict=True)):
            allowed, spent = allowed + found, spent + seconds
            for mine, theirs in ((total.texts, counts.texts), (total.programs, counts.programs)):
                for shell, number in theirs.items():
                    mine[shell] = mine.get(shell, 0) + number
            print(f"  {allowed} allowed so far", file=sys.stderr, flush=True)
    print(f"{TEXTS} texts (seed {seed}), {allowed} of them allowed and run in each shell, no violation")
    for shell, number in total.texts.items():
        print(
            f"  {shell}: {number} texts started {total.programs[shell]} programs, all of them named by a rule"
        )
    print(f"one verdict takes {spent / TEXTS * 1e6:.0f} us; {time.monotonic() - started:.0f} s in all")


def check_chunk(seed: int, count: int) -> tuple[int, Counts, float]:
    """Generate, judge and run one part. Returns how many were allowed, what ran, the time for verdicts."""
    texts = list(scripts(random.Random(seed), count))
    started = time.perf_counter()
    allowed = list(dict.fromkeys(text for text in texts if is_allowed(text)))
    spent = time.perf_counter() - started
    counts = Counts()
    place = Path(tempfile.mkdtemp(prefix="chorus-shells-"))
    try:
        scratch = Scratch(place)
        for start in range(0, len(allowed), BATCH):
            scratch.check(allowed[start : start + BATCH], counts)
    finally:
        shutil.rmtree(place)
    return len(allowed), counts, spent
