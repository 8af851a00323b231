"""Typing and pairing events, against decoding them: recorded streams, made longer with new ids."""

import time
from collections.abc import Callable, Iterator

import orjson

from chorus.core.events import Source, parse_event
from chorus.core.pairing import Pairing
from chorus.core.reassembly import Reassembler
from tests.core.recordings import RECORDINGS

MEGABYTES = 100
ROUNDS = 3
CHUNK = 2**16  # what a pipe holds


def main() -> None:
    lines = list(_lines(MEGABYTES * 2**20))
    size = sum(map(len, lines))
    ways: dict[str, Callable[[list[bytes]], None]] = {
        "orjson alone": _decode,
        "+ typing": _type,
        "+ pairing": _pair,
        "from bytes: reassembly, typing, pairing": _whole,
    }
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):  # side by side: what else the machine does hits all alike
        for name, way in ways.items():
            start = time.process_time()
            way(lines)
            seconds[name] = min(seconds[name], time.process_time() - start)
    print(f"{size / 2**20:.0f} MB, {len(lines)} events of {size // len(lines)} bytes")
    for name, spent in seconds.items():
        per_event = spent / len(lines) * 1e6
        print(f"{name:40} {spent / seconds['orjson alone']:5.2f}   {per_event:6.1f} µs an event")


def _lines(size: int) -> Iterator[bytes]:
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


def _decode(lines: list[bytes]) -> None:
    for line in lines:
        orjson.loads(line)


def _type(lines: list[bytes]) -> None:
    for line in lines:
        parse_event(orjson.loads(line), source=Source.STREAM)


def _pair(lines: list[bytes]) -> None:
    pairing = Pairing()
    for line in lines:
        pairing.feed(parse_event(orjson.loads(line), source=Source.STREAM))


def _whole(lines: list[bytes]) -> None:
    reassembler, pairing, printed = Reassembler(), Pairing(), memoryview(b"".join(lines))
    for start in range(0, len(printed), CHUNK):
        for document in reassembler.feed(bytes(printed[start : start + CHUNK])):
            pairing.feed(parse_event(document.value, source=Source.STREAM))
