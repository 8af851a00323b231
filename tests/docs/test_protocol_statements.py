"""Each row of the tables of statements in docs/protocol.md names code and a test that exist."""

import re

import pytest

from tests.docs.shown import ROOT

PAGE = (ROOT / "docs" / "protocol.md").read_text()
SECTION = PAGE.partition("## What descriptions of the protocol say")[2].partition("\n## ")[0]
ROWS = [
    line for line in SECTION.splitlines() if line.startswith("| ") and not line.startswith("| statement |")
]
ADAPTER = ROOT / "chorus" / "agents" / "claude_code"


def find_test(name: str) -> int:
    """How many tests there are with this name: `test_file::name` or `folder/test_file::name`."""
    file, _, test = name.partition("::")
    found = [path for path in (ROOT / "tests").rglob(f"{file}.py") if path.is_file()]
    return sum(f"def test_{test}(" in path.read_text() for path in found)


def test_the_five_descriptions_are_there() -> None:
    assert SECTION.count("\n### ") == 5
    assert len(ROWS) > 120
    statements = [row.split(" | ")[0] for row in ROWS]
    assert len(set(statements)) == len(statements)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.sub(r"\W+", "-", row)[:60])
def test_a_statement_names_its_code_and_its_test(row: str) -> None:
    _, statement, handled, test, _ = (cell.strip() for cell in row.split("|"))
    assert statement
    assert find_test(test.strip("`")) == 1
    for path in re.findall(r"`([\w/]+\.py)`", handled):
        assert (ADAPTER / path).is_file() or (ROOT / "chorus" / path).is_file()
    assert handled.startswith(("`", "the client's"))


@pytest.mark.parametrize("name", ["test_turns::no_such_test", "no_such_file::a_name"])
def test_a_test_that_does_not_exist_is_noticed(name: str) -> None:
    assert find_test(name) == 0
