"""The lines of `chorus log`."""

from typing import Any, cast

import pytest

from chorus.commands.log import describe, render
from chorus.model.api.json_api import LogEntryJson

KNOWN: dict[str, Any] = {"tool": "Edit", "paths": ["src/app.py"], "added": 3, "removed": 1}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"summary": "Edit app.py: +3 \u22121"}, "src/app.py"),
        ({"summary": "Write app.py: new, +3 \u22121", "tool": "Write"}, "src/app.py: new"),
        ({"summary": "Revert 2: I raise x.", "tool": "Revert"}, "src/app.py: Revert 2: I raise x."),
        ({"summary": "I raise x."}, "src/app.py: I raise x."),
        ({"summary": "Edit the total"}, "src/app.py: Edit the total"),
        ({"summary": "Write it", "tool": "Write"}, "src/app.py: Write it"),
        ({"summary": "Edit app.py to round"}, "src/app.py: Edit app.py to round"),
        ({"summary": "Edit app.py", "added": None}, "src/app.py"),
        ({"summary": "I change src/app.py"}, "I change src/app.py"),
        ({"summary": "Edit app.py: String to replace not found"}, "src/app.py: String to replace not found"),
        ({"summary": "Bash: make (2 files)", "tool": "Bash", "paths": ["a", "b"]}, "a, b: make (2 files)"),
        ({"summary": "Bash: make", "tool": "Bash", "paths": []}, "make"),
        ({"summary": "I make all.", "paths": [], "files": 2000}, "2000 files: I make all."),
        (
            {"summary": "Bash: make (2000 files)", "tool": "Bash", "paths": [], "files": 2000},
            "make (2000 files)",
        ),
        (
            {"summary": "outside: changed on disk (1 file)", "tool": None},
            "src/app.py: outside: changed on disk (1 file)",
        ),
    ],
)
def test_the_summary_does_not_repeat_the_columns(entry: dict[str, Any], expected: str) -> None:
    assert describe(cast("LogEntryJson", {**KNOWN, **entry})) == expected


def entry(number: int | None, turn: str, status: str, lane: str | None = None) -> LogEntryJson:
    about = {
        "n": number,
        "id": f"toolu_{number}" if number else None,
        "session": "s",
        "turn": turn,
        "status": status,
        "lane": lane,
        "message": turn,
    }
    return cast(
        "LogEntryJson", {**KNOWN, "summary": "", "agent": None, "landed": False, "within": None, **about}
    )


def test_a_turns_heading_names_its_lane_even_if_the_newest_call_changed_nothing() -> None:
    entries = [
        entry(None, "", "outside"),
        entry(5, "second", "noop"),
        entry(None, "", "outside"),
        entry(4, "second", "committed", "chorus/one"),
        entry(3, "second", "noop"),
        entry(2, "first", "denied"),
        entry(1, "first", "noop"),
    ]
    lines = list(render(entries, 1, colour=False))
    assert [line for line in lines if line.startswith(">")] == [
        "> second  [chorus/one]  turn second",
        "> first  turn first",
    ]
    assert [line.split()[0] for line in lines] == ["·", ">", "5", "·", "4", "3", ">", "2", "1"]


def test_an_action_that_is_part_of_another_names_it_by_its_number() -> None:
    part, far = entry(3, "t", "committed"), entry(2, "t", "committed")
    part["within"], far["within"] = "toolu_1", "toolu_9"
    entries = [part, far, entry(1, "t", "committed")]
    lines = list(render(entries, 1, colour=False, known=entries))
    assert [line.partition("(")[2] for line in lines[1:]] == [
        "part of action 1)",
        "part of action toolu_9)",
        "",
    ]
