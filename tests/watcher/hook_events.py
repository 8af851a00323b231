"""Hook events for a running watcher, written without the hook program."""

import itertools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from chorus.wire.client import connect
from chorus.wire.home import Home
from tests.waiting import wait_for

SECONDS = 60.0


class HookEvents:
    """What the hook program leaves for the watcher, without the program."""

    def __init__(self, home: Home, *, pane: str = "", client: int | None = None) -> None:
        """`pane`: where the client is. In no pane, its permission hook is held until somebody answers."""
        self._home = home
        self._head = f"1\t{client or ''}\t{pane}\t{'/nowhere,1,0' if pane else ''}\n"
        self._names = itertools.count(1)

    def tell(self, *events: dict[str, Any]) -> None:
        """Leave them in this order, and wait until each is dealt with."""
        put = [self._put(event) for event in events]
        poke = os.open(self._home.spool / "poke", os.O_WRONLY | os.O_NONBLOCK)
        os.write(poke, b"\n")
        os.close(poke)
        wait_for(lambda: not any(map(self._is_left, put)), what="all are recorded", seconds=SECONDS)

    def _is_left(self, path: Path) -> bool:
        """Whether an event waits in the spool, or is taken and not recorded yet."""
        return path.exists() or any((path.parent / "taken").glob(f"{path.name}.*"))

    def _put(self, event: dict[str, Any]) -> Path:
        temporary = self._home.spool / "being-written"
        temporary.write_bytes(self._head.encode() + json.dumps(event).encode())
        # Named as by a hook that still waits.
        return temporary.rename(self._home.spool / f"{os.getpid()}.{next(self._names)}")


class Session:
    """One session, through its hooks. Each call is reported, done, and reported again."""

    def __init__(self, name: str, home: Home, work_tree: Path) -> None:
        self.name, self.home, self.work_tree = name, home, work_tree
        self._hooks = HookEvents(home)

    def bash(self, name: str, command: str, cwd: Path | None = None) -> None:
        event = {
            "session_id": self.name,
            "transcript_path": str(self.home.common_dir.parent.parent / f"{self.name}.jsonl"),
            "cwd": str(self.work_tree),
            "tool_name": "Bash",
            "tool_use_id": name,
            "tool_input": {"command": command},
        }
        self._hooks.tell(event | {"hook_event_name": "PreToolUse"})
        subprocess.run(command, shell=True, cwd=cwd or self.work_tree, check=True)
        done = {"stdout": "", "stderr": "", "interrupted": False}
        self._hooks.tell(event | {"hook_event_name": "PostToolUse", "tool_response": done})

    def recorded(self) -> list[tuple[str, list[str]]]:
        """Status and paths of all that was recorded in its work tree."""
        with connect(self.home) as watcher:
            entries = watcher.ask("log", cwd=str(self.work_tree), here=True, outside=True)
        return [(entry["status"], entry["paths"]) for entry in entries]
