"""Filters: the same bytes as `git add` stores, and raw bytes with a warning where git cannot convert them."""

import os
import subprocess
from pathlib import Path

import pytest

from chorus.model.ids import RepoPath
from tests.repos import UserRepo
from tests.store.open_store import OpenStore

BODIES = [
    b"", b"plain\n", b"mixed\r\nlines\n", b"lone\rreturn\r\n", b"nul\0byte\r\n", b"no end", b"$Id$\n",
    b"$Id: x $\n",
]  # fmt: skip
RULES = {
    "none": b"",
    "auto": b"* text=auto\n",
    "text": b"* text\n",
    "eol=crlf": b"* text eol=crlf\n",
    "eol=lf": b"* text=auto eol=lf\n",
    "binary": b"* binary\n",
    "ident": b"* ident\n",
    "legacy": b"* crlf\n",
}
SETTINGS: dict[str, dict[str, str]] = {
    "plain": {},
    "autocrlf": {"core.autocrlf": "true"},
    "autocrlf=input": {"core.autocrlf": "input"},
    "core.eol": {"core.eol": "crlf"},
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_conversions_equal_those_of_git(repo: UserRepo, rules: bytes, settings: dict[str, str]) -> None:
    repo.git("reset", "-q", "--hard")
    # What is stored with CRLF stays so, if git is to find out by itself what is text.
    repo.write("0.txt", b"with\r\nreturns\r\n")
    repo.git("add", "0.txt")
    for key, value in settings.items():
        repo.git("config", key, value)
    repo.write(".gitattributes", rules)
    bodies = {RepoPath(f"{number}.txt"): body for number, body in enumerate([b"0\r\n", *BODIES])}
    with OpenStore.open(repo) as opened:
        stored = [opened.filters.to_git(path, body) for path, body in bodies.items()]

    assert [converted.data for converted in stored] == added_by_git(repo, bodies)
    assert {converted.warning for converted in stored} == {None}


def added_by_git(repo: UserRepo, bodies: dict[RepoPath, bytes]) -> list[bytes]:
    for path, body in bodies.items():
        repo.write(path, body)
    names = "\n".join(bodies).encode()
    blobs = repo.git("-c", "core.safecrlf=false", "hash-object", "-w", "--stdin-paths", stdin=names).split()
    return [raw(repo, "cat-file", "blob", blob) for blob in blobs]


def raw(repo: UserRepo, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=repo.path, capture_output=True, check=True).stdout


def test_a_filter_program_runs(repo: UserRepo) -> None:
    repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    repo.write(".gitattributes", b"*.up filter=upper\n")
    with OpenStore.open(repo) as opened:
        assert opened.filters.to_git(RepoPath("x.up"), b"abc\n").data == b"ABC\n"
        assert opened.filters.to_git(RepoPath("x.py"), b"abc\n").data == b"abc\n"


def test_the_working_tree_encoding_is_applied(repo: UserRepo) -> None:
    repo.write(".gitattributes", b"*.u16 text working-tree-encoding=UTF-16LE eol=lf\n")
    with OpenStore.open(repo) as opened:
        text = "ünicode\n"
        assert opened.filters.to_git(RepoPath("x.u16"), text.encode("utf-16-le")).data == text.encode()


@pytest.mark.parametrize(
    "program", ["false", "no-such-program", "sh -c 'kill -9 $$'"], ids=["fails", "is not there", "dies"]
)
@pytest.mark.parametrize("required", ["true", "false"], ids=["required", "optional"])
def test_a_failing_filter_leaves_the_bytes_and_gives_a_warning(
    repo: UserRepo, program: str, required: str
) -> None:
    repo.git("config", "filter.broken.clean", program)
    repo.git("config", "filter.broken.required", required)
    repo.write(".gitattributes", b"* filter=broken\n")
    with OpenStore.open(repo) as opened:
        converted = opened.filters.to_git(RepoPath("x"), b"abc\n")
    assert converted.data == b"abc\n"
    assert converted.warning is not None
    assert converted.warning.startswith("x ")


def test_a_filter_that_hangs_is_killed(repo: UserRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorus.store.worktree.filters.FILTER_TIMEOUT_SECONDS", 0.3)
    repo.git("config", "filter.slow.clean", "sleep 60")
    repo.write(".gitattributes", b"* filter=slow\n")
    with OpenStore.open(repo) as opened:
        converted = opened.filters.to_git(RepoPath("x"), b"abc\n")

    assert converted.data == b"abc\n"
    assert "no answer" in (converted.warning or "")


def test_a_changed_rule_applies_at_once(opened: OpenStore) -> None:
    path = RepoPath("src/main.py")
    assert opened.filters.to_git(path, b"a\r\n").data == b"a\r\n"

    opened.repo.write("src/.gitattributes", b"*.py text\n")
    assert opened.filters.to_git(path, b"a\r\n").data == b"a\n"

    opened.repo.write("src/.gitattributes", b"*.py -text\n")
    assert opened.filters.to_git(path, b"a\r\n").data == b"a\r\n"


def test_without_rules_no_process_is_started(opened: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    opened.repository.config.get("core.autocrlf")
    monkeypatch.setenv("PATH", str(Path("/nowhere")))

    assert opened.filters.to_git(RepoPath("app.py"), b"a\r\n").data == b"a\r\n"


@pytest.mark.parametrize("settings", [{"core.autocrlf": "true"}, {"core.autocrlf": "input"}], ids=str)
def test_the_baseline_holds_raw_bytes_where_git_stores_others(
    repo: UserRepo, settings: dict[str, str]
) -> None:
    repo.git("reset", "-q", "--hard")
    for key, value in settings.items():
        repo.git("config", key, value)
    # Old, so that git's index is sure of it.
    os.utime(repo.write("windows.txt", b"one\r\ntwo\r\n"), (1e9, 1e9))
    repo.git("-c", "core.safecrlf=false", "add", "windows.txt")
    before = repo.fingerprint()
    with OpenStore.open(repo) as opened:
        tree, _ = opened.scanner.baseline()

        assert opened.contents(tree) == opened.on_disk()
    assert repo.fingerprint() == before
