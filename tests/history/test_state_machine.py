"""A user and two agents in one work tree, in any order: each change is recorded as what and whose it was."""

import itertools
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from chorus.history.recorder import Recorder
from chorus.history.records import RecordKind
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.action import Action
from chorus.model.ids import Oid, ToolUseId
from tests.history.agent_at_work import action, bash, on_disk, replayed, reported
from tests.history.invariants import assert_whole
from tests.repos import UserRepo

FILES = ("a.txt", "b.txt", "dir/c.txt")
COMMANDS = (
    "add -A",
    "commit -qam mine",
    "commit -q --amend -m again",
    "checkout -q other",
    "checkout -q main",
    "stash -q",
    "stash pop -q",
    "reset -q --hard",
    "gc -q --prune=now",
)
# In memory where that is possible: a disk would spend the time on flushing.
MEMORY = Path("/dev/shm")
Contents = dict[str, bytes | None]

files = st.sampled_from(FILES)
sessions = st.sampled_from(["session-one", "session-two"])
places = st.integers(0, 30)


class UserAndAgents(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="chorus-model-", dir=MEMORY if MEMORY.is_dir() else None))
        self.numbers = itertools.count()
        self.expected: dict[str, tuple[str, Contents, Contents]] = {}

    @initialize()
    def start(self) -> None:
        self.repo = UserRepo(self.folder / "repo")
        self.repo.path.mkdir()
        self.repo.git("init", "-q", "-b", "main")
        for name in FILES:
            self.repo.write(name, b"".join(self.line("base") for _ in range(20)))
        self.repo.git("add", "-A")
        self.repo.git("commit", "-qm", "base")
        self.repo.git("branch", "other")
        self.recorder = Recorder.open(self.repo.path)
        self.recorder.start()

    def teardown(self) -> None:
        if hasattr(self, "recorder"):
            self.recorder.record_outside()
            assert_whole(self.repo, self.recorder)
            self.recorder.close()
        shutil.rmtree(self.folder)

    def line(self, who: str) -> bytes:
        return f"{who} {next(self.numbers)}\n".encode()

    def read(self, name: str) -> bytes | None:
        place = self.repo.path / name
        return place.read_bytes() if place.is_file() else None

    def changed(self, name: str, who: str, at: int, kind: str) -> bytes:
        """The file with one line added, replaced or removed; a new file where there is none."""
        lines = (self.read(name) or b"").splitlines(keepends=True)
        at = min(at, len(lines))
        new = {"add": [self.line(who)], "replace": [self.line(who)], "remove": []}[kind]
        lines[at : at + (kind != "add")] = new
        return b"".join(lines)

    # Steps of the user.

    @rule(name=files, at=places, kind=st.sampled_from(["add", "replace", "remove"]))
    def user_edits(self, name: str, at: int, kind: str) -> None:
        self.repo.write(name, self.changed(name, "user", at, kind))

    @rule(name=files)
    def user_deletes(self, name: str) -> None:
        (self.repo.path / name).unlink(missing_ok=True)

    @rule(name=files)
    def user_changes_the_mode(self, name: str) -> None:
        place = self.repo.path / name
        if place.is_file():
            place.chmod(place.stat().st_mode ^ 0o111)

    @rule(words=st.sampled_from(COMMANDS))
    def user_runs_git(self, words: str) -> None:
        subprocess.run(["git", *words.split()], cwd=self.repo.path, capture_output=True)

    # Steps of agents seen through hooks: recorded before and after.

    @rule(session=sessions, name=files, at=places, kind=st.sampled_from(["add", "replace", "remove"]))
    def agent_edits(self, session: str, name: str, at: int, kind: str) -> None:
        place = self.repo.path / name
        self.recorder.record_before_call([str(place)])
        before, after = self.read(name), self.changed(name, session, at, kind)
        self.repo.write(name, after)
        self.record_named_paths(session, name, [(before, after)])

    @rule(session=sessions, names=st.sets(files, min_size=1), at=places, rename=st.booleans())
    def agent_runs_a_command(self, session: str, names: set[str], at: int, rename: bool) -> None:
        self.recorder.record_outside()
        before: Contents = {name: self.read(name) for name in (*FILES, "moved.txt")}
        for name in names:
            self.repo.write(name, self.changed(name, session, at, "add"))
        if rename and (self.repo.path / "b.txt").exists():
            (self.repo.path / "b.txt").replace(self.repo.path / "moved.txt")
        after: Contents = {name: self.read(name) for name in before}
        done = bash(f"t{next(self.numbers)}", session=session)
        self.recorder.record_window(done)
        touched = [name for name in before if before[name] != after[name]]
        self.expect(done, {n: before[n] for n in touched}, {n: after[n] for n in touched})

    # Steps of agents seen late: only the client's report separates them from other changes.

    @rule(session=sessions, name=files, at=places, then=places)
    def agent_edits_twice_before_anybody_looks(self, session: str, name: str, at: int, then: int) -> None:
        self.recorder.record_outside()
        states = [self.read(name)]
        for place in (at, then):
            self.repo.write(name, self.changed(name, session, place, "add"))
            states.append(self.read(name))
        self.record_named_paths(session, name, list(itertools.pairwise(states)), with_report=True)

    @rule(session=sessions, name=files, at=places, users=places)
    def agent_edits_after_an_unseen_edit(self, session: str, name: str, at: int, users: int) -> None:
        self.repo.write(name, self.changed(name, "user", users, "add"))
        before, after = self.read(name), self.changed(name, session, at, "add")
        self.repo.write(name, after)
        self.record_named_paths(session, name, [(before, after)], with_report=True)

    @rule(name=files, at=places, then=places, late=st.booleans())
    def agents_write_over_each_other(self, name: str, at: int, then: int, late: bool) -> None:
        """Both read the same text; nothing is left of what the first to write did."""
        self.recorder.record_outside()
        before = self.read(name)
        if before is None:
            return
        first, second = (
            (session, self.changed(name, session, place, "add"))
            for session, place in (("session-one", at), ("session-two", then))
        )
        self.repo.write(name, second[1])
        place = self.repo.path / name
        done = {}
        for session, after in (second, first) if late else (first, second):
            report = reported(place, before.decode(), after.decode())
            act = action(f"t{next(self.numbers)}", place, session=session, report=report)
            done[act.id] = (act, after)
        self.recorder.record_named_paths([act for act, _ in done.values()])
        for entry in self.recorder.entries():
            if entry.id in done:
                act, after = done[ToolUseId(entry.id)]
                self.expect(act, {name: before}, {name: after})

    @rule()
    def chorus_restarts(self) -> None:
        self.recorder.close()
        self.recorder = Recorder.open(self.repo.path)

    def record_named_paths(
        self,
        session: str,
        name: str,
        steps: list[tuple[bytes | None, bytes | None]],
        with_report: bool = False,
    ) -> None:
        place = self.repo.path / name
        done = []
        for before, after in steps:
            texts = [None if side is None else side.decode() for side in (before, after)]
            report = reported(place, texts[0], texts[1]) if with_report else None
            done.append(action(f"t{next(self.numbers)}", place, session=session, report=report))
        self.recorder.record_named_paths(done)
        for act, (before, after) in zip(done, steps, strict=True):
            changed = before != after
            self.expect(act, {name: before} if changed else {}, {name: after} if changed else {})

    def expect(self, done: Action, before: Contents, after: Contents) -> None:
        self.expected[done.id] = (str(done.session), before, after)

    # What must hold.

    @invariant()
    def the_timeline_is_the_disk(self) -> None:
        if hasattr(self, "recorder"):
            self.recorder.record_outside()
            assert replayed(self.recorder) == on_disk(self.repo)

    @invariant()
    def each_action_is_recorded_once_with_its_own_change_alone(self) -> None:
        if not hasattr(self, "recorder"):
            return
        entries = [entry for entry in self.recorder.entries() if entry.id]
        assert [entry.id for entry in entries] == list(self.expected)
        for entry in entries:
            session, before, after = self.expected[str(entry.id)]
            edits = self.recorder.edits(entry)
            read = self.recorder.workspace.read
            assert {edit.path: read(edit.before) for edit in edits} == before
            assert {edit.path: read(edit.after) for edit in edits} == after
            assert entry.status in (("committed", "undone") if before or after else ("noop",))
            assert entry.session == session

    @invariant()
    def each_lane_commit_holds_only_lines_its_action_changed(self) -> None:
        if hasattr(self, "recorder"):
            for recorded in self.recorder.timeline.records:
                if recorded.record.kind is RecordKind.ACTION:
                    self.check_lines(recorded)

    def check_lines(self, recorded: TimelineCommit) -> None:
        commit = self.recorder.current_commit(recorded)
        workspace = self.recorder.workspace
        made = workspace.store.read_commit(commit)
        parent = workspace.store.read_commit(made.parents[0])
        own = {edit.path: edit for edit in recorded.record.edits}
        for change in workspace.trees.diff(parent.tree, made.tree):
            edit = own[change.path]
            seen = [Counter((workspace.read(e) or b"").splitlines()) for e in (edit.before, edit.after)]
            lane = [Counter((workspace.read(e) or b"").splitlines()) for e in (change.before, change.after)]
            assert lane[1] - lane[0] <= seen[1] - seen[0]
            assert lane[0] - lane[1] <= seen[0] - seen[1]
        self.check_context(made.parents[0], recorded)

    def check_context(self, oid: Oid, recorded: TimelineCommit) -> None:
        """The parent of an action's commit is the base, another action, or a context commit."""
        lane_commit = recorded.record.lane_commit
        assert lane_commit is not None
        if oid != lane_commit.base and self.recorder.timeline.find_commit(oid) is None:
            message = self.recorder.workspace.store.read_commit(oid).message
            assert "\nChorus-Context: " in message


def test_a_user_and_two_agents_in_one_work_tree() -> None:
    examples = int(os.environ.get("CHORUS_MODEL_EXAMPLES", "10"))
    run_state_machine_as_test(
        UserAndAgents,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
