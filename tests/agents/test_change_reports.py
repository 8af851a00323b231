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


def test_a_path_stays_relative_if_the_directory_is_unknown() -> None:
    assert resolve("a.py", None) == "a.py"


def test_the_result_of_an_edit_has_a_report() -> None:
    response = {"filePath": "a.py", "originalFile": "a\n", "structuredPatch": [HUNK], "userModified": False}
    report = parse_report("Edit", response, "/p")
    assert report is not None
    (file,) = report.files
    assert (file.path, file.before, file.after, file.created) == ("/p/a.py", "a\n", None, False)
    assert file.hunks == (ReportHunk(1, 1, 1, 1, ["-a", "+b"]),)
    assert (report.changed, report.complete) == (("/p/a.py",), True)


def test_the_result_of_a_notebook_edit_has_other_spellings() -> None:
    response = {"notebook_path": "/p/n.ipynb", "original_file": "{}", "updated_file": "{ }", "error": ""}
    report = parse_report("NotebookEdit", response, None)
    assert report is not None
    assert (report.files[0].before, report.files[0].after) == ("{}", "{ }")


def test_the_report_of_a_command_names_what_changed_while_it_ran() -> None:
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
def test_a_result_without_changes_has_no_report(response: Any) -> None:
    assert parse_report("Edit", response, "/p") is None


def test_the_result_of_another_tool_has_no_report() -> None:
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
def test_a_malformed_report_is_rejected(response: dict[str, Any]) -> None:
    with pytest.raises(InvalidReport):
        parse_report("Edit", response, "/p")


def test_the_reports_of_a_real_client_are_parsed() -> None:
    values = read_values(RECORDINGS / "2.1.325" / "headless" / "bash_edit_diff.jsonl")
    reports = [
        value["tool_use_result"] for value in values if "bashEditDiff" in str(value.get("tool_use_result"))
    ]
    (report,) = [parse_report("Bash", response, None) for response in reports]
    assert report is not None
    assert report.changed == ("/src/proj/b.py", "/src/proj/made.txt")
    assert [file.created for file in report.files] == [False, True]
