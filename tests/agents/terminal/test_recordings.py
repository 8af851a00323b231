"""Every recorded stream, however it is cut and wrapped, gives the objects that are in it."""

import random
from collections.abc import Iterable
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.documents import SeenDocuments
from chorus.agents.interface import Document
from tests.agents.recordings import RECORDINGS
from tests.agents.terminal.replays import NAMES, WIDTHS, check_wrapped, size_of
from tests.agents.terminal.tmux_rows import capture

# Millions of times through the same lines, which the examples beside this file cover.
pytestmark = pytest.mark.no_cover
STREAMS = sorted(
    path
    for kind in ("headless", "control", "hooks", "transcripts", "2.1.325")
    for path in (RECORDINGS / kind).rglob("*.jsonl")
)
# Beyond this size a stream is tried at one width only, and cut into pieces of a few bytes.
LARGE = 500_000

each_stream = pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")


@cache
def lines_of(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n") if line]


def read(reassembler: Reassembler, chunks: Iterable[bytes]) -> list[Document]:
    documents = [document for chunk in chunks for document in reassembler.feed(chunk)]
    return documents + reassembler.close()


def texts(documents: Iterable[Document]) -> list[bytes]:
    return [document.text for document in documents]


@each_stream
def test_whole(path: Path) -> None:
    for reassembler in (Reassembler(), Reassembler(unwrapped=True), Reassembler(width=80)):
        assert texts(read(reassembler, [path.read_bytes()])) == lines_of(path)
        assert not +reassembler.problems


@each_stream
def test_byte_by_byte(path: Path) -> None:
    data = path.read_bytes()
    size = 1 if len(data) < LARGE else 5
    reassembler = Reassembler()
    assert texts(read(reassembler, (data[i : i + size] for i in range(0, len(data), size)))) == lines_of(path)
    assert not +reassembler.problems


@each_stream
def test_in_random_chunks_with_carriage_returns(path: Path) -> None:
    chance = random.Random(path.name)
    data = path.read_bytes().replace(b"\n", b"\r\n")
    cuts = sorted(chance.choices(range(len(data) + 1), k=min(len(data), 2000)))
    chunks = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    reassembler = Reassembler(unwrapped=True)
    assert texts(read(reassembler, chunks)) == lines_of(path)
    assert not +reassembler.problems


@each_stream
def test_twice_over_gives_everything_once(path: Path) -> None:
    """Caught up by a capture, then read on by a pipe that began in the middle of an event."""
    data = path.read_bytes()
    seen = SeenDocuments()
    given = [d for d in read(Reassembler(), [data[: len(data) * 2 // 3]]) if seen.is_new(d)]
    given += [d for d in read(Reassembler(unwrapped=True), [data[len(data) // 3 :]]) if seen.is_new(d)]
    given += [d for d in read(Reassembler(), [data]) if seen.is_new(d)]
    assert sorted(texts(given)) == sorted(set(lines_of(path)))


def widths_of(path: Path) -> list[int]:
    """A few widths for every stream; the small ones together have every width."""
    small = [stream for stream in STREAMS if 0 < stream.stat().st_size < LARGE]
    if path in small:
        return list(WIDTHS[small.index(path) :: len(small)])
    return [WIDTHS[STREAMS.index(path)]]


@each_stream
@pytest.mark.parametrize("keep_blanks", [False, True], ids=["plain", "blanks kept"])
def test_wrapped(path: Path, keep_blanks: bool) -> None:
    lines = [line.decode() for line in lines_of(path)]
    for width in widths_of(path):
        shown = capture(lines, width, keep_blanks=keep_blanks).encode()

        reassembler = Reassembler(width=width)
        given = texts(read(reassembler, [shown]))
        missing = without(lines_of(path), given)
        assert all(not line.isascii() for line in missing)
        assert +reassembler.problems == ({"ambiguous-wrap": len(missing)} if missing else {})

        if len(shown) > LARGE:
            continue
        everything = read(Reassembler(width=width, allow_inexact=True), [shown])
        assert [d.value.get("uuid") for d in everything] == [
            d.value.get("uuid") for d in read(Reassembler(), [path.read_bytes()])
        ]

        unknown = Reassembler()
        assert not without(texts(read(unknown, [shown])), lines_of(path))


def todays_widths(name: str) -> list[int]:
    """Two widths of the 281, others every day; `make bench` has every recording at every width."""
    first = date.today().toordinal() * 2 + NAMES.index(name) * 7
    return [WIDTHS[(first + i) % len(WIDTHS)] for i in range(1 if size_of(name) > LARGE else 2)]


@pytest.mark.parametrize("name", NAMES)
def test_a_wrapped_recording_gives_its_table(name: str) -> None:
    for width in todays_widths(name):
        check_wrapped(name, width)


def without(some: list[bytes], others: list[bytes]) -> list[bytes]:
    """What is in the one and not in the other, each as often as it is."""
    rest = list(some)
    for other in others:
        if other in rest:
            rest.remove(other)
    return rest
