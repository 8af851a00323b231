"""`chorus revert -p`: the keys of `git checkout -p`."""

from typing import Any

import pytest

from chorus.commands.terminal.hunk_picker import HELP, choose_hunks
from chorus.history.recorder import Recorder
from chorus.model.api.json_api import HunkJson
from tests.commands.conftest import Shell, on_a_terminal
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

HUNKS: list[HunkJson] = [
    {"n": n, "path": path, "patch": f"hunk {n}"} for n, path in enumerate(("a", "a", "a", "b", "b"), start=1)
]
TEXT = b"".join(b"line %d\n" % number for number in range(20))


def picked(keys: str) -> tuple[list[int], list[str]]:
    left, shown = iter(keys), list[str]()
    return choose_hunks(HUNKS, lambda _: next(left) + "\n", shown.append), shown


@pytest.mark.parametrize(
    ("keys", "numbers"),
    [
        ("ynyny", [1, 3, 5]),
        ("nnnnn", []),
        ("yq", [1]),
        ("aa", [1, 2, 3, 4, 5]),
        ("nad", [2, 3]),
        ("day", [4, 5]),
        ("dny", [5]),
        ("Y?x\nq", [1]),
    ],
)
def test_each_key_does_the_same_as_in_git(keys: str, numbers: list[int]) -> None:
    assert picked(keys)[0] == numbers


def test_an_unknown_key_prints_the_help() -> None:
    assert picked("x?q")[1] == ["hunk 1", "\n".join(HELP), "\n".join(HELP)]


@pytest.fixture
def two_hunks(repo: UserRepo) -> UserRepo:
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        agent.edit("a.txt", TEXT)
        agent.edit("a.txt", TEXT.replace(b"line 2\n", b"two\n").replace(b"line 15\n", b"fifteen\n"))
    return repo


def test_one_hunk_is_reverted_on_a_terminal(two_hunks: UserRepo, chorus: Shell) -> None:
    code, shown = on_a_terminal(two_hunks, b"n\ny\n", "revert", "2", "-p")
    assert code == 0, shown
    assert b"(2/2) Revert this hunk [y,n,q,a,d,?]?" in shown
    assert b"fifteen" in shown
    assert (two_hunks.path / "a.txt").read_bytes() == TEXT.replace(b"line 2\n", b"two\n")
    code, shown = on_a_terminal(two_hunks, b"q\n", "revert", "2", "-p")
    assert (code, b"nothing was reverted" in shown) == (0, True)


def test_without_a_terminal_hunks_are_chosen_by_number(two_hunks: UserRepo, chorus: Shell) -> None:
    listed: list[dict[str, Any]] = chorus("revert", "2", "-p", "--json").json()
    assert [(hunk["n"], hunk["path"]) for hunk in listed] == [(1, "a.txt"), (2, "a.txt")]
    refused = chorus("revert", "2", "-p")
    assert (refused.code, "--hunk" in refused.err) == (2, True)
    assert chorus("revert", "2", "--hunk", "3").code == 3
    assert chorus("revert", "1", "2", "--hunk", "1").code == 2
    assert chorus("revert", "2", "--hunk", "1").code == 0
    assert (two_hunks.path / "a.txt").read_bytes() == TEXT.replace(b"line 15\n", b"fifteen\n")
