"""A call that ended and a prompt that still shows it."""

from typing import Any

import pytest

from chorus.agents.claude_code.dialogs.permission_requests import may_be_about
from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.model.prompt import Prompt
from tests.screens import screen_text, shipped_rules


def prompt(name: str) -> Prompt:
    found = read_screen(screen_text(f"screens/2.1.325/{name}.txt"), shipped_rules()).found
    assert isinstance(found, Prompt)
    return found


@pytest.mark.parametrize(
    ("name", "tool", "given", "expected"),
    [
        ("bashrm_80", "Bash", {"command": "rm -rf build"}, True),
        ("bashrm_80", "Bash", {"command": "rm -rf dist"}, False),
        ("bashrm_80", "Edit", {"file_path": "/p/app.py"}, False),
        ("edit_80", "Edit", {"file_path": "/src/proj/app.py"}, True),
        ("edit_80", "Edit", {"file_path": "/src/proj/other.py"}, False),
        ("edit_80", "Edit", {}, True),
        ("mcp_80", "mcp__any__thing", {}, True),
    ],
)
def test_only_a_call_the_dialog_could_be_about_resembles_it(
    name: str, tool: str, given: dict[str, Any], expected: bool
) -> None:
    assert may_be_about(prompt(name), tool, given) is expected
