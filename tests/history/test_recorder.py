"""Every action is recorded once, with its own change alone, and the user's repository stays as it is."""

from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

from chorus.history.disk_changes.attribution import RECORDED_OUTSIDE, WRITTEN_OVER, EndedCall
from chorus.history.lanes.lanes import PreparedCommit
from chorus.history.marks.mark_log import Mark
from chorus.history.recorder import Recorder
from chorus.model.action import Action, ChangeReport, FileReport, ReportHunk
from chorus.model.ids import RepoPath, ToolUseId
from chorus.review.operations import Selection, revert
from chorus.review.verify import verify
from tests.history.agent_at_work import (
    Agent,
    action,
    bash,
    entry_of,
    lane_file,
    lane_subjects,
    on_disk,
    patch_of,
    replayed,
    reported,
    statuses,
)
from tests.history.invariants import assert_whole, untouched
from tests.repos import UserRepo


def test_recording_an_edit_leaves_the_users_repository_alone(repo: UserRepo, recorder: Recorder) -> None:
    recorder.record_before_call([str(repo.path / "app.py")])
    repo.write("app.py", b"x = 2\ny = 2\n")
    before = repo.fingerprint()

    recorder.record_named_paths([action("t1", repo.path / "app.py")])

    assert repo.fingerprint() == before
    assert repo.fsck() == ""


def test_watching_leaves_the_users_repository_alone(repo: UserRepo, recorder: Recorder) -> None:
    before = repo.fingerprint()
    recorder.start()
    recorder.record_before_call([str(repo.path / "app.py"), "/etc/passwd"])
    recorder.record_outside()
    recorder.record_window(bash("t1"))
    recorder.record_unchanged(action("t2", status="denied"))
    assert repo.fingerprint() == before


def test_an_edit_is_one_commit_on_a_lane(repo: UserRepo, agent: Agent) -> None:
    entry = agent.replace("app.py", b"x = 1", b"x = 9", lead_text="I'll raise x:")
    assert entry.status == "committed"
    assert entry.lane is not None
    assert entry.lane.startswith("chorus/make-it-better-")
    assert repo.git("rev-parse", entry.lane).strip() == entry.commit
    assert repo.git("rev-parse", f"{entry.lane}^").strip() == repo.git("rev-parse", "main").strip()
    assert patch_of(repo, entry.commit) == ["-x = 1", "+x = 9"]
    assert repo.git("log", "-1", "--format=%s", entry.lane).strip() == "Raise x"
    assert repo.git("log", "-1", "--format=%an <%ae>|%cn", entry.lane).strip() == (
        "Claude <noreply@anthropic.com>|Ada User"
    )


def test_a_lane_holds_the_agents_change_and_not_the_users_in_the_same_file(
    repo: UserRepo, agent: Agent
) -> None:
    """`src/main.py` has an uncommitted change by the user; the agent adds a line elsewhere."""
    lines = [b"line %d\n" % i for i in range(30)]
    repo.commit("long", **{"long.txt": b"".join(lines)})
    repo.write("long.txt", b"".join([b"user's own\n", *lines]))
    entry = agent.edit("long.txt", b"".join([b"user's own\n", *lines[:20], b"agent's\n", *lines[20:]]))
    assert patch_of(repo, entry.commit) == ["+agent's"]
    assert b"user's own" not in lane_file(repo, entry.lane, "long.txt")


def test_a_change_that_cannot_be_separated_gets_a_context_commit_first(repo: UserRepo, agent: Agent) -> None:
    repo.write("app.py", b"x = user\ny = 2\n")
    agent.recorder.record_outside()
    entry = agent.edit("app.py", b"x = user + 1\ny = 2\n", lead_text="Add one")
    assert lane_subjects(repo, entry.lane) == ["Context for: Add one", "Add one"]
    assert patch_of(repo, entry.commit) == ["-x = user", "+x = user + 1"]
    context = repo.git("log", "-1", "--format=%(trailers:key=Chorus-Context,valueonly)", f"{entry.lane}^")
    assert context.strip().endswith(" app.py")


