"""Feed a million mutated inputs to reassembly, events and pairing: no exception, no hang, bounded memory."""

import multiprocessing
import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.control_mode import ControlMode
from tests.agents.recordings import RECORDINGS, parse

INPUTS = 1_000_000
BATCH = 10_000
MAX_LINES_PER_INPUT = 4
MAX_LINE_LENGTH = 1500
# Inputs fed to one pairing, which lasts as long as a session.
INPUTS_PER_SESSION = 1000
MAX_SECONDS = 2.0
MAX_MEMORY_GROWTH_KB = 200_000
REPORT_SECONDS = 30
MAX_OBJECT_SIZE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Batch:
    documents: int
    slowest_seconds: float
    memory_kb: int


def main() -> None:
    start = reported = time.perf_counter()
    batches: list[Batch] = []
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for batch in pool.map(run_batch, range(INPUTS // BATCH)):
            batches.append(batch)
            if time.perf_counter() - reported > REPORT_SECONDS:
                reported = time.perf_counter()
                print(f"  {len(batches) * BATCH:>9} inputs", flush=True)
    settled = batches[len(batches) // 10].memory_kb
    grown = max(batch.memory_kb for batch in batches) - settled
    assert grown < MAX_MEMORY_GROWTH_KB, f"memory grew by {grown} kB"
    print(
        f"  {len(batches) * BATCH} inputs in {time.perf_counter() - start:.0f} s, "
        f"{sum(batch.documents for batch in batches)} documents, "
        f"slowest {max(batch.slowest_seconds for batch in batches) * 1e3:.0f} ms, memory grew by {grown} kB"
    )


def run_batch(seed: int) -> Batch:
    lines = _lines()
    rng = random.Random(seed)
    slowest, documents = 0.0, 0
    pairing = Pairing()
    for number in range(BATCH):
        if number % INPUTS_PER_SESSION == 0:
            pairing = Pairing()
        data = _mutate(lines, rng)
        started = time.process_time()
        documents += _run(data, rng, pairing)
        seconds = time.process_time() - started
        assert seconds < MAX_SECONDS, f"{seconds:.1f} s for {data!r}"
        slowest = max(slowest, seconds)
    return Batch(documents, slowest, _memory_kb())


def _memory_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@cache
def _lines() -> list[bytes]:
    """Return the short lines of all recordings."""
    paths = [path for path in RECORDINGS.rglob("*") if path.is_file()]
    lines = {line for path in sorted(paths) for line in path.read_bytes().split(b"\n")}
    return sorted(line for line in lines if 0 < len(line) <= MAX_LINE_LENGTH)


def _mutate(lines: list[bytes], rng: random.Random) -> bytes:
    """Return a few lines, cut and spliced, with some bits flipped."""
    data = bytearray(b"\n".join(rng.choices(lines, k=rng.randint(1, MAX_LINES_PER_INPUT))) + b"\n")
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + rng.randint(1, 200)]
            case 2:
                other = rng.choice(lines)
                begin = rng.randrange(len(other))
                data[at:at] = other[begin : begin + rng.randint(1, 300)]
            case 3:
                data[at:at] = rng.choice(
                    (b"\n", b"\r", b"\x1b", b'"', b"\\", b"{", b"}", b"\x1b]0;", b"\xff", b'{"')
                )
            case 4:
                del data[at:]
            case _:
                data[at:at] = data[max(0, at - 100) : at] * rng.randint(1, 3)
    return bytes(data)


def _run(data: bytes, rng: random.Random, pairing: Pairing) -> int:
    width = rng.choice((None, 20, 80, 237))
    if width is not None and rng.random() < 0.5:
        data = b"\n".join(
            line[i : i + width].rstrip(b" ")
            for line in data.split(b"\n")
            for i in range(0, max(1, len(line)), width)
        )
    reassembler = Reassembler(
        width=width,
        unwrapped=rng.random() < 0.5,
        allow_inexact=rng.random() < 0.5,
        max_size=rng.choice((MAX_OBJECT_SIZE, 500)),
    )
    cut = rng.randrange(len(data) + 1)
    documents = reassembler.feed(data[:cut]) + reassembler.feed(data[cut:]) + reassembler.close()
    ControlMode().feed(data)
    for document in documents:
        pairing.feed(parse(document.value))
    return len(documents)
