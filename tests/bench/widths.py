"""Wrap every recording at every width from 20 to 300: it is always read the same."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

from tests.agents.terminal.replays import LARGE, NAMES, WIDTHS, check_wrapped, size_of

REPORT_SECONDS = 30


def main() -> None:
    start = reported = time.perf_counter()
    pairs = 0
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for width in pool.map(check_width, WIDTHS):
            pairs += len(NAMES)
            if time.perf_counter() - reported > REPORT_SECONDS:
                reported = time.perf_counter()
                print(f"  up to {width} columns", flush=True)
    print(f"  {len(NAMES)} recordings, {pairs} pairs, in {time.perf_counter() - start:.0f} s")


def check_width(width: int) -> int:
    for name in NAMES:
        check_wrapped(name, width)
        if size_of(name) < LARGE:
            check_wrapped(name, width, keep_blanks=True)
    return width
