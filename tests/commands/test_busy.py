"""Reverts and redos while a session edits the same files: no edit is lost."""

import itertools
import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chorus.history.recorder import Recorder
from chorus.wire.client import Connection
from chorus.wire.home import find_home
from chorus.wire.protocol import WatcherError
from chorus.wire.watcher_process import connect_or_start
from tests.commands.conftest import Shell
from tests.history.agent_at_work import on_disk
from tests.history.invariants import assert_whole
from tests.repos import UserRepo
from tests.waiting import wait_for

COUNT = int(os.environ.get("CHORUS_BUSY", "20"))
FILES = 5
SECONDS = 240.0


class Session(threading.Thread):
    """A client at work: tells of each edit before and after, and waits until it was heard."""

    def __init__(self, repo: UserRepo) -> None:
        super().__init__(daemon=True)
        self.repo = repo
        self.spool = repo.path / ".git" / "chorus" / "spool"
        self.numbers = itertools.count()
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            self.tell("UserPromptSubmit", prompt="Change every slot")
            for number in range(COUNT):
                self.edit(
                    self.repo.path / f"busy{number % FILES}.txt", f"slot {number}\n", f"done {number}\n"
                )
        except BaseException as error:
            self.failed = error
            raise

    def edit(self, place: Path, old: str, new: str) -> None:
        given = {"file_path": str(place), "old_string": old, "new_string": new}
        call = {"tool_name": "Edit", "tool_use_id": f"toolu_{next(self.numbers)}", "tool_input": given}
        self.tell("PreToolUse", **call)
        text = place.read_text()
        assert old in text
        temporary = place.with_name(f"{place.name}.tmp.1.0123456789ab")
        temporary.write_text(text.replace(old, new))
        temporary.replace(place)
        response = {"filePath": str(place), "oldString": old, "newString": new, "originalFile": text}
        self.tell("PostToolUse", **call, tool_response=response)

    def tell(self, name: str, **more: Any) -> None:
        common = {"session_id": "busy", "transcript_path": str(self.repo.path.parent / "none.jsonl")}
        event = {"hook_event_name": name, "cwd": str(self.repo.path), "prompt_id": "p1", **common, **more}
        place = self.spool / f"{os.getpid()}.{next(self.numbers)}"
        place.write_bytes(b"1\t\t\t\n" + json.dumps(event).encode())
        with (self.spool / "poke").open("r+b", buffering=0) as poke:
            poke.write(b"\n")
        wait_for(lambda: not place.exists(), what=f"{name} is heard", seconds=SECONDS)


def review_at_random(watcher: Connection, cwd: str, going_on: Callable[[], bool]) -> int:
    """Take back and bring back, until so many times and the session is done."""
    dice, done = random.Random(1), 0
    while done < COUNT or going_on():
        entries = [e for e in watcher.ask("log", cwd=cwd, tool="Edit") if e["status"] != "noop"]
        if not entries:
            continue
        entry = dice.choice(entries)
        try:
            do = "redo" if entry["status"] == "reverted" else "revert"
            watcher.request(do, {"cwd": cwd, "actions": [entry["n"]]})
        except WatcherError as error:
            raise AssertionError(f"{entry}: {error}") from None
        done += 1
    return done


def test_reverts_and_redos_while_a_session_edits(repo: UserRepo, chorus: Shell) -> None:
    for number in range(FILES):
        slots = range(number, COUNT, FILES)
        repo.write(f"busy{number}.txt", "".join(f"slot {s}\na {s}\nb {s}\nc {s}\n" for s in slots).encode())
    session, cwd = Session(repo), str(repo.path)
    with connect_or_start(find_home(repo.path)) as watcher:
        assert chorus("revert", "1").code == 3
        session.start()
        done = review_at_random(watcher, cwd, session.is_alive)
        session.join()
        assert session.failed is None
        entries = watcher.ask("log", cwd=cwd, outside=True)
    assert done >= COUNT
    edits = [entry for entry in entries if entry["tool"] == "Edit"]
    assert [entry["id"] for entry in edits] == sorted({e["id"] for e in edits}, key=lambda i: int(str(i)[6:]))
    assert len(edits) == COUNT
    assert [entry["paths"] for entry in entries if entry["status"] == "outside"] == []
    text = b"".join(data for name, (_, data) in on_disk(repo).items() if name.startswith("busy"))
    lines = set(text.decode().splitlines())
    for number, entry in enumerate(edits):
        wanted, other = (f"slot {number}", f"done {number}")[:: -1 if entry["status"] == "committed" else 1]
        assert wanted in lines, entry
        assert other not in lines, entry
    with Recorder.open(repo.path) as recorder:
        assert_whole(repo, recorder)