def test_every_action_is_recorded_once_however_often_it_is_reported(
    repo: UserRepo, recorder: Recorder
) -> None:
    recorder.start()
    repo.write("app.py", b"new\n")
    done = action("t1", repo.path / "app.py")
    for _ in range(3):
        recorder.record_named_paths([done])
        recorder.record_window(bash("t2"))
        recorder.record_unchanged(action("t3", status="failed"))
    with Recorder.open(repo.path) as again:
        again.record_named_paths([done])
        again.record_unchanged(action("t3", status="failed"))
        assert [(entry.n, entry.id, entry.status) for entry in again.entries()] == [
            (1, "t1", "committed"),
            (2, "t2", "noop"),
            (3, "t3", "failed"),
        ]


def test_two_sessions_in_one_file_get_a_lane_each(repo: UserRepo, recorder: Recorder) -> None:
    lines = [b"line %d\n" % i for i in range(40)]
    repo.commit("long", **{"long.txt": b"".join(lines)})
    one, two = Agent(repo, recorder, "aaaa"), Agent(repo, recorder, "bbbb")
    first = one.replace("long.txt", b"line 3\n", b"line three\n")
    second = two.replace("long.txt", b"line 30\n", b"line thirty\n")
    assert first.lane != second.lane
    assert patch_of(repo, first.commit) == ["-line 3", "+line three"]
    assert patch_of(repo, second.commit) == ["-line 30", "+line thirty"]
    assert b"line three" not in lane_file(repo, second.lane, "long.txt")


