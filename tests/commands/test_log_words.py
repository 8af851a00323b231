"""One line of the log says each thing once."""

from typing import Any

import pytest

from chorus.commands.log import _what

KNOWN: dict[str, Any] = {"tool": "Edit", "paths": ["src/app.py"], "added": 3, "removed": 1}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"summary": "Edit app.py: +3 \u22121"}, "src/app.py"),
        ({"summary": "Write app.py: new, +3 \u22121", "tool": "Write"}, "src/app.py: new"),
        ({"summary": "I raise x."}, "src/app.py: I raise x."),
        ({"summary": "I change src/app.py"}, "I change src/app.py"),
        ({"summary": "Edit app.py: String to replace not found"}, "src/app.py: String to replace not found"),
        ({"summary": "Bash: make (2 files)", "tool": "Bash", "paths": ["a", "b"]}, "a, b: make (2 files)"),
        ({"summary": "Bash: make", "tool": "Bash", "paths": []}, "make"),
        (
            {"summary": "outside: changed on disk (1 file)", "tool": None},
            "src/app.py: outside: changed on disk (1 file)",
        ),
    ],
)
def test_what_the_columns_say_is_not_said_again(entry: dict[str, Any], said: str) -> None:
    assert _what({**KNOWN, **entry}) == said
