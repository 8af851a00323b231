"""A stand-in for the client: changes files as its tools do and reports them to the recorder."""

import itertools
from pathlib import Path
from typing import Any

from chorus.history.log.entry import LogEntry
from chorus.history.recorder import Recorder
from chorus.model.action import Action, ChangeReport, FileReport, Status, WriteScope
from chorus.model.ids import LaneName, Oid, SessionId, ToolUseId, TurnId
from tests.repos import UserRepo


def action(
    name: str,
    *paths: str | Path,
    session: str = "session-a",
    tool: str = "Edit",
    status: Status = "succeeded",
    report: ChangeReport | None = None,
    lead_text: str | None = None,
    message: str | None = "Make it better",
    write_scope: WriteScope = WriteScope.NAMED,
    time: str | None = "2026-01-02T03:04:05Z",
    turn: str = "turn-1",
    **inputs: Any,
) -> Action:
    return Action(
        id=ToolUseId(name), tool=tool, input=inputs, status=status, session=SessionId(session),
        turn=TurnId(turn), agent=None, paths=tuple(str(path) for path in paths), write_scope=write_scope,
        report=report, lead_text=lead_text, message=message, time=time,
    )  # fmt: skip


def bash(name: str, *, command: str = "make", session: str = "session-a", **more: Any) -> Action:
    return action(
        name, session=session, tool="Bash", write_scope=WriteScope.ANYWHERE, command=command, **more
    )


def reported(path: Path, before: str | None, after: str | None) -> ChangeReport:
    file = FileReport(str(path), before=before, created=before is None, after=after)
    return ChangeReport((file,), (str(path),))


class Agent:
    """A session at work in a user's repository, seen through hooks before and after each call."""

    numbers = itertools.count(1)

    def __init__(self, repo: UserRepo, recorder: Recorder, session: str = "session-a") -> None:
        self.repo = repo
        self.recorder = recorder
        self.session = session

    def edit(self, path: str, data: bytes | None, **more: Any) -> LogEntry:
        place = self.repo.path / path
        self.recorder.record_before_call([str(place)])
        if data is None:
            place.unlink()
        else:
            self.repo.write(path, data)
        done = action(f"toolu_{self.session}_{next(self.numbers)}", place, session=self.session, **more)
        self.recorder.record_named_paths([done])
        return entry_of(self.recorder, done.id)

    def replace(self, path: str, old: bytes, new: bytes, **more: Any) -> LogEntry:
        data = (self.repo.path / path).read_bytes()
        assert old in data
        return self.edit(path, data.replace(old, new, 1), **more)

    def bash(self, change: Any, **more: Any) -> LogEntry:
        self.recorder.record_outside()
        change()
        done = bash(f"toolu_{self.session}_{next(self.numbers)}", session=self.session, **more)
        self.recorder.record_window(done)
        return entry_of(self.recorder, done.id)


def entry_of(recorder: Recorder, name: str) -> LogEntry:
    return next(entry for entry in recorder.entries() if entry.id == name)


def statuses(recorder: Recorder) -> list[str]:
    return [entry.status for entry in recorder.entries()]


def lane_file(repo: UserRepo, lane: LaneName | str | None, path: str) -> bytes:
    assert lane is not None
    return repo.git("show", f"{lane}:{path}").encode("utf-8", "surrogateescape")


def lane_subjects(repo: UserRepo, lane: LaneName | str | None) -> list[str]:
    """The lane's own commits, oldest first."""
    assert lane is not None
    return repo.git("log", "--reverse", "--format=%s", f"main..{lane}").splitlines()


def patch_of(repo: UserRepo, commit: Oid | None) -> list[str]:
    """The added and removed lines of one commit."""
    assert commit is not None
    lines = repo.git("show", "--format=", "--no-color", commit).split("\n")
    return [line for line in lines if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]


def replayed(recorder: Recorder) -> dict[str, tuple[int, bytes]]:
    """The files of the timeline's newest tree: mode and bytes."""
    recorder.journal.refresh()
    workspace = recorder.workspace
    return {
        path: (entry.mode, workspace.store.read_blob(entry.oid))
        for path, entry in workspace.trees.walk(recorder.timeline.tree)
    }


def on_disk(repo: UserRepo) -> dict[str, tuple[int, bytes]]:
    """Every file that git tracks or would add, as it is on disk."""
    names = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    found = {}
    for name in filter(None, dict.fromkeys(names)):
        place = repo.path / name
        if place.is_symlink():
            found[name] = (0o120000, str(place.readlink()).encode())
        elif place.is_file():
            mode = 0o100755 if place.stat().st_mode & 0o100 else 0o100644
            found[name] = (mode, place.read_bytes())
    return found
