import pytest

from chorus.changes.lost_names import MAX_BYTES, added_mentions, lost_names

KEPT = b"kept = 1\n"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (b"def parse(text):\n", {b"parse"}),
        (b"    async def parse(text):\n", {b"parse"}),
        (b"export const limit = 3;\n", {b"limit"}),
        (b"func (s *Server) Start() error {\n", {b"Start"}),
        (b"#define LIMIT 3\n", {b"LIMIT"}),
        (b"limit: int = 3\n", {b"limit"}),
        (b"limit := 3\n", {b"limit"}),
        (b"import json\n", {b"json"}),
        (b"from a.b import c as d, e\n", {b"c", b"d", b"e"}),
        (b"import { one } from 'two'\n", {b"one", b"two"}),
        (b"if limit == 3:\n", set()),
        (b"call(limit=3)\n", set()),
        (b"plain words, and important ones\n", set()),
    ],
)
def test_names_are_lost_with_the_lines_that_define_them(line: bytes, names: set[bytes]) -> None:
    assert lost_names(KEPT + line, KEPT) == names


def test_a_name_that_is_still_defined_is_not_lost() -> None:
    assert lost_names(b"def f(a, b):\n", b"def f(a):\n") == frozenset()
    assert lost_names(b"x = 1\nx = 2\n", b"x = 2\n") == frozenset()


def test_binary_and_very_large_files_are_not_looked_at() -> None:
    assert lost_names(b"x = 1\n\0", b"") == frozenset()
    assert lost_names(b"x = 1\n" + b"#" * MAX_BYTES, b"") == frozenset()


def test_mentions_are_whole_words_in_added_lines_that_are_still_there() -> None:
    names = {b"parse", b"limit", b"other"}
    before = b"old(other)\n"
    after = before + b"parse(1)\nparser(limits)\nlimit(2)\n"
    assert added_mentions(before, after, after, names) == [b"limit", b"parse"]
    assert added_mentions(before, after, b"parse(1)\n", names) == [b"parse"]
