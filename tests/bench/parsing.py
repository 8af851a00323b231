"""Read events from a 100 MB stream, compared with the fastest decoder on the same lines."""

import json
import time
from collections.abc import Callable

import orjson

from chorus.agents.claude_code.events import parse_event
from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.documents import SeenDocuments
from chorus.agents.interface import Source
from tests.agents.recordings import RECORDINGS

CHUNK = 64 * 1024  # one read of a pipe
ROUNDS = 3
# Events up to this size hold no file text: keys and numbers, the worst case for the cost per event.
SMALL_EVENT = 8 * 1024


def main() -> None:
    streams = sorted((RECORDINGS / "headless").glob("*.jsonl"))
    lines = [line for path in streams for line in path.read_bytes().split(b"\n") if line]
    _measure("as recorded", _repeat(lines, 100 * 10**6))
    _measure("small events", _repeat([line for line in lines if len(line) <= SMALL_EVENT], 20 * 10**6))


def _repeat(lines: list[bytes], size: int) -> bytes:
    once = b"".join(line + b"\r\n" for line in lines)
    return once * (size // len(once) + 1)


def _measure(name: str, stream: bytes) -> None:
    chunks = [stream[i : i + CHUNK] for i in range(0, len(stream), CHUNK)]
    variants: dict[str, Callable[[], int]] = {
        "orjson, line by line": lambda: sum(
            1 for line in stream.split(b"\r\n") if line and orjson.loads(line)
        ),
        "json, line by line": lambda: sum(1 for line in stream.split(b"\r\n") if line and json.loads(line)),
        "reassembly": lambda: _reassemble(chunks, unwrapped=True),
        "reassembly, maybe wrapped": lambda: _reassemble(chunks, unwrapped=False),
        "reassembly, catching up": lambda: _catch_up(chunks),
        "reassembly and events": lambda: _read_events(chunks),
    }
    best = dict.fromkeys(variants, float("inf"))
    events = 0
    for _ in range(ROUNDS):
        for variant, run in variants.items():
            start = time.process_time()
            events = run()
            best[variant] = min(best[variant], time.process_time() - start)
    floor = best["orjson, line by line"]
    title = f"{name}: {len(stream) / 1e6:.0f} MB, {len(stream) / events / 1e3:.1f} kB per event"
    print(f"  {title:42}{'× orjson':>9}{'MB/s':>7}{'events/s':>10}")
    for variant, seconds in best.items():
        speed = f"{len(stream) / seconds / 1e6:7.0f}{events / seconds:10.0f}"
        print(f"    {variant:40}{seconds / floor:9.2f}{speed}")


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
