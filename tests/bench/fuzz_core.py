"""A million mutated inputs through reassembly, events and pairing: nothing raised or hung, memory bounded."""

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
LINES_IN_ONE = 4
LONGEST_LINE = 1500
# A pairing lives as long as a session; this many inputs are one.
SESSION = 1000
SLOWEST_SECONDS = 2.0
MEMORY_GROWTH_KB = 200_000
REPORT_SECONDS = 30
CAP = 64 * 1024


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
    assert grown < MEMORY_GROWTH_KB, f"grew by {grown} kB"
    print(
        f"  {len(batches) * BATCH} inputs in {time.perf_counter() - start:.0f} s, "
        f"{sum(batch.documents for batch in batches)} documents, "
        f"slowest {max(batch.slowest_seconds for batch in batches) * 1e3:.0f} ms, {grown} kB more at the end"
    )


def run_batch(seed: int) -> Batch:
    lines = _lines()
    chance = random.Random(seed)
    slowest, documents = 0.0, 0
    pairing = Pairing()
    for number in range(BATCH):
        if number % SESSION == 0:
            pairing = Pairing()
        data = _mutate(lines, chance)
        began = time.process_time()
        documents += _run(data, chance, pairing)
        seconds = time.process_time() - began
        assert seconds < SLOWEST_SECONDS, f"{seconds:.1f} s for {data!r}"
        slowest = max(slowest, seconds)
    return Batch(documents, slowest, _memory_kb())


def _memory_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@cache
def _lines() -> list[bytes]:
    """What was printed, drawn and asked, as far as it is short."""
    paths = [path for path in RECORDINGS.rglob("*") if path.is_file()]
    lines = {line for path in sorted(paths) for line in path.read_bytes().split(b"\n")}
    return sorted(line for line in lines if 0 < len(line) <= LONGEST_LINE)


def _mutate(lines: list[bytes], chance: random.Random) -> bytes:
    """A few lines, cut and spliced, some bits turned."""
    data = bytearray(b"\n".join(chance.choices(lines, k=chance.randint(1, LINES_IN_ONE))) + b"\n")
    for _ in range(chance.randint(0, 4)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(6):
            case 0 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case 1:
                del data[at : at + chance.randint(1, 200)]
            case 2:
                other = chance.choice(lines)
                begin = chance.randrange(len(other))
                data[at:at] = other[begin : begin + chance.randint(1, 300)]
            case 3:
                data[at:at] = chance.choice(
                    (b"\n", b"\r", b"\x1b", b'"', b"\\", b"{", b"}", b"\x1b]0;", b"\xff", b'{"')
                )
            case 4:
                del data[at:]
            case _:
                data[at:at] = data[max(0, at - 100) : at] * chance.randint(1, 3)
    return bytes(data)


def _run(data: bytes, chance: random.Random, pairing: Pairing) -> int:
    width = chance.choice((None, 20, 80, 237))
    if width is not None and chance.random() < 0.5:
        data = b"\n".join(
            line[i : i + width].rstrip(b" ")
            for line in data.split(b"\n")
            for i in range(0, max(1, len(line)), width)
        )
    reassembler = Reassembler(
        width=width,
        unwrapped=chance.random() < 0.5,
        allow_inexact=chance.random() < 0.5,
        max_size=chance.choice((CAP, 500)),
    )
    cut = chance.randrange(len(data) + 1)
    documents = reassembler.feed(data[:cut]) + reassembler.feed(data[cut:]) + reassembler.close()
    ControlMode().feed(data)
    for document in documents:
        pairing.feed(parse(document.value))
    return len(documents)
