"""Where the merge decides, it decides as `git merge-file` does; elsewhere it is undecided."""

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.changes.merge import CONFLICT, MAX_LINE_BYTES, UNDECIDED, Merged, merge

COMMON = [b"\n", b"}\n", b"    return x\n", b"    end\r\n", b"x\n"]


def git_merge(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """What git makes of it: the bytes, or None for a conflict."""
    for name, content in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(content)
    command = ["git", "merge-file", "-p", "-q", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    return done.stdout if done.returncode == 0 else None


class Author:
    """Writes code-like files: some lines all alike, some of a kind."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.repeated = COMMON[: self.random.randrange(1, len(COMMON) + 1)]
        self.share_single = self.random.choice([0.0, 0.2, 0.5, 0.8, 1.0])

    def line(self) -> bytes:
        if self.random.random() < self.share_single:
            return b"u%d\n" % self.random.randrange(10**6)
        return self.random.choice(self.repeated)

    def file(self) -> list[bytes]:
        return [self.line() for _ in range(self.random.choice([0, 1, 3, 8, 20, 60, 200]))]

    def edited(self, lines: list[bytes]) -> list[bytes]:
        lines = list(lines)
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            at = self.random.randrange(len(lines) + 1)
            to = at + self.random.choice([1, 1, 2, 5])
            piece = lines[at:to]
            match self.random.choice(["insert", "delete", "replace", "double", "move"]):
                case "insert":
                    lines[at:at] = [self.line() for _ in piece or [b""]]
                case "delete":
                    del lines[at:to]
                case "replace":
                    lines[at:to] = [self.line() for _ in piece or [b""]]
                case "double":
                    lines[at:at] = piece
                case _:
                    del lines[at:to]
                    lines[:0] = piece
        return lines

    def content(self, lines: list[bytes]) -> bytes:
        content = b"".join(lines)
        return content.removesuffix(b"\n") if self.random.random() < 0.1 else content


@given(st.integers(0, 2**40))
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_decision_is_the_one_of_git(tmp_path: Path, seed: int) -> None:
    author = Author(seed)
    lines = author.file()
    base, ours, theirs = (
        author.content(side) for side in (lines, author.edited(lines), author.edited(lines))
    )
    decided = merge(base, ours, theirs)
    if isinstance(decided, Merged):
        assert decided.data == git_merge(tmp_path, base, ours, theirs)
    else:
        assert decided is UNDECIDED


def numbered(count: int = 100) -> list[bytes]:
    return [b"line %d\n" % i for i in range(count)]


def test_an_unchanged_side_takes_the_others_change() -> None:
    assert merge(b"a\n", b"a\n", b"b\n") == Merged(b"b\n")
    assert merge(b"a\n", b"b\n", b"a\n") == Merged(b"b\n")


def test_the_same_change_on_both_sides_is_made_once() -> None:
    assert merge(b"a\n", b"b\n", b"b\n") == Merged(b"b\n")


@pytest.mark.parametrize("swapped", [False, True])
def test_changes_far_apart_are_both_made(swapped: bool) -> None:
    base = numbered()
    ours, theirs = [b"new\n", *base], [*base[:-1], b"last, without a newline"]
    if swapped:
        ours, theirs = theirs, ours
    expected = b"".join([b"new\n", *base[:-1], b"last, without a newline"])
    assert merge(b"".join(base), b"".join(ours), b"".join(theirs)) == Merged(expected)


def test_alternating_changes_are_all_made(tmp_path: Path) -> None:
    base = numbered()
    ours = [*base[:10], b"ours\n", *base[11:90], b"ours too\n", *base[90:]]
    theirs = [*base[:50], b"theirs\n", *base[51:]]
    sides = b"".join(base), b"".join(ours), b"".join(theirs)
    decided = merge(*sides)
    assert isinstance(decided, Merged)
    assert decided.data == git_merge(tmp_path, *sides)


def test_changes_with_nothing_but_common_lines_between_them_count_as_one(tmp_path: Path) -> None:
    base = [*numbered(40), b"}\n", b"a\n", b"}\n", b"b\n", b"}\n", *numbered(99)[41:]]
    ours = [b"o\n" if line in (b"a\n", b"b\n") else line for line in base]
    theirs = [b"first\n", *base[1:-1], b"last\n"]
    sides = b"".join(base), b"".join(ours), b"".join(theirs)
    decided = merge(*sides)
    assert isinstance(decided, Merged)
    assert decided.data == git_merge(tmp_path, *sides)


def test_changes_in_one_line_are_not_decided() -> None:
    base = numbered()
    ours, theirs = [*base[:50], b"o\n", *base[51:]], [*base[:50], b"t\n", *base[51:]]
    assert merge(b"".join(base), b"".join(ours), b"".join(theirs)) is UNDECIDED


def test_neighbouring_changes_are_not_decided() -> None:
    base = numbered()
    ours, theirs = [*base[:50], b"o\n", *base[51:]], [*base[:51], b"t\n", *base[52:]]
    assert merge(b"".join(base), b"".join(ours), b"".join(theirs)) is UNDECIDED


def test_a_gap_of_lines_that_are_all_alike_is_not_decided() -> None:
    base = [b"}\n"] * 100
    ours, theirs = [b"o\n", *base], [*base, b"t\n"]
    assert merge(b"".join(base), b"".join(ours), b"".join(theirs)) is UNDECIDED


def test_too_many_changes_to_be_sure_are_not_decided() -> None:
    base = numbered(1000)
    ours = [b"new %d\n" % i if i % 3 == 0 else line for i, line in enumerate(base)]
    theirs = [*base[:500], b"theirs\n", *base[500:]]
    assert merge(b"".join(base), b"".join(ours), b"".join(theirs)) is UNDECIDED


def test_only_the_beginning_of_a_long_gap_is_searched() -> None:
    base = numbered(5000)
    ours, theirs = [b"o\n", *base], [*base, b"t\n"]
    assert merge(b"".join(base), b"".join(ours), b"".join(theirs)) == Merged(
        b"".join([b"o\n", *base, b"t\n"])
    )


def test_a_big_file_with_alternating_changes_is_left_to_git() -> None:
    base = numbered(MAX_LINE_BYTES // 8)
    ours, theirs = [b"o\n", *base, b"o\n"], [*base[:500], b"t\n", *base[500:]]
    assert merge(b"".join(base), b"".join(ours), b"".join(theirs)) is UNDECIDED


@pytest.mark.parametrize("nul", [0, 1, 2])
def test_binary_content_is_whole_or_nothing(nul: int) -> None:
    sides = [b"a\n" * 20, b"o\n" + b"a\n" * 20, b"a\n" * 20 + b"t\n"]
    sides[nul] += b"\0"
    assert merge(sides[0], sides[1], sides[2]) is CONFLICT


def test_a_line_that_occurs_once_is_no_proof_when_its_neighbourhood_moved(tmp_path: Path) -> None:
    """git matches the moved block, not the single lines beside it, so theirs lies in a change of ours."""
    head, moved = b"top\nreturn\nreturn\n\n\n", b"four\n}\nx\nfive\n"
    base = head + b"x\n}\none\nx\nx\ntwo\n}\nthree\n" + moved + b"\nreturn\n\n"
    ours = head + moved + b"}\nx\nfive\n\nreturn\n\nx\n}\none\nx\nx\ntwo\n}\nthree\n"
    theirs = base.replace(b"one\nx\nx\n", b"one\nx\nx\nx\n")
    assert git_merge(tmp_path, base, ours, theirs) is None
    assert merge(base, ours, theirs) is UNDECIDED