def test_what_bash_changed_is_one_action_with_all_its_files(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        repo.write("new/file.txt", b"new\n")
        (repo.path / "README.md").unlink()
        (repo.path / "run.sh").chmod(0o644)
        repo.write("app.py", b"x = 5\ny = 2\n")
        repo.write("ignored.log", b"noise\n")

    entry = agent.bash(change, command="./build")
    assert set(entry.paths) == {"new/file.txt", "README.md", "run.sh", "app.py"}
    names = repo.git("diff", "--name-only", "main", str(entry.lane)).splitlines()
    assert set(names) == {"new/file.txt", "README.md", "run.sh", "app.py"}
    assert entry.summary == "Bash: ./build (4 files)"
    assert replayed(agent.recorder) == on_disk(repo)


def test_a_change_of_the_user_between_two_actions_is_outside(repo: UserRepo, agent: Agent) -> None:
    agent.replace("app.py", b"x = 1", b"x = 2")
    repo.write("notes.txt", b"mine\n")
    agent.bash(lambda: repo.write("made.txt", b"made\n"))
    assert statuses(agent.recorder) == ["committed", "outside", "committed"]
    outside = agent.recorder.entries()[1]
    assert outside.paths == ("notes.txt",)
    assert outside.n is None


def test_two_edits_found_at_once_are_split(repo: UserRepo, recorder: Recorder) -> None:
    place = repo.path / "app.py"
    recorder.start()
    states = ["x = 1\ny = 2\n", "x = 7\ny = 2\n", "x = 7\ny = 8\n"]
    repo.write("app.py", states[2].encode())
    first = action("t1", place, report=reported(place, states[0], states[1]))
    second = action("t2", place, report=reported(place, states[1], states[2]))
    recorder.record_named_paths([first])
    recorder.record_named_paths([second])
    assert patch_of(repo, entry_of(recorder, "t1").commit) == ["-x = 1", "+x = 7"]
    assert patch_of(repo, entry_of(recorder, "t2").commit) == ["-y = 2", "+y = 8"]


def test_two_edits_that_cancel_out_before_they_are_seen_are_an_action_each(
    repo: UserRepo, recorder: Recorder
) -> None:
    place = repo.path / "app.py"
    recorder.start()
    there, back = "x = 1\ny = 2\n", "x = 7\ny = 2\n"
    recorder.record_named_paths(
        [
            action("t1", place, report=reported(place, there, back)),
            action("t2", place, report=reported(place, back, there)),
        ]
    )
    assert patch_of(repo, entry_of(recorder, "t1").commit) == ["-x = 1", "+x = 7"]
    assert patch_of(repo, entry_of(recorder, "t2").commit) == ["-x = 7", "+x = 1"]
    assert replayed(recorder) == on_disk(repo)


def test_an_edit_that_the_user_undid_before_it_was_seen_is_an_action_and_undone(
    repo: UserRepo, recorder: Recorder
) -> None:
    place = repo.path / "app.py"
    recorder.start()
    report = reported(place, "x = 1\ny = 2\n", "x = 7\ny = 2\n")
    recorder.record_named_paths([action("t1", place, report=report)])
    assert patch_of(repo, entry_of(recorder, "t1").commit) == ["-x = 1", "+x = 7"]
    recorder.record_outside()
    assert statuses(recorder) == ["undone", "outside"]
    assert replayed(recorder) == on_disk(repo)


def test_an_edit_that_was_there_before_the_first_look_is_an_action(
    repo: UserRepo, recorder: Recorder
) -> None:
    place = repo.write("app.py", b"x = 7\ny = 2\n")
    recorder.start()
    report = reported(place, "x = 1\ny = 2\n", "x = 7\ny = 2\n")
    recorder.record_named_paths([action("t1", place, report=report)])
    assert patch_of(repo, entry_of(recorder, "t1").commit) == ["-x = 1", "+x = 7"]
    # Reported again by another call, it is in that action.
    recorder.record_named_paths([action("t2", place, report=report)])
    assert entry_of(recorder, "t2").within == "t1"
    assert replayed(recorder) == on_disk(repo)


def test_edits_that_cannot_be_split_are_recorded_once(repo: UserRepo, recorder: Recorder) -> None:
    recorder.start()
    repo.write("app.py", b"both\n")
    place = repo.path / "app.py"
    recorder.record_named_paths([action("t1", place), action("t2", place)])
    first, second = entry_of(recorder, "t1"), entry_of(recorder, "t2")
    assert second.timeline is not None
    assert first.timeline is None
    assert first.within == "t2"
    assert first.commit == second.commit


def test_an_action_whose_change_another_already_has_is_contained(repo: UserRepo, recorder: Recorder) -> None:
    recorder.start()
    place = repo.path / "app.py"
    repo.write("app.py", b"both\n")
    recorder.record_named_paths([action("t1", place)])
    recorder.record_named_paths([action("t2", place, report=reported(place, "one\n", "both\n"))])
    assert entry_of(recorder, "t2").within == "t1"


ROWS = "".join(f"row {number}\n" for number in range(20))


def write_over(repo: UserRepo, recorder: Recorder) -> dict[str, Action]:
    """Two clients read the same text; the second to write overwrites the first one's change."""
    place = repo.path / "rows.txt"
    repo.write("rows.txt", ROWS.encode())
    recorder.start()
    repo.write("rows.txt", ROWS.replace("row 15", "second").encode())
    return {
        "first": swapped(place, "first", "row 5\n", "first\n"),
        "second": swapped(place, "second", "row 15\n", "second\n"),
    }


@pytest.mark.parametrize("order", [["first", "second"], ["second", "first"]])
def test_two_edits_that_read_the_file_at_once_each_have_their_own_change(
    repo: UserRepo, recorder: Recorder, order: list[str]
) -> None:
    written_over = write_over(repo, recorder)
    recorder.record_named_paths([written_over[name] for name in order])
    entries = {name: entry_of(recorder, name) for name in order}
    assert patch_of(repo, entries["first"].commit) == ["-row 5", "+first"]
    assert patch_of(repo, entries["second"].commit) == ["-row 15", "+second"]
    assert entries["first"].lane != entries["second"].lane
    assert statuses(recorder) == ["undone", "outside", "committed"]
    assert recorder.entries()[1].reason == WRITTEN_OVER
    assert replayed(recorder) == on_disk(repo)


def test_an_overwritten_edit_that_is_reported_first_keeps_its_change(
    repo: UserRepo, recorder: Recorder
) -> None:
    written_over = write_over(repo, recorder)
    recorder.record_named_paths([written_over["first"]])
    recorder.record_named_paths([written_over["second"]])
    assert patch_of(repo, entry_of(recorder, "first").commit) == ["-row 5", "+first"]
    assert patch_of(repo, entry_of(recorder, "second").commit) == ["-row 15", "+second"]
    assert replayed(recorder) == on_disk(repo)


def test_an_edit_overwritten_before_it_was_seen_is_reported_as_such(
    repo: UserRepo, recorder: Recorder
) -> None:
    written_over = write_over(repo, recorder)
    recorder.record_named_paths([written_over["second"]])
    recorder.record_named_paths([written_over["first"]])
    first = entry_of(recorder, "first")
    assert (first.status, first.within, first.reason) == ("noop", None, WRITTEN_OVER)
    assert replayed(recorder) == on_disk(repo)


def swapped(place: Path, name: str, old: str, new: str) -> Action:
    """An edit as the client reports it: the text it read, the patch, the strings."""
    at = ROWS.splitlines(keepends=True).index(old) + 1
    hunk = ReportHunk(at, 1, at, 1, ["-" + old.rstrip("\n"), "+" + new.rstrip("\n")])
    report = ChangeReport((FileReport(str(place), before=ROWS, hunks=(hunk,)),), (str(place),))
    return action(name, place, session=name, report=report, old_string=old, new_string=new)


def test_paths_outside_and_ignored_files_are_skipped_and_reported(
    repo: UserRepo, agent: Agent, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.txt").write_text("x")
    recorder = agent.recorder
    recorder.start()
    repo.write(".env", b"secret\n")
    paths = [tmp_path / "elsewhere.txt", repo.path / ".env", repo.path / ".git" / "config"]
    recorder.record_named_paths([action("t1", *paths)])
    entry = entry_of(recorder, "t1")
    assert entry.status == "noop"
    assert [line.rsplit("/", 1)[-1] for line in entry.skipped] == [
        "elsewhere.txt is outside the work tree",
        ".env is ignored by git",
        "config is inside a git directory",
    ]
    assert b"secret" not in b"".join(data for _, data in replayed(recorder).values())


def test_a_failed_command_that_changed_files_is_an_action(repo: UserRepo, agent: Agent) -> None:
    entry = agent.bash(lambda: repo.write("half.txt", b"half\n"), status="failed")
    assert (entry.status, entry.call_status) == ("committed", "failed")


def test_a_call_that_changed_nothing_is_listed_with_the_paths_it_named(repo: UserRepo, agent: Agent) -> None:
    entry = agent.edit("app.py", (repo.path / "app.py").read_bytes())
    assert (entry.status, entry.paths) == ("noop", ("app.py",))


def test_no_change_no_lane(repo: UserRepo, agent: Agent) -> None:
    assert agent.bash(lambda: None).status == "noop"
    assert repo.git("branch", "--list", "chorus/*") == ""


def test_a_formatter_after_the_edit_is_left_for_the_next_look(repo: UserRepo, recorder: Recorder) -> None:
    lines = [f"line {number}\n" for number in range(30)]
    place = repo.write("long.txt", "".join(lines).encode())
    recorder.start()
    edited = [*lines[:5], "agent's\n", *lines[5:]]
    repo.write("long.txt", "".join(edited).replace("line 20", "LINE 20").encode())
    done = action("t1", place, report=reported(place, "".join(lines), "".join(edited)))
    recorder.record_named_paths([done])
    assert patch_of(repo, entry_of(recorder, "t1").timeline) == ["+agent's"]
    recorder.record_outside()
    assert statuses(recorder) == ["committed", "outside"]
    assert_whole(repo, recorder)


def test_an_action_reported_twice_at_once_is_recorded_once(repo: UserRepo, recorder: Recorder) -> None:
    recorder.start()
    place = repo.write("app.py", b"new\n")
    recorder.record_named_paths([action("t1", place), action("t1", place)])
    assert [entry.id for entry in recorder.entries()] == ["t1"]


def test_a_log_with_links_between_sessions_from_an_older_version_is_read(
    repo: UserRepo, recorder: Recorder
) -> None:
    first = Agent(repo, recorder, "old-session").edit("app.py", b"one\n")
    link = {"kind": "link", "session": "new-session", "parent": "old-session"}
    with recorder.journal.writing():
        recorder.journal.append_mark(cast("Mark", link))
    with Recorder.open(repo.path) as again:
        second = Agent(repo, again, "new-session").edit("app.py", b"two\n")
        assert second.session == "new-session"
        assert second.lane != first.lane


def test_a_status_learned_later_is_shown(repo: UserRepo, recorder: Recorder) -> None:
    recorder.record_unchanged(action("t1", status="unfinished"))
    recorder.correct_status(ToolUseId("t1"), "denied")
    assert statuses(recorder) == ["denied"]


def test_a_lane_moved_while_an_action_is_recorded_is_built_upon(repo: UserRepo, agent: Agent) -> None:
    first = agent.edit("made.txt", b"one\n")
    lane = str(first.lane)
    recorder, place = agent.recorder, repo.path / "made.txt"
    publish = recorder.lanes.publish

    def moved_meanwhile(prepared: PreparedCommit) -> None:
        """The user commits to the lane between the preparation of a commit and its publication."""
        recorder.lanes.publish = publish  # type: ignore[method-assign]  # replaced for this test
        own = repo.git("commit-tree", f"{lane}^{{tree}}", "-p", lane, "-m", "mine").strip()
        repo.git("update-ref", f"refs/heads/{lane}", own)
        publish(prepared)

    recorder.lanes.publish = moved_meanwhile  # type: ignore[method-assign]  # replaced for this test
    recorder.record_before_call([str(place)])
    repo.write("made.txt", b"two\n")
    recorder.record_named_paths([action("t2", place)])
    second = entry_of(recorder, "t2")
    assert repo.git("rev-parse", lane).strip() == second.commit
    assert lane_subjects(repo, lane)[1] == "mine"
    with Recorder.open(repo.path) as again:
        assert entry_of(again, "t2").commit == second.commit


def test_a_deleted_timeline_starts_again(repo: UserRepo, agent: Agent) -> None:
    first = agent.edit("app.py", b"one\n")
    (repo.path / ".git/chorus/timeline/main").unlink()
    second = agent.edit("app.py", b"two\n")
    assert [entry.id for entry in agent.recorder.entries()] == [second.id]
    assert second.lane != first.lane
    assert_whole(repo, agent.recorder)


def test_a_very_long_message_is_cut(repo: UserRepo, agent: Agent) -> None:
    entry = agent.edit("app.py", b"one\n", message="word " * 100_000)
    assert entry.message is not None
    assert len(entry.message) < 20_000


def test_a_repository_without_a_timeline_has_no_entries(repo: UserRepo, recorder: Recorder) -> None:
    with untouched(repo):
        assert recorder.entries() == []
        assert verify(recorder) == []
    assert not (repo.git_dir / "chorus").exists()


def test_a_summary_that_comes_late_is_the_same_in_the_log_and_on_the_lane(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    first = agent.edit("app.py", b"one\n")
    second = agent.edit("app.py", b"two\n")
    recorder.set_summary(ToolUseId(second.id or ""), "I write two.\nAnd more.")
    recorder.set_summary(ToolUseId(first.id or ""), "I write one.")  # too late: another commit is above it
    entries = recorder.entries()
    assert [entry.summary for entry in entries] == [first.summary, "I write two"]
    assert lane_subjects(repo, first.lane) == [first.summary, "I write two"]
    assert repo.git("rev-parse", str(first.lane)).strip() == entries[1].commit
    third = agent.edit("app.py", b"three\n")
    assert lane_subjects(repo, first.lane)[2] == third.summary
    assert_whole(repo, recorder)


def test_a_lane_that_is_checked_out_is_not_reworded(repo: UserRepo, recorder: Recorder, agent: Agent) -> None:
    made = agent.edit("new.txt", b"one\n")
    (repo.path / "new.txt").unlink()
    repo.git("switch", "-q", str(made.lane))
    recorder.set_summary(ToolUseId(made.id or ""), "I write one.")
    assert entry_of(recorder, made.id or "").summary == made.summary
    assert lane_subjects(repo, made.lane) == [made.summary]


def test_an_ignored_file_has_one_reason_and_temporary_files_have_none(
    repo: UserRepo, recorder: Recorder
) -> None:
    (repo.path / ".gitignore").write_text("*.log\n")
    recorder.start()
    place = repo.path / "x.log"
    place.write_text("one\n")
    (repo.path / "app.py.tmp.123.0123456789ab").write_text("half")
    recorder.record_named_paths([action("t1", place, tool="Write", report=reported(place, None, "one\n"))])
    recorder.record_window(bash("t2"))
    first, second = entry_of(recorder, "t1"), entry_of(recorder, "t2")
    assert (first.status, first.reason) == ("noop", None)
    assert first.skipped == ("x.log is ignored by git",)
    assert not any(".tmp." in line for line in second.skipped)


def test_the_timeline_says_who_made_each_change(repo: UserRepo, recorder: Recorder, agent: Agent) -> None:
    repo.write("app.py", b"the user's\n")
    made = agent.edit("app.py", b"the agent's\n")
    revert(recorder, Selection([str(made.n)]))
    authors = repo.git("log", "--reverse", "--format=%an", recorder.timeline.tip or "").splitlines()[-3:]
    user = repo.git("config", "user.name").strip()
    assert [author == user for author in authors] == [True, False, True]


def test_a_branch_that_took_the_name_of_a_lane_is_left_alone(repo: UserRepo, agent: Agent) -> None:
    """Such as the lane of another clone, fetched after the own one was deleted."""
    first = agent.edit("app.py", b"one\n")
    message = "Theirs\n\nChorus-Action: toolu_of_another_clone\n"
    theirs = repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", message).strip()
    repo.git("update-ref", f"refs/heads/{first.lane}", theirs)
    second = agent.edit("app.py", b"two\n")
    assert second.lane != first.lane
    assert repo.git("rev-parse", str(first.lane)).strip() == theirs


def test_actions_of_all_work_trees_are_numbered_together(repo: UserRepo, recorder: Recorder) -> None:
    place = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", str(place), "-b", "linked")
    recorder.start()
    with Recorder.open(place) as other:
        other.start()
        numbers = []
        for count, one in enumerate((recorder, other, other, recorder)):
            path = one.workspace.repository.work_tree / "app.py"
            path.write_text(f"x = {count}\n")
            one.record_named_paths([action(f"t{count}", path)])
            numbers.append(one.entries()[-1].n)
        other.record_unchanged(action("t9", status="failed"))
        assert [*numbers, other.entries()[-1].n] == [1, 2, 3, 4, 5]


def test_a_command_whose_change_was_recorded_as_outside_says_so(repo: UserRepo, recorder: Recorder) -> None:
    recorder.start()
    place = repo.write("app.py", b"x = 2\ny = 2\n")
    recorder.record_outside()
    hunks = (ReportHunk(1, 1, 1, 1, ["-x = 1", "+x = 2"]),)
    report = ChangeReport((FileReport(str(place), before=None, hunks=hunks),), (str(place),))
    recorder.record_unchanged(bash("t2", report=report))
    entry = entry_of(recorder, "t2")
    assert (entry.status, entry.reason) == ("noop", RECORDED_OUTSIDE)
    recorder.record_unchanged(bash("t3"))
    assert entry_of(recorder, "t3").reason is None
    explain = recorder._attributor.explain_missing
    assert explain(bash("t4", report=report), [RepoPath("app.py")], "t1") == ("t1", None)


def test_edits_and_commands_that_a_first_look_came_between_keep_their_changes(
    repo: UserRepo, recorder: Recorder
) -> None:
    """The look recorded the first three as part of the file; then comes one that is reported with them."""
    texts = ["a\nx\n", "b\nx\n", "b\ny\n", "c\ny\n", "d\ny\n"]
    place = repo.write("f.txt", texts[0].encode())
    repo.git("add", "f.txt")
    repo.git("commit", "-qm", "f")
    calls = []
    for number, (before, after) in enumerate(pairwise(texts)):
        hunks = (ReportHunk(1, 2, 1, 2, _printed(before, after)),)
        report = ChangeReport((FileReport(str(place), hunks=hunks),), (str(place),), complete=True)
        if number == 1:
            calls.append(EndedCall(bash("t1", report=report), where=[str(place)], is_late=True))
        else:
            done = action(f"t{number}", place, report=reported(place, before, after))
            calls.append(EndedCall(done, is_late=True))
    place.write_text(texts[3])
    recorder.start()
    place.write_text(texts[4])
    assert recorder.record_ended(calls)
    found = [entry for entry in recorder.entries() if entry.id]
    assert [entry.id for entry in sorted(found, key=lambda entry: entry.n or 0)] == ["t0", "t1", "t2", "t3"]
    assert [patch_of(repo, entry_of(recorder, f"t{n}").commit) for n in range(4)] == [
        ["-a", "+b"],
        ["-x", "+y"],
        ["-b", "+c"],
        ["-c", "+d"],
    ]
    assert replayed(recorder) == on_disk(repo)


def _printed(before: str, after: str) -> list[str]:
    lines = []
    for old, new in zip(before.splitlines(), after.splitlines(), strict=True):
        lines += [f" {old}"] if old == new else [f"-{old}", f"+{new}"]
    return lines


@pytest.mark.parametrize("is_late", [True, False])
@pytest.mark.parametrize("more", [b"", b"more\n"])
def test_what_a_call_that_is_not_reported_yet_may_have_added_to_a_commands_file_is_waited_for(
    repo: UserRepo, recorder: Recorder, is_late: bool, more: bytes
) -> None:
    """The client did not wait after the edit: the last line may be of its next call, or of the command."""
    place = repo.write("f.txt", b"one\n")
    recorder.record_outside()
    repo.write("f.txt", b"one\ncommand\nedit\n" + more)
    report = reported(place, "one\ncommand\n", "one\ncommand\nedit\n")
    calls = [
        EndedCall(bash("t1"), [str(place)]),
        EndedCall(action("t2", place, report=report), is_late=is_late),
    ]
    done = recorder.record_ended(calls, wait_for_open_calls=True)
    assert done == (not (is_late and more))
    assert [entry.id for entry in recorder.entries() if entry.id] == (["t1", "t2"] if done else [])
    assert recorder.record_ended(calls)
    assert [patch_of(repo, entry_of(recorder, name).commit) for name in ("t1", "t2")] == [
        ["+command"],
        ["+edit"],
    ]


def test_a_mode_that_changed_with_three_edits_at_once_changes_with_the_last(
    repo: UserRepo, recorder: Recorder
) -> None:
    states = ["1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "one\n2\nthree\n4\n5\n", "one\n2\nthree\n4\nfive\n"]
    repo.commit("a script", **{"plain.sh": states[0].encode()})
    recorder.record_outside()
    place = repo.write("plain.sh", states[-1].encode())
    place.chmod(0o755)
    edits = list(enumerate(pairwise(states)))
    recorder.record_named_paths([action(f"t{n}", place, report=reported(place, a, b)) for n, (a, b) in edits])
    commits = [entry_of(recorder, f"t{n}").commit for n, _ in edits]
    modes = [repo.git("ls-tree", commit or "", "plain.sh").split()[0] for commit in commits]
    assert modes == ["100644", "100644", "100755"]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("why", ["shared", "is_late"])
def test_of_a_command_beside_others_only_what_it_reports_is_its_change(
    repo: UserRepo, recorder: Recorder, why: str, complete: bool, alone: bool
) -> None:
    """If its report is not complete, or if the command was alone, every file that changed is."""
    recorder.start()
    place, other = repo.write("mine.txt", b"1\n"), repo.write("other.txt", b"2\n")
    report = reported(place, None, "1\n")._replace(complete=complete)
    call = EndedCall(bash("t1", report=report), [str(place), str(other)])
    beside = call._replace(shared=why == "shared", is_late=why == "is_late")
    recorder.record_ended([call if alone else beside])
    own = ["mine.txt"] if complete and not alone else ["mine.txt", "other.txt"]
    assert sorted(entry_of(recorder, "t1").paths) == own
