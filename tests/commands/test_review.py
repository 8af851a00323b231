"""`chorus log`, `show`, `lanes`, `keep`, `revert` and `redo`."""

import pytest

from chorus.errors import ExitCode
from chorus.history import records
from chorus.history.recorder import Recorder
from chorus.review.operations import Selection, revert
from tests.commands.conftest import Shell
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

LOG_KEYS = {
    "n", "id", "lane", "session", "turn", "tool", "agent", "paths", "status", "commit", "summary", "source",
    "time",
}  # fmt: skip


def test_the_json_log_has_the_documented_keys(worked: UserRepo, chorus: Shell) -> None:
    entries = chorus("log", "--json").json()
    assert [(e["n"], e["paths"], e["status"]) for e in entries] == [
        (1, ["app.py"], "committed"),
        (2, ["new.txt"], "committed"),
        (3, ["run.sh"], "committed"),
    ]
    assert all(entry.keys() >= LOG_KEYS for entry in entries)
    assert [(e["added"], e["removed"]) for e in entries] == [(1, 1), (1, 0), (1, 1)]


def test_the_log_is_grouped_by_message(worked: UserRepo, chorus: Shell) -> None:
    lines = chorus("log").out.splitlines()
    assert lines[0].startswith("> Make it better")
    assert lines[0].endswith("turn turn-1")
    assert [line.split()[0] for line in lines[1:]] == ["3", "2", "1"]
    assert lines[3].split()[1:6] == ["committed", "Edit", "+1", "-1", "app.py:"]
    assert "I raise x" in lines[3]
    assert "\x1b" not in "".join(lines)
    assert chorus("log", "--reverse").out.splitlines()[1:] == lines[:0:-1]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (["--path", "app.py"], [1]),
        (["--path", "src"], []),
        (["--tool", "edit"], [1, 2, 3]),
        (["--tool", "Bash"], []),
        (["--status", "reverted"], []),
        (["--open"], [1, 2, 3]),
        (["-n", "1"], [3]),
        (["--turn", "turn"], [1, 2, 3]),
        (["--since", "2099-01-01"], []),
        (["--since", "1w", "--path", "new.txt"], [2]),
    ],
)
def test_the_log_can_be_filtered(
    worked: UserRepo, chorus: Shell, options: list[str], numbers: list[int]
) -> None:
    assert [entry["n"] for entry in chorus("log", "--json", *options).json()] == numbers


def test_an_empty_log_exits_with_3(repo: UserRepo, chorus: Shell) -> None:
    done = chorus("log")
    assert (done.code, done.out) == (3, "")
    assert "nothing is recorded" in done.err


@pytest.mark.parametrize(
    ("words", "code"),
    [(["diff", "--lane", "no"], 3), (["diff", "1", "--lane", "no"], 2)],
)
def test_a_wrong_command_line_is_reported_with_a_hint(
    worked: UserRepo, chorus: Shell, words: list[str], code: int
) -> None:
    done = chorus(*words)
    assert (done.code, done.out, "hint: " in done.err) == (code, "", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("diff", "no ACTION, --turn or --lane was given"),
        ("diff 1 --turn t", "give either actions or --turn/--lane, not both"),
        ("show", "no ACTION or --turn was given"),
        ("show 1 --turn t", "give either an ACTION or --turn ID, not both"),
    ],
)
def test_too_few_and_too_many_selections_are_told_apart(
    repo: UserRepo, chorus: Shell, words: str, said: str
) -> None:
    done = chorus(*words.split())
    problem, hint = done.err.splitlines()
    assert (done.code, problem) == (2, f"chorus: {said}")
    assert hint.startswith("hint: Leave one out" if "both" in said else "hint: Run `chorus log`")


def test_an_invalid_time_is_a_usage_error_with_a_hint(worked: UserRepo, chorus: Shell) -> None:
    done = chorus("log", "--since", "yesterday-ish")
    assert done.code == 2
    assert "hint:" in done.err


def test_show_gives_the_edits_and_the_patch(worked: UserRepo, chorus: Shell) -> None:
    shown = chorus("show", "1", "--json").json()
    (edit,) = shown["edits"]
    assert worked.git("cat-file", "blob", edit["before"]) == "x = 1\ny = 2\n"
    assert worked.git("cat-file", "blob", edit["after"]) == "x = 9\ny = 2\n"
    assert (edit["mode_before"], edit["mode_after"]) == (0o100644, 0o100644)
    assert "-x = 1\n+x = 9\n" in shown["patch"]
    made = chorus("show", "2", "--json").json()
    assert made["edits"][0]["before"] is None
    for name in (shown["id"], shown["commit"], shown["commit"][:8]):
        assert chorus("show", name, "--json").json()["n"] == 1
    assert "+x = 9" in chorus("show", "1").out


def test_a_missing_action_exits_with_3(worked: UserRepo, chorus: Shell) -> None:
    done = chorus("show", "99")
    assert done.code == 3
    assert "99" in done.err


