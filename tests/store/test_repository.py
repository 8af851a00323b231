"""Open a repository, or refuse it with a reason."""

import os
from pathlib import Path

import psutil
import pytest

from chorus.store.git_paths import NoRepository, UnsupportedRepository
from chorus.store.git_process import GitFailed
from chorus.store.repository import Repository
from tests.repos import UserRepo


def test_a_repository_is_found_from_any_directory_in_the_work_tree(repo: UserRepo) -> None:
    found = Repository.open(repo.path / "src" / "deep")

    assert (found.work_tree, found.git_dir, found.common_dir) == (
        repo.path,
        repo.path / ".git",
        repo.path / ".git",
    )


def test_a_linked_work_tree_has_a_git_directory_of_its_own(repo: UserRepo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")

    found = Repository.open(tmp_path / "linked")

    assert found.work_tree == tmp_path / "linked"
    assert found.git_dir == repo.path / ".git" / "worktrees" / "linked"
    assert found.common_dir == repo.path / ".git"
    assert found.head().ref == "refs/heads/other"


def test_a_submodule_is_a_repository_of_its_own(repo: UserRepo) -> None:
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "sub")

    found = Repository.open(repo.path / "sub")

    assert found.work_tree == repo.path / "sub"
    assert found.git_dir == repo.path / ".git" / "modules" / "sub"


def test_a_path_with_a_newline_in_it_is_found(template_repo: Path, tmp_path: Path) -> None:
    odd = UserRepo.copy(template_repo, tmp_path / "two\nlines")

    assert Repository.open(odd.path).git_dir == odd.path / ".git"


def test_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoRepository, match="not a git repository"):
        Repository.open(tmp_path)


def test_a_git_that_does_not_run_is_not_taken_for_a_missing_repository(
    repo: UserRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """macOS has a git that only says how to install one."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text("#!/bin/sh\necho 'xcode-select: error: no developer tools were found' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    with pytest.raises(GitFailed, match="git does not run: xcode-select: error") as caught:
        Repository.open(repo.path)
    assert "xcode-select --install" in str(caught.value.hint)


def test_a_bare_repository_is_refused(repo: UserRepo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))

    with pytest.raises(UnsupportedRepository, match="bare repository"):
        Repository.open(tmp_path / "bare.git")


def test_sha256_is_refused(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    UserRepo(tmp_path / "new").git("init", "-q", "--object-format=sha256")

    with pytest.raises(UnsupportedRepository, match="sha256"):
        Repository.open(tmp_path / "new")


def test_refs_that_are_not_in_files_are_refused(repo: UserRepo) -> None:
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.refStorage", "reftable")

    # A git that does not know them says so itself.
    with pytest.raises(UnsupportedRepository, match=r"refstorage|keeps its refs in a reftable") as refused:
        Repository.open(repo.path)
    assert refused.value.hint


def test_an_unborn_head_has_a_name_and_no_commit(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    UserRepo(tmp_path / "new").git("init", "-q", "-b", "main")

    head = Repository.open(tmp_path / "new").head()

    assert (head.ref, head.oid) == ("refs/heads/main", None)


def test_a_detached_head_has_a_commit_and_no_name(repo: UserRepo, repository: Repository) -> None:
    commit = repo.git("rev-parse", "HEAD").strip()
    repo.git("checkout", "-q", "--detach")

    assert (repository.head().ref, repository.head().oid) == (None, commit)


def test_inherited_git_variables_are_ignored(
    repo: UserRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))

    assert Repository.open(repo.path).git_dir == repo.path / ".git"


def test_the_operation_in_progress_is_named(repo: UserRepo, repository: Repository) -> None:
    assert repository.operation() is None

    repo.git("bisect", "start")

    assert repository.operation() == "bisect"


def test_without_an_identity_chorus_uses_its_own_name(repo: UserRepo, sealed_environment: Path) -> None:
    (sealed_environment / ".gitconfig").unlink()

    identity = Repository.open(repo.path).committer.identity()

    assert (identity.name, identity.email, identity.stated) == ("Chorus", "chorus@localhost", False)


def test_opening_leaves_no_process_and_no_descriptor(repo: UserRepo) -> None:
    before = psutil.Process().num_fds()

    Repository.open(repo.path).head()

    assert psutil.Process().num_fds() == before
