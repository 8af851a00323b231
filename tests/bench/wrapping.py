"""Read one event wrapped at 80 columns, compared with the same event on one line, by size."""

import json
import time
from pathlib import Path

from chorus.agents.claude_code.terminal import Reassembler
from tests.agents.terminal.tmux_rows import capture

WIDTH = 80
SIZES = (200_000, 1_000_000, 5_000_000)
ROUNDS = 7
CHUNK = 64 * 1024
NON_ASCII = {
    "a few dashes": "    if found:  # the last one \u2014 or none\n        return found[0]\n" * 9,
    "half Chinese": "读取文件 then write it back\n把结果写入日志 and go on\n",
}


def main() -> None:
    print(f"  {'':10}{'one line':>10}{'wrapped':>10}{'ratio':>7}{'in chunks':>11}{'scanned':>10}")
    for size in SIZES:
        event = _event(size)
        shown = _wrap(event)
        # A row inside the event that ends in a brace looks like its last row, so the event is scanned.
        tricky = _wrap(event[:200] + b'}                    {"' * 3 + event[200:])
        line = event + b"\n"
        times = {"line": 1e9, "wrapped": 1e9, "chunks": 1e9, "scanned": 1e9}
        for _ in range(ROUNDS):
            times["line"] = min(times["line"], _time([line]))
            times["wrapped"] = min(times["wrapped"], _time([shown]))
            chunks = [shown[i : i + CHUNK] for i in range(0, len(shown), CHUNK)]
            times["chunks"] = min(times["chunks"], _time(chunks))
            times["scanned"] = min(times["scanned"], _time([tricky], expected=None))
        one = times["line"]
        print(
            f"  {size / 1e6:5.1f} MB  {one * 1e3:7.1f} ms{times['wrapped'] * 1e3:7.1f} ms"
            f"{times['wrapped'] / one:7.2f}{times['chunks'] / one:11.2f}{times['scanned'] / one:10.2f}"
        )
    for name, source in NON_ASCII.items():
        _compare_text(name, source)


def _compare_text(name: str, source: str) -> None:
    event = _event(SIZES[-1], source)
    shown = capture([event.decode()], WIDTH).encode()
    # A short row before a wide character is ambiguous: the event is read, but may not be returned.
    pairs = [(_time([event + b"\n"]), _time([shown], expected=None)) for _ in range(ROUNDS)]
    line, wrapped = map(min, zip(*pairs, strict=True))
    print(f"  {len(event) / 1e6:5.1f} MB, {name}: wrapped {wrapped / line:.2f} times one line")


def _source() -> str:
    return Path(json.__file__).with_name("decoder.py").read_text(encoding="utf-8")


def _event(size: int, source: str | None = None) -> bytes:
    """Return a call that writes source code, with indentation, quotes and braces, or another text."""
    source = source or _source()
    content = (source * (size // len(source.encode()) + 1))[:size]
    block = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": {"content": content}}
    event = {"type": "assistant", "message": {"content": [block]}, "uuid": "u"}
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


def _wrap(line: bytes) -> bytes:
    rows = (line[i : i + WIDTH].rstrip(b" ") for i in range(0, len(line), WIDTH))
    return b"".join(row + b"\n" for row in rows)


def _time(chunks: list[bytes], expected: int | None = 1) -> float:
    reassembler = Reassembler(width=WIDTH)
    start = time.process_time()
    documents = [document for chunk in chunks for document in reassembler.feed(chunk)] + reassembler.close()
    seconds = time.process_time() - start
    assert expected is None or len(documents) == expected
    return seconds