def test_the_json_of_lanes_has_the_documented_keys(worked: UserRepo, chorus: Shell) -> None:
    (lane,) = chorus("lanes", "--json").json()
    assert lane.keys() == {"name", "ref", "base", "tip", "session", "actions", "open", "worktree", "context"}
    assert (lane["actions"], lane["open"]) == (3, 3)
    assert lane["ref"] == f"refs/heads/{lane['name']}"
    assert worked.git("rev-parse", lane["name"]).strip() == lane["tip"]
    for name, count in ((lane["name"], 3), (lane["name"].removeprefix("chorus/"), 3), ("other", 0)):
        assert len(chorus("log", "--lane", name, "--json").json()) == count


def test_revert_redo_and_keep_work_through_the_watcher(worked: UserRepo, chorus: Shell) -> None:
    dry = chorus("revert", "1", "--dry-run")
    assert "+x = 1" in dry.out
    assert b"x = 9" in (worked.path / "app.py").read_bytes()

    assert chorus("revert", "1").code == 0
    assert (worked.path / "app.py").read_bytes() == b"x = 1\ny = 2\n"
    assert chorus("show", "1", "--json").json()["status"] == "reverted"
    assert chorus("log").out.startswith("> Make it better")  # what was asked, not who took it back

    assert chorus("redo", "1").out == "redone 1 in app.py; this is action 5\n"
    assert (worked.path / "app.py").read_bytes() == b"x = 9\ny = 2\n"

    both = chorus("revert", "2", "3").out
    assert both.startswith("reverted 3, 2 in ")
    assert both.endswith("; these are actions 6, 7\n")
    assert chorus("redo", "2", "3").code == 0

    assert chorus("keep", "1", "2", "--json").json() == {"kept": [1, 2], "reopened": []}
    assert [e["n"] for e in chorus("log", "--open", "--json").json()] == [3]
    assert [lane["open"] for lane in chorus("lanes", "--json").json()] == [1]

    again = chorus("keep", "1")
    assert (again.code, again.err.splitlines()) == (
        3,
        ["chorus: action 1 is not open", "hint: Run `chorus log --open` to list the open actions."],
    )
    assert (
        "hint: Run `chorus log --status kept` to list the kept actions." in chorus("keep", "--undo", "3").err
    )


def test_a_conflict_changes_nothing_and_exits_with_5(worked: UserRepo, chorus: Shell) -> None:
    worked.write("app.py", b"x = 10\ny = 2\n")
    done = chorus("revert", "1")
    assert done.code == 5
    assert "app.py" in done.err
    assert (worked.path / "app.py").read_bytes() == b"x = 10\ny = 2\n"


def test_a_path_is_relative_to_the_current_directory(worked: UserRepo, chorus: Shell) -> None:
    found = chorus("log", "--path", "../app.py", "--json", cwd=worked.path / "src").json()
    assert [entry["n"] for entry in found] == [1]


