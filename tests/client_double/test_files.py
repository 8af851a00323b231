"""The client double changes files as the client does."""

import os
import stat
from pathlib import Path

import pytest

from tests.client_double.change import Change
from tests.client_double.file_tools import plan
from tests.client_double.patch import structured_patch
from tests.client_double.values import Outcome


def edit(path: Path, old: str, new: str, **more: object) -> Outcome:
    arguments = {"file_path": str(path), "old_string": old, "new_string": new, **more}
    planned = plan("Edit", arguments, known=True)
    return planned.apply() if isinstance(planned, Change) else planned


def write(path: Path, content: str) -> Outcome:
    planned = plan("Write", {"file_path": str(path), "content": content}, known=True)
    assert isinstance(planned, Change)
    return planned.apply()


def test_a_write_keeps_the_mode_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("old\n")
    path.chmod(0o755)
    other = tmp_path / "linked"
    os.link(path, other)

    edit(path, "old", "new")

    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert other.read_text() == "old\n", "a hard link is broken, not followed"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["linked", "run.sh"]


def test_a_symlink_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old\n")
    (tmp_path / "link").symlink_to("target")

    outcome = edit(tmp_path / "link", "old", "new")

    assert outcome.is_error
    assert (tmp_path / "target").read_text() == "old\n"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (b"a\r\nb\r\n", b"A\r\nb\r\n", "a\nb\n"),
        (b"a\r\nb\nc\n", b"A\nb\nc\n", "a\nb\nc\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfA\n", "\ufeffa\n"),
        (b"a", b"A", "a"),
        (b"a \xe9\n", b"A \xef\xbf\xbd\n", "a \ufffd\n"),
        ("a é\n".encode("utf-16"), "A é\n".encode("utf-16"), "a é\n"),
    ],
    ids=["crlf", "mixed", "bom", "no newline", "latin-1", "utf-16"],
)
def test_written_bytes_equal_the_clients(tmp_path: Path, before: bytes, after: bytes, told: str) -> None:
    path = tmp_path / "file.py"
    path.write_bytes(before)

    outcome = edit(path, "a", "A")

    assert path.read_bytes() == after
    assert outcome.result["originalFile"] == told


def test_replacing_a_line_with_nothing_removes_its_newline(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text("one\ntwo\n")
    edit(path, "one", "")
    assert path.read_text() == "two\n"


def test_curly_quotes_are_matched_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("it’s\n")
    edit(path, "it's", "it's all")
    assert path.read_text() == "it’s all\n"


def test_trailing_blanks_are_removed_except_in_markdown(tmp_path: Path) -> None:
    for name, left in (("a.txt", "x\n"), ("a.md", "x  \n")):
        (tmp_path / name).write_text("y\n")
        edit(tmp_path / name, "y", "x  ")
        assert (tmp_path / name).read_text() == left


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("nope", "x", "String to replace not found"),
        ("a", "a", "No changes to make"),
        ("a", "b", "Found 2 matches"),
    ],
)
def test_an_impossible_edit_changes_nothing(tmp_path: Path, old: str, new: str, error: str) -> None:
    path = tmp_path / "file.py"
    path.write_text("a\na\n")

    outcome = edit(path, old, new)

    assert outcome.is_error
    assert error in outcome.content
    assert str(outcome.result).startswith("Error: ")
    assert path.read_text() == "a\na\n"
    assert not edit(path, "a", "b", replace_all=True).is_error
    assert path.read_text() == "b\nb\n"


def test_an_edit_with_nothing_to_replace_creates_the_file(tmp_path: Path) -> None:
    outcome = edit(tmp_path / "sub" / "new.py", "", "x = 1\n")
    assert outcome.result["originalFile"] == ""
    assert (tmp_path / "sub" / "new.py").read_text() == "x = 1\n"


def test_the_result_of_a_write_contains_the_original_file(tmp_path: Path) -> None:
    created = write(tmp_path / "a.txt", "one\n")
    updated = write(tmp_path / "a.txt", "two\n")

    assert (created.result["type"], created.result["originalFile"]) == ("create", None)
    assert created.result["structuredPatch"] == []
    assert (updated.result["type"], updated.result["originalFile"]) == ("update", "one\n")
    assert updated.result["structuredPatch"][0]["lines"] == ["-one", "+two"]


def test_a_patch_has_three_lines_of_context_and_marks_a_missing_newline() -> None:
    before = "".join(f"{number}\n" for number in range(1, 30))
    after = before.replace("\n10\n", "\nten\n").replace("29\n", "29")

    first, second = structured_patch(before, after)

    assert (first["oldStart"], first["oldLines"], first["newStart"], first["newLines"]) == (7, 7, 7, 7)
    assert first["lines"] == [" 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"]
    assert second["lines"][-3:] == ["-29", "+29", "\\ No newline at end of file"]


def test_a_notebook_cell_is_replaced_inserted_and_deleted(tmp_path: Path) -> None:
    path = tmp_path / "nb.ipynb"
    path.write_text('{"cells": [{"cell_type": "code", "id": "c1", "metadata": {}, "source": ["print(1)"]}]}')

    def change(**arguments: str) -> Outcome:
        planned = plan("NotebookEdit", {"notebook_path": str(path), "cell_id": "c1", **arguments}, known=True)
        return planned.apply() if isinstance(planned, Change) else planned

    assert change(new_source="print(2)").result["old_source"] == "print(1)"
    assert "print(2)" in path.read_text()
    change(new_source="print(3)", edit_mode="insert")
    change(new_source="", edit_mode="delete")
    assert "print(3)" in path.read_text()
    assert "print(2)" not in path.read_text()
    assert change(new_source="x").is_error
