"""The table of the client's tools."""

import tomllib
from importlib.resources import files

import pytest

from chorus.model.action import WriteScope
from chorus.model.tools import EDIT_TOOLS, TOOLS, find_tool, write_scope_of


@pytest.mark.parametrize(
    ("tool", "write_scope"),
    [
        ("Edit", WriteScope.NAMED),
        ("Write", WriteScope.NAMED),
        ("MultiEdit", WriteScope.NAMED),
        ("NotebookEdit", WriteScope.NAMED),
        ("Read", WriteScope.NOTHING),
        ("Grep", WriteScope.NOTHING),
        ("AskUserQuestion", WriteScope.NOTHING),
        ("Bash", WriteScope.ANYWHERE),
        ("Agent", WriteScope.ANYWHERE),
        ("Task", WriteScope.ANYWHERE),
        ("mcp__files__write", WriteScope.ANYWHERE),
        ("FromTheFuture", WriteScope.ANYWHERE),
    ],
)
def test_a_tool_that_is_not_in_the_table_may_write_anywhere(tool: str, write_scope: WriteScope) -> None:
    assert write_scope_of(tool) is write_scope


def test_a_tool_that_edits_files_names_the_file() -> None:
    assert all(TOOLS[name].path_key for name in EDIT_TOOLS)


def test_a_tool_that_is_not_in_the_table_has_a_plain_prompt() -> None:
    assert find_tool("mcp__files__write").prompt_kind == "mcp"
    assert find_tool("FromTheFuture").prompt_kind == "tool"


def test_the_dialogs_of_a_tool_have_the_prompt_kind_of_the_table() -> None:
    rules = tomllib.loads((files("chorus.agents.claude_code.dialogs") / "rules.toml").read_text())["rule"]
    kinds = {(rule["tool"], rule["kind"]) for rule in rules if rule.get("tool") in TOOLS}
    screen_only = {("Write", "overwrite"), ("AskUserQuestion", "question")}
    assert {(tool, kind) for tool, kind in kinds if kind != TOOLS[tool].prompt_kind} == screen_only
