"""Difficult cases of reverting one action, and what must be on disk afterwards."""

from dataclasses import dataclass, field
from typing import Any

Call = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RevertCase:
    name: str
    files: dict[str, bytes]
    calls: list[Call]
    target: int  # the call to revert
    expected: dict[str, bytes | None]  # None: the file must not exist
    # Made by the user after the calls: old and new text.
    user_edits: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    untracked: dict[str, bytes] = field(default_factory=dict)  # files never added to git
    config: dict[str, str] = field(default_factory=dict)  # the repository's git configuration


def edit(path: str, old: str, new: str, **more: object) -> Call:
    return {
        "tool": "Edit",
        "input": {"file_path": f"{{cwd}}/{path}", "old_string": old, "new_string": new, **more},
    }


def write(path: str, content: str) -> Call:
    return {"tool": "Write", "input": {"file_path": f"{{cwd}}/{path}", "content": content}}


def bash(command: str) -> Call:
    return {"tool": "Bash", "input": {"command": command, "description": "Change it"}}


TEN = "".join(f"line {number}\n" for number in range(10)).encode()

REVERT_CASES = [
    RevertCase(
        "the second of three edits in one file",
        {"a.txt": TEN},
        [
            edit("a.txt", "line 1\n", "one\n"),
            edit("a.txt", "line 5\n", "five\n"),
            edit("a.txt", "line 8\n", "eight\n"),
        ],
        1,
        {"a.txt": TEN.replace(b"line 1\n", b"one\n").replace(b"line 8\n", b"eight\n")},
    ),
    RevertCase(
        "the new text also occurs elsewhere",
        {"a.txt": b"x = 2\nother\ny = 1\n"},
        [edit("a.txt", "y = 1", "x = 2")],
        0,
        {"a.txt": b"x = 2\nother\ny = 1\n"},
    ),
    RevertCase(
        "the old text contains `$&`",
        {"a.txt": b"cost $& price\n"},
        [edit("a.txt", "cost $& price", "plain")],
        0,
        {"a.txt": b"cost $& price\n"},
    ),
    RevertCase(
        "all occurrences replaced, and the new text occurred before",
        {"a.txt": b"old\nnew\nold\n"},
        [edit("a.txt", "old", "new", replace_all=True)],
        0,
        {"a.txt": b"old\nnew\nold\n"},
    ),
    RevertCase(
        "an edit that failed",
        {"a.txt": b"after\n"},
        [edit("a.txt", "before", "after")],
        0,
        {"a.txt": b"after\n"},
    ),
    RevertCase(
        "a file overwritten", {"a.txt": b"first\n"}, [write("a.txt", "second\n")], 0, {"a.txt": b"first\n"}
    ),
    RevertCase(
        "a file created",
        {"a.txt": b"first\n"},
        [write("b.txt", "new\n")],
        0,
        {"a.txt": b"first\n", "b.txt": None},
    ),
    RevertCase(
        "your own edit in the same file",
        {"a.txt": TEN},
        [edit("a.txt", "line 1\n", "one\n")],
        0,
        {"a.txt": TEN.replace(b"line 8\n", b"mine\n")},
        user_edits={"a.txt": (b"line 8\n", b"mine\n")},
    ),
    RevertCase(
        "CRLF",
        {"a.txt": b"one\r\ntwo\r\n"},
        [edit("a.txt", "two", "2")],
        0,
        {"a.txt": b"one\r\ntwo\r\n"},
    ),
    RevertCase(
        "a command changed the file",
        {"a.txt": b"old\n"},
        [bash("sed -i s/old/new/ a.txt")],
        0,
        {"a.txt": b"old\n"},
    ),
    RevertCase("a command deleted the file", {"a.txt": b"old\n"}, [bash("rm a.txt")], 0, {"a.txt": b"old\n"}),
    RevertCase(
        "a later edit of the same line: refuse, change nothing",
        {"a.txt": b"one\n"},
        [edit("a.txt", "one", "two"), edit("a.txt", "two", "three")],
        0,
        {"a.txt": b"three\n"},
    ),
    RevertCase(
        "your untracked files, one of them ignored",
        {"a.txt": b"one\n", ".gitignore": b".env\n"},
        [edit("a.txt", "one", "two")],
        0,
        {"a.txt": b"one\n", "draft.txt": b"mine\n", ".env": b"KEY=1\n"},
        untracked={"draft.txt": b"mine\n", ".env": b"KEY=1\n"},
    ),
    RevertCase(
        "a filter that fails for another file",
        {"a.txt": b"one\n", ".gitattributes": b"*.bin filter=broken\n"},
        [edit("a.txt", "one", "two")],
        0,
        {"a.txt": b"one\n", "x.bin": b"data\n"},
        untracked={"x.bin": b"data\n"},
        config={"filter.broken.clean": "false", "filter.broken.required": "true"},
    ),
]
