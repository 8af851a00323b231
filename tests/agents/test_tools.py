"""What a tool can write, which paths it names, what the client says it changed."""

from typing import Any

import pytest

from chorus.agents.claude_code.tools import BadWitness, parse_witness, paths_of, reach_of, resolve
from chorus.model.action import Hunk, Reach
from tests.agents.recordings import RECORDINGS, read_values

HUNK = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}


@pytest.mark.parametrize(
    ("tool", "reach"),
    [
        ("Edit", Reach.NAMED),
        ("Write", Reach.NAMED),
        ("MultiEdit", Reach.NAMED),
        ("NotebookEdit", Reach.NAMED),
        ("Read", Reach.NOTHING),
        ("Grep", Reach.NOTHING),
        ("AskUserQuestion", Reach.NOTHING),
        ("Bash", Reach.ANYWHERE),
        ("Agent", Reach.ANYWHERE),
        ("Task", Reach.ANYWHERE),
        ("mcp__files__write", Reach.ANYWHERE),
        ("FromTheFuture", Reach.ANYWHERE),
    ],
)
def test_a_tool_reaches_what_it_can_write(tool: str, reach: Reach) -> None:
    assert reach_of(tool) is reach


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({"file_path": "/p/a.py"}, ("/p/a.py",)),
        ({"notebook_path": "/p/n.ipynb"}, ("/p/n.ipynb",)),
        ({"file_path": "/p/a.py", "filePath": "/p/a.py"}, ("/p/a.py",)),
        ({"file_path": "a.py"}, ("/p/a.py",)),
        ({"file_path": "../q/./a.py"}, ("/q/a.py",)),
        ({"file_path": "~/a.py"}, ("~/a.py",)),
        ({"file_path": ""}, ()),
        ({"file_path": 7}, ()),
        ({"command": "rm x"}, ()),
    ],
)
def test_paths_are_resolved_as_the_client_resolves_them(
    given: dict[str, Any], paths: tuple[str, ...]
) -> None:
    assert paths_of(given, "/p") == paths


def test_a_path_stays_relative_where_the_directory_is_not_known() -> None:
    assert resolve("a.py", None) == "a.py"


def test_an_edits_report_is_its_witness() -> None:
    report = {"filePath": "a.py", "originalFile": "a\n", "structuredPatch": [HUNK], "userModified": False}
    witness = parse_witness("Edit", report, "/p")
    assert witness is not None
    (file,) = witness.files
    assert (file.path, file.before, file.after, file.created) == ("/p/a.py", "a\n", None, False)
    assert file.hunks == (Hunk(1, 1, 1, 1, ["-a", "+b"]),)
    assert (witness.changed, witness.complete) == (("/p/a.py",), True)


def test_a_notebooks_report_spells_it_otherwise() -> None:
    report = {"notebook_path": "/p/n.ipynb", "original_file": "{}", "updated_file": "{ }", "error": ""}
    witness = parse_witness("NotebookEdit", report, None)
    assert witness is not None
    assert (witness.files[0].before, witness.files[0].after) == ("{}", "{ }")


def test_a_commands_report_names_what_changed_meanwhile() -> None:
    diff = {
        "files": [{"filePath": "/p/new.txt", "hunks": [HUNK], "created": True}],
        "moreFiles": 2,
        "changedFiles": ["/p/new.txt", "big.bin"],
    }
    witness = parse_witness("Bash", {"stdout": "", "bashEditDiff": diff}, "/p")
    assert witness is not None
    assert (witness.changed, witness.complete) == (("/p/new.txt", "/p/big.bin"), False)
    assert witness.files[0].created


@pytest.mark.parametrize(
    "report",
    [
        None,
        "Error: no",
        {},
        {"filePath": "/p/a.py"},
        {"stdout": ""},
        {"bashEditDiff": {"skipped": True}},
        {"bashEditDiff": {"unavailable": True, "files": [], "moreFiles": 0}},
        {"originalFile": "x"},
    ],
)
def test_what_tells_nothing_is_no_witness(report: Any) -> None:
    assert parse_witness("Edit", report, "/p") is None


def test_a_report_of_another_tool_is_no_witness() -> None:
    assert parse_witness("Read", {"filePath": "/p/a.py", "content": "x"}, None) is None


@pytest.mark.parametrize(
    "report",
    [
        {"filePath": "/p/a", "originalFile": 7},
        {"filePath": "/p/a", "content": []},
        {"filePath": "/p/a", "structuredPatch": {}},
        {"filePath": "/p/a", "structuredPatch": [7]},
        {"filePath": "/p/a", "structuredPatch": [HUNK | {"lines": None}]},
        {"filePath": "/p/a", "structuredPatch": [HUNK | {"lines": ["a", 7]}]},
        {"filePath": "/p/a", "structuredPatch": [HUNK | {"oldStart": "1"}]},
        {"bashEditDiff": {"files": {}}},
        {"bashEditDiff": {"files": [7]}},
        {"bashEditDiff": {"files": [{"filePath": 7}]}},
        {"bashEditDiff": {"files": [{"filePath": ""}]}},
        {"bashEditDiff": {"changedFiles": "x"}},
        {"bashEditDiff": {"changedFiles": [7]}},
        {"bashEditDiff": {"moreFiles": "many"}},
    ],
)
def test_a_report_out_of_shape_is_refused(report: dict[str, Any]) -> None:
    with pytest.raises(BadWitness):
        parse_witness("Edit", report, "/p")


def test_a_witness_is_what_the_real_client_told() -> None:
    values = read_values(RECORDINGS / "2.1.325" / "headless" / "bash_edit_diff.jsonl")
    reports = [
        value["tool_use_result"] for value in values if "bashEditDiff" in str(value.get("tool_use_result"))
    ]
    (witness,) = [parse_witness("Bash", report, None) for report in reports]
    assert witness is not None
    assert witness.changed == ("/src/proj/b.py", "/src/proj/made.txt")
    assert [file.created for file in witness.files] == [False, True]
