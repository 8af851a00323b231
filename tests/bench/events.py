"""Parse and pair the events of a 100 MB stream, compared with only decoding them."""

import time
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO

import orjson

from chorus.agents.claude_code.events import parse_event
from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.interface import Source
from tests.agents.recordings import RECORDINGS

MEGABYTES = 100
ROUNDS = 5
CHUNK = 2**16  # what a pipe holds
SOURCE = Source.STREAM


def main() -> None:
    lines = list(_lines(MEGABYTES * 2**20))
    stream = b"".join(lines)
    chunks = [stream[start : start + CHUNK] for start in range(0, len(stream), CHUNK)]
    variants: dict[str, Callable[[], None]] = {
        "only orjson, line by line": lambda: _decode(lines),
        "only orjson, from bytes": lambda: _decode(BytesIO(stream)),
        "+ event types": lambda: _parse_lines(lines),
        "+ event types, pairing": lambda: _pair_lines(lines),
        "from bytes: reassembly, event types": lambda: _parse_chunks(chunks),
        "from bytes: reassembly, event types, pairing": lambda: _pair_chunks(chunks),
    }
    seconds = dict.fromkeys(variants, float("inf"))
    for _ in range(ROUNDS):  # interleaved, so that other load affects all alike
        for name, run in variants.items():
            start = time.process_time()
            run()
            seconds[name] = min(seconds[name], time.process_time() - start)
    print(f"  {len(stream) / 2**20:.0f} MB, {len(lines)} events of {len(stream) // len(lines)} bytes")
    floor = seconds["only orjson, line by line"]
    for name, spent in seconds.items():
        per_event = spent / len(lines) * 1e6
        print(f"  {name:44} {spent / floor:5.2f}   {per_event:6.1f} µs per event")


def _lines(size: int) -> Iterator[bytes]:
    """Yield the lines of the recorded streams again and again, with new ids."""
    recorded = [path.read_bytes() for path in sorted((RECORDINGS / "headless").glob("*.jsonl"))]
    made = number = 0
    while made < size:
        number += 1
        for stream in recorded:
            fresh = stream.replace(b"toolu_", b"toolu_%d_" % number).replace(
                b'"uuid":"', b'"uuid":"%d-' % number
            )
            for line in fresh.splitlines(keepends=True):
                made += len(line)
                yield line


def _decode(lines: Iterable[bytes]) -> None:
    for line in lines:
        orjson.loads(line)


def _parse_lines(lines: list[bytes]) -> None:
    for line in lines:
        parse_event(orjson.loads(line), source=SOURCE)


def _pair_lines(lines: list[bytes]) -> None:
    pairing = Pairing()
    for line in lines:
        pairing.feed(parse_event(orjson.loads(line), source=SOURCE))


def _parse_chunks(chunks: list[bytes]) -> None:
    reassembler = Reassembler(unwrapped=True)
    for chunk in chunks:
        for document in reassembler.feed(chunk):
            parse_event(document.value, source=SOURCE)


def _pair_chunks(chunks: list[bytes]) -> None:
    reassembler, pairing = Reassembler(unwrapped=True), Pairing()
    for chunk in chunks:
        for document in reassembler.feed(chunk):
            pairing.feed(parse_event(document.value, source=SOURCE))
