"""Each test of a character table starts with an empty one."""

import pytest

from chorus.agents.claude_code.terminal import cells


@pytest.fixture(autouse=True)
def _empty_character_table() -> None:
    """A lookup by a property test does not count as covered: the next test must make it again."""
    cells._WIDTHS.clear()
