"""Each test of a character table starts with an empty one."""

import pytest

from chorus.text import sanitize, width


@pytest.fixture(autouse=True)
def _empty_character_tables() -> None:
    """A lookup by a property test does not count as covered: the next test must make it again."""
    sanitize._SYMBOLS.clear()
    width._WIDTHS.clear()