def test_the_json_log_names_every_file_of_an_action_with_very_many(
    repo: UserRepo, chorus: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = sorted(["0" * 40, "dir/a", "new\nline", "\udcff", 'q"x'])
    monkeypatch.setattr(records, "MAX_LISTED", len(names) - 1)

    def change() -> None:
        for name in names:
            repo.write(name, b"x\n")

    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        agent.replace("app.py", b"x = 1", b"x = 9")
        agent.bash(change, lead_text="I make them all.")
        assert recorder.entries()[-1].paths == ()
        agent.replace("app.py", b"x = 9", b"x = 8")
    alone = chorus("log", "--json").json()
    assert [(entry["files"], sorted(entry["paths"])) for entry in alone] == [
        (1, ["app.py"]),
        (len(names), names),
        (1, ["app.py"]),
    ]
    assert f"{len(names)} files: I make them all" in chorus("log").out
    shown = chorus("show", "2", "--json").json()
    assert (shown["files"], sorted(shown["paths"])) == (len(names), names)
    assert chorus("keep", "1").code == ExitCode.OK  # starts the watcher
    after = chorus("log", "--json").json()
    assert [entry["paths"] for entry in after] == [entry["paths"] for entry in alone]
    assert chorus("show", "2", "--json").json() == shown


def test_a_revert_whose_process_died_is_finished_when_a_watcher_starts(
    worked: UserRepo, chorus: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with Recorder.open(worked.path) as recorder:
        monkeypatch.setattr("chorus.review.revert.apply.write_files", die)
        with pytest.raises(KeyboardInterrupt):
            revert(recorder, Selection(["1"]))
    assert (worked.path / "app.py").read_bytes() == b"x = 9\ny = 2\n"
    assert chorus("keep", "2").code == 0  # which starts the watcher
    assert (worked.path / "app.py").read_bytes() == b"x = 1\ny = 2\n"
    assert [entry["status"] for entry in chorus("log", "--json").json()][:2] == ["reverted", "kept"]
    assert not (worked.path / ".git/chorus/reverting.json").exists()


def test_a_revert_warns_of_later_actions_that_use_what_it_removes(repo: UserRepo, chorus: Shell) -> None:
    repo.write("a.py", b"import os\n\n\n\nprint(os)\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "a")
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        agent.replace("a.py", b"import os\n", b"import os\nimport json\n")
        agent.replace("a.py", b"print(os)\n", b"print(os)\nprint(json)\n")
        agent.replace("a.py", b"print(os)\n", b"print(os, 2)\n")
    said = "chorus: warning: this removes json, which action 2 uses in a.py"
    for dry in (["--dry-run"], []):
        assert said in chorus("revert", "1", *dry).err.splitlines()
    assert chorus("redo", "1").err.count("warning") == 0
    done = chorus("revert", "1", "--dry-run", "--json").json()
    assert done["warnings"] == [{"path": "a.py", "names": ["json"], "by": 2}]
    assert "warnings" not in chorus("revert", "1", "2", "--dry-run", "--json").json()


def test_lanes_say_what_they_build_on(repo: UserRepo, chorus: Shell) -> None:
    with Recorder.open(repo.path) as recorder:
        recorder.record_outside()
        repo.write("mine.txt", b"one\ntwo\nthree\n")
        Agent(repo, recorder).edit("mine.txt", b"one\n2\nthree\n")
    assert chorus("lanes").out.splitlines()[1] == (
        "  builds on your uncommitted lines in mine.txt (committed to the lane as context)"
    )
    (lane,) = chorus("lanes", "--json").json()
    assert [part["path"] for part in lane["context"]] == ["mine.txt"]


def test_turns_can_be_repeated(repo: UserRepo, chorus: Shell) -> None:
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        for turn in ("one", "two", "three"):
            agent.edit(f"{turn}.txt", b"x\n", turn=turn)
    diff = chorus("diff", "--turn", "three", "--turn", "one", "--json").json()
    assert [action["n"] for action in diff] == [1, 3]
    assert [entry["n"] for entry in chorus("log", "--turn", "thr", "--turn", "one", "--json").json()] == [
        1,
        3,
    ]
    unknown = chorus("log", "--turn", "one", "--turn", "four")
    assert (unknown.code, unknown.err.splitlines()[0]) == (3, "chorus: there is no turn four")
    assert chorus("keep", "--turn", "one", "--turn", "two").out == "kept 1, 2\n"
    assert chorus("revert", "--turn", "one", "--turn", "three", "--json").json()["paths"] == [
        "one.txt",
        "three.txt",
    ]
    lane = chorus("lanes", "--json").json()[0]["name"]
    done = chorus("land", lane, "--turn", "two", "--message-for", "two", "Add two", "--onto", "feature")
    assert done.code == 0, done.err
    assert done.out.endswith(" Add two (action 2)\n")
    assert "branch feature created from HEAD" in done.err
    assert repo.git("log", "-1", "--format=%s", "feature") == "Add two\n"
    assert chorus("land", lane, "2", "--fixup", "HEAD", "-m", "x").code == 2
    done = chorus("land", lane, "2", "--fixup", "main")
    assert done.code == 0, done.err
    assert repo.git("show", "main:two.txt") == "x\n"


def test_a_revert_that_takes_long_to_plan_is_the_same(worked: UserRepo, chorus: Shell) -> None:
    """The watcher plans it beside its loop, from a reader of its own, and applies it itself."""
    rows = [f"row {number}" for number in range(4_000)]
    with Recorder.open(worked.path) as recorder:
        agent = Agent(worked, recorder)
        agent.edit("long.txt", "\n".join(rows).encode())
        for number in range(24):
            rows[2_000] += " x"
            rows[number * 10] += " y"
            agent.edit("long.txt", "\n".join(rows).encode())
    first = 5  # the first change of that row
    later = list(range(first + 1, 29))
    blocked = chorus("revert", str(first))
    assert blocked.code == ExitCode.CONFLICT
    assert all(f"action {number} (" in blocked.err for number in later)
    dry = chorus("revert", str(first), "--with-dependents", "--dry-run", "--json").json()
    assert sorted(dry["reverted"]) == [first, *later]
    assert "-row 2000" + " x" * 24 in dry["patch"]
    assert worked.path.joinpath("long.txt").read_text() == "\n".join(rows)
    done = chorus("revert", str(first), "--with-dependents", "--json").json()
    assert (done["patch"], sorted(done["reverted"])) == (dry["patch"], [first, *later])
    assert worked.path.joinpath("long.txt").read_text() == "\n".join(
        f"row {number}" for number in range(4_000)
    )
    statuses = {entry["n"]: entry["status"] for entry in chorus("log", "--json").json()}
    assert {statuses[number] for number in (first, *later)} == {"reverted"}
