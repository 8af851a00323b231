"""Events out of a 100 MB stream, against the fastest decoder reading the same lines."""

import json
import time
from collections.abc import Callable

import orjson

from chorus.agents.claude_code.events import parse_event
from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.documents import SeenDocuments
from chorus.agents.interface import Source
from tests.agents.recordings import RECORDINGS

CHUNK = 64 * 1024  # what one read of a pipe gives
ROUNDS = 3
# Events without the text of a file: all keys and numbers, the worst case for whatever is done per event.
SMALL = 8 * 1024


def main() -> None:
    streams = sorted((RECORDINGS / "headless").glob("*.jsonl"))
    lines = [line for path in streams for line in path.read_bytes().split(b"\n") if line]
    _measure("as recorded", _repeat(lines, 100 * 10**6))
    _measure("no files in it", _repeat([line for line in lines if len(line) <= SMALL], 20 * 10**6))


def _repeat(lines: list[bytes], size: int) -> bytes:
    once = b"".join(line + b"\r\n" for line in lines)
    return once * (size // len(once) + 1)


def _measure(name: str, stream: bytes) -> None:
    chunks = [stream[i : i + CHUNK] for i in range(0, len(stream), CHUNK)]
    ways: dict[str, Callable[[], int]] = {
        "orjson, on lines": lambda: sum(1 for line in stream.split(b"\r\n") if line and orjson.loads(line)),
        "json, on lines": lambda: sum(1 for line in stream.split(b"\r\n") if line and json.loads(line)),
        "reassembly": lambda: _reassemble(chunks, unwrapped=True),
        "reassembly, may be wrapped": lambda: _reassemble(chunks, unwrapped=False),
        "reassembly, catching up": lambda: _catch_up(chunks),
        "reassembly and events": lambda: _read_events(chunks),
    }
    best = dict.fromkeys(ways, float("inf"))
    events = 0
    for _ in range(ROUNDS):
        for way, run in ways.items():
            start = time.process_time()
            events = run()
            best[way] = min(best[way], time.process_time() - start)
    floor = best["orjson, on lines"]
    title = f"{name}: {len(stream) / 1e6:.0f} MB, {len(stream) / events / 1e3:.1f} kB an event"
    print(f"  {title:42}{'× orjson':>9}{'MB/s':>7}{'events/s':>10}")
    for way, seconds in best.items():
        speed = f"{len(stream) / seconds / 1e6:7.0f}{events / seconds:10.0f}"
        print(f"    {way:40}{seconds / floor:9.2f}{speed}")


def _reassemble(chunks: list[bytes], *, unwrapped: bool) -> int:
    reassembler = Reassembler(unwrapped=unwrapped)
    return sum(len(reassembler.feed(chunk)) for chunk in chunks) + len(reassembler.close())


def _catch_up(chunks: list[bytes]) -> int:
    reassembler, seen = Reassembler(unwrapped=True), SeenDocuments()
    count = 0
    for chunk in chunks:
        for document in reassembler.feed(chunk):
            seen.is_new(document)
            count += 1
    return count


def _read_events(chunks: list[bytes]) -> int:
    reassembler = Reassembler(unwrapped=True)
    count = 0
    for chunk in chunks:
        for document in reassembler.feed(chunk):
            parse_event(document.value, source=Source.STREAM)
            count += 1
    return count
