"""Names that are spelled otherwise than on disk. Where this system tells them apart, doubles help."""

import unicodedata
from pathlib import Path

import pytest

from chorus.history.workspace import Workspace
from chorus.store.repository import Repository
from chorus.store.worktree import work_tree
from chorus.store.worktree.file_state import Absent, File
from chorus.store.worktree.spelling import Spelling
from chorus.store.worktree.work_tree import WorkTree
from tests.repos import UserRepo

NFC = "Été.txt"
NFD = unicodedata.normalize("NFD", NFC)
ANY_CASE = Spelling(ignores_case=True)
COMPOSING = Spelling(composes=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "Src").mkdir()
    (tmp_path / "Src/README.md").write_text("text")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("Src/README.md", "Src/README.md"),
        ("src/readme.MD", "Src/README.md"),
        ("SRC/new.md", "Src/new.md"),
        ("other/New.md", "other/New.md"),
        ("Src/README.md/below", "Src/README.md/below"),
    ],
)
def test_a_path_is_spelled_as_on_disk_where_case_is_ignored(root: Path, given: str, found: str) -> None:
    assert ANY_CASE.as_on_disk(str(root), given) == found
    assert Spelling().as_on_disk(str(root), given) == given


def test_an_exact_name_wins_over_another_spelling(root: Path) -> None:
    (root / "src").mkdir()
    assert ANY_CASE.as_on_disk(str(root), "src/x") == "src/x"


def test_names_are_composed_where_git_composes_them(root: Path) -> None:
    (root / NFD).write_text("text")
    assert COMPOSING.as_in_git(NFD) == NFC
    assert COMPOSING.as_on_disk(str(root), NFD) == NFC
    assert COMPOSING.as_on_disk(str(root), f"{NFC}/x") == f"{NFC}/x"
    assert ANY_CASE.as_in_git(NFD) == NFD


def test_a_composed_name_is_stored_if_the_disk_has_it_decomposed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A double for HFS+, which lists names in NFD and opens them in either form."""
    (root / NFC).write_text("text")
    monkeypatch.setattr("os.listdir", lambda _: [NFD])
    tree = WorkTree(root, spelling=COMPOSING)
    found = tree.read_file(tree.locate(NFD) or pytest.fail("it is in the work tree"))
    assert isinstance(found, File)
    assert (
        WorkTree(root, spelling=ANY_CASE).read_file(tree.locate(NFC) or pytest.fail("it is in the work tree"))
        == Absent()
    )


def test_a_work_tree_named_in_another_way_is_recognised_by_what_it_is(tmp_path: Path) -> None:
    """A double for a path in other case: another mount name for the same directory."""
    (tmp_path / "work/src").mkdir(parents=True)
    (tmp_path / "WORK").symlink_to("work")
    inside = work_tree._below_same_directory(str(tmp_path / "work"), f"{tmp_path}/WORK/src/a.py")
    assert inside == "src/a.py"
    assert work_tree._below_same_directory(str(tmp_path / "work"), f"{tmp_path}/none/a.py") is None
    assert WorkTree(tmp_path / "work", spelling=ANY_CASE).locate("/etc/passwd") is None


def test_a_file_that_a_call_names_in_other_case_is_the_one_on_disk(repo: UserRepo) -> None:
    repo.git("config", "core.ignoreCase", "true")
    (repo.path / "Notes.md").write_text("one\n")
    workspace = Workspace(Repository.open(repo.path))
    assert workspace.locate(str(repo.path / "NOTES.md")) == "Notes.md"
    assert workspace.locate("other.md") == "other.md"
