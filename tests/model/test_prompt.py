"""A prompt is summed up by its command or file, never by the words around them."""

from typing import Any

import pytest

from chorus.model.prompt import summarize_prompt, without_root


@pytest.mark.parametrize(
    ("fields", "summary"),
    [
        ({"input": {"command": "npm test", "description": "Test it"}}, "npm test"),
        ({"input": {"file_path": "/src/a.py", "old_string": "x"}}, "/src/a.py"),
        ({"input": {"command": ["x"], "file_path": " "}}, "Do you want to proceed?"),
        ({"input": None, "body": "Build it\n╌╌╌╌\n\n  touch built.txt\n  ls\n╌╌╌╌\n"}, "touch built.txt"),
        ({"body": "\n  rm -r x\n  Remove it"}, "rm -r x"),
        ({"body": "───\n"}, "───"),
        ({"body": "───\n───\n"}, "Do you want to proceed?"),
        ({}, "Do you want to proceed?"),
    ],
)
def test_the_command_or_file_comes_first(fields: dict[str, Any], summary: str) -> None:
    prompt: Any = {"title": "Bash command", "question": "Do you want to proceed?", **fields}
    assert summarize_prompt(prompt) == summary


def test_a_file_of_the_work_tree_is_named_without_it() -> None:
    prompt: Any = {"title": "Edit file", "question": "?", "input": {"file_path": "/src/shop/a.py"}}
    assert summarize_prompt(prompt, "/src/shop") == "a.py"
    assert summarize_prompt(prompt, "/src/sho") == "/src/shop/a.py"


@pytest.mark.parametrize(
    ("row", "root", "shown"),
    [
        (" /src/shop/a.py", "/src/shop", "a.py"),
        (" /src/shop2/a.py", "/src/shop", " /src/shop2/a.py"),
        (" /src/shop/a.py", "", " /src/shop/a.py"),
    ],
)
def test_only_a_path_below_the_work_tree_is_shown_without_it(row: str, root: str, shown: str) -> None:
    assert without_root(row, root) == shown
