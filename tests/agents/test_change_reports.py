"""What a tool can write, which paths it names, what the client says it changed."""

from typing import Any

import pytest

from chorus.agents.claude_code.change_reports import InvalidReport, parse_report, paths_of, resolve
from chorus.model.action import ReportHunk
from tests.agents.recordings import RECORDINGS, read_values

HUNK = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}


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
    response = {"filePath": "a.py", "originalFile": "a\n", "structuredPatch": [HUNK], "userModified": False}
    report = parse_report("Edit", response, "/p")
    assert report is not None
    (file,) = report.files
    assert (file.path, file.before, file.after, file.created) == ("/p/a.py", "a\n", None, False)
    assert file.hunks == (ReportHunk(1, 1, 1, 1, ["-a", "+b"]),)
    assert (report.changed, report.complete) == (("/p/a.py",), True)


def test_a_notebooks_report_spells_it_otherwise() -> None:
    response = {"notebook_path": "/p/n.ipynb", "original_file": "{}", "updated_file": "{ }", "error": ""}
    report = parse_report("NotebookEdit", response, None)
    assert report is not None
    assert (report.files[0].before, report.files[0].after) == ("{}", "{ }")


def test_a_commands_report_names_what_changed_meanwhile() -> None:
    diff = {
        "files": [{"filePath": "/p/new.txt", "hunks": [HUNK], "created": True}],
        "moreFiles": 2,
        "changedFiles": ["/p/new.txt", "big.bin"],
    }
    report = parse_report("Bash", {"stdout": "", "bashEditDiff": diff}, "/p")
    assert report is not None
    assert (report.changed, report.complete) == (("/p/new.txt", "/p/big.bin"), False)
    assert report.files[0].created


@pytest.mark.parametrize(
    "response",
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
def test_what_tells_nothing_is_no_witness(response: Any) -> None:
    assert parse_report("Edit", response, "/p") is None


def test_a_report_of_another_tool_is_no_witness() -> None:
    assert parse_report("Read", {"filePath": "/p/a.py", "content": "x"}, None) is None


@pytest.mark.parametrize(
    "response",
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
def test_a_report_out_of_shape_is_refused(response: dict[str, Any]) -> None:
    with pytest.raises(InvalidReport):
        parse_report("Edit", response, "/p")


def test_a_witness_is_what_the_real_client_told() -> None:
    values = read_values(RECORDINGS / "2.1.325" / "headless" / "bash_edit_diff.jsonl")
    reports = [
        value["tool_use_result"] for value in values if "bashEditDiff" in str(value.get("tool_use_result"))
    ]
    (report,) = [parse_report("Bash", response, None) for response in reports]
    assert report is not None
    assert report.changed == ("/src/proj/b.py", "/src/proj/made.txt")
    assert [file.created for file in report.files] == [False, True]
