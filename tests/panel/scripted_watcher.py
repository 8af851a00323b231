"""A watcher with a script: the real socket and protocol, without a repository.

Holds entries, lanes, sessions and prompts, answers every request the panel makes, publishes changes to
subscribers, and records the requests.
"""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chorus import __version__
from chorus.errors import ChorusError, ExitCode
from chorus.text.width import list_of
from chorus.watcher.server.server import Server
from chorus.wire.home import Home
from chorus.wire.protocol import Request


class Refusal(ChorusError):
    def __init__(self, message: str, exit_code: ExitCode, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


class ScriptedWatcher:
    def __init__(self, home: Home) -> None:
        self.home = home
        home.root.mkdir(parents=True, exist_ok=True)
        self.entries: dict[int, dict[str, Any]] = {}
        self.patches: dict[int, str] = {}
        # Action -> the outside changes after it.
        self.outside: dict[int, list[dict[str, Any]]] = {}
        self.outside_patch = ""
        self.lanes: dict[str, dict[str, Any]] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        self.prompts: dict[str, dict[str, Any]] = {}
        self.turns: list[dict[str, Any]] = []
        # Action -> later actions that a revert of it conflicts with; None stands for an outside change.
        self.dependents: dict[int, list[int | None]] = {}
        # Action -> its hunks, and what a revert of it warns of.
        self.hunks: dict[int, list[dict[str, Any]]] = {}
        self.warnings: dict[int, list[dict[str, Any]]] = {}
        self.notes: dict[int, dict[str, Any]] = {}
        # What a landing leaves open, and what to do about it.
        self.left: list[dict[str, Any]] = []
        self.left_hints: list[str] = []
        self.refuse: dict[str, ChorusError] = {}
        self.delay_seconds: dict[str, float] = {}
        # Requests that are not answered until they are taken out of here.
        self.held: set[str] = set()
        self.version = __version__
        self.requests: list[Request] = []
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        ready.wait()

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def stop(self) -> None:
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._thread = None

    def publish(self, event: str, **fields: Any) -> None:
        """Send an event to every subscriber, from any thread."""
        message: Any = {"event": event, **fields}
        self._loop.call_soon_threadsafe(lambda: self._server.publish(message))

    def add_action(self, entry: dict[str, Any], patch: str = "") -> None:
        self.entries[entry["n"]] = entry
        self.patches[entry["n"]] = patch
        self.publish("action", entry=entry)

    def add_prompt(self, prompt: dict[str, Any]) -> None:
        self.prompts[prompt["id"]] = prompt
        self.publish("prompt", prompt=prompt)

    def withdraw(self, prompt: str, why: str = "withdrawn") -> None:
        del self.prompts[prompt]
        self.publish("prompt-gone", id=prompt, why=why)

    def requests_for(self, do: str) -> list[dict[str, Any]]:
        requests = [dict(request.arguments) for request in list(self.requests) if request.do == do]
        for arguments in requests:
            arguments.pop("cwd", None)
        return requests

    @property
    def subscribers(self) -> int:
        return self._server.subscribers

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        self._server = Server(self.home, self._handle)
        await self._server.open()
        ready.set()
        await self._stopping.wait()
        await self._server.close()
        mine = asyncio.current_task()
        await asyncio.wait(
            [task for task in asyncio.all_tasks() if task is not mine]
            or [asyncio.ensure_future(asyncio.sleep(0))]
        )

    async def _handle(self, request: Request) -> Any:
        self.requests.append(request)
        await asyncio.sleep(self.delay_seconds.get(request.do, 0))
        while request.do in self.held and not self._stopping.is_set():
            await asyncio.sleep(0.002)
        if (refusal := self.refuse.get(request.do)) is not None:
            raise refusal
        answers: dict[str, Callable[..., Any]] = {
            "hello": self._hello,
            "status": self._status,
            "subscribe": lambda: {},
            "sessions": lambda: list(self.sessions.values()),
            "lanes": lambda cwd, here=False: list(self.lanes.values()),
            "prompts": lambda: list(self.prompts.values()),
            "turns": lambda: self.turns,
            "log": self._log,
            "show": self._show,
            "answer": self._answer,
            "keep": self._keep,
            "revert": self._revert,
            "redo": self._redo,
            "notes": lambda **_: list(self.notes.values()),
            "note": self._note,
            "drop_notes": self._drop_notes,
            "send_notes": self._send_notes,
            "hunks": lambda cwd, action: self.hunks.get(action, []),
            "land": self._land,
        }
        return answers[request.do](**request.arguments)

    def _hello(self) -> dict[str, Any]:
        return {"version": self.version, "pid": 1, "protocol": 1, "repository": str(self.home.common_dir)}

    def _status(self) -> dict[str, Any]:
        return {
            "watcher": self._hello(),
            "sessions": list(self.sessions.values()),
            "open": len(self._log(open=True)),
            "prompts": len(self.prompts),
        }

    def _log(
        self,
        *,
        cwd: str | None = None,
        limit: int = 0,
        before: int | None = None,
        outside: bool = False,
        here: bool = False,
        open: bool = False,
    ) -> list[dict[str, Any]]:
        numbers = [n for n in sorted(self.entries) if before is None or n < before]
        if open:
            numbers = [n for n in numbers if self.entries[n]["status"] == "committed"]
        listed = list(self.outside.get(0, [])) if outside else []
        for n in numbers:
            listed.append(self.entries[n])
            listed.extend(self.outside.get(n, []) if outside else [])
        return listed[-limit:]

    def _show(self, cwd: str, action: int | str) -> dict[str, Any]:
        if named := [n for n, entry in self.entries.items() if entry["id"] == action]:
            action = named[0]
        if isinstance(action, str):
            found = next(e for changes in self.outside.values() for e in changes if e["timeline"] == action)
            return {**found, "edits": [], "patch": self.outside_patch}
        return {**self.entries[action], "edits": [], "patch": self.patches.get(action, "")}

    def _answer(
        self, prompt: str, fingerprint: str, decision: str, by: str = "command", **more: Any
    ) -> dict[str, Any]:
        known = self.prompts.get(prompt)
        if known is None or known["fingerprint"] != fingerprint:
            raise Refusal("the dialog on screen is not the one that was answered", ExitCode.REFUSED)
        self.withdraw(prompt, "answered")
        return {"key": more.get("option") or "1", "how": "keys", "verified": True}

    def _chosen(self, actions: list[Any] | None, turn: str | None) -> list[int]:
        if turn is not None:
            return [n for n, entry in self.entries.items() if entry["turn"] == turn]
        numbers = {entry["id"]: n for n, entry in self.entries.items()}
        return [numbers.get(action, action) for action in actions or []]

    def _keep(
        self, cwd: str, actions: list[int] | None = None, turn: str | None = None, undo: bool = False
    ) -> dict[str, Any]:
        before, after = ("kept", "committed") if undo else ("committed", "kept")
        chosen = [n for n in self._chosen(actions, turn) if self.entries[n]["status"] == before]
        self._change(chosen, after)
        return {"kept": [] if undo else chosen, "reopened": chosen if undo else []}

    def _revert(
        self,
        *,
        cwd: str,
        actions: list[int] | None = None,
        turn: str | None = None,
        dry_run: bool = False,
        with_dependents: bool = False,
        hunks: list[int] | None = None,
    ) -> dict[str, Any]:
        chosen = self._chosen(actions, turn)
        later = [n for each in chosen for n in self.dependents.get(each, [])]
        blocking = sorted({n for n in later if n is not None and n not in chosen})
        outside = None in later
        if outside or (blocking and not with_dependents):
            what = "reverted alone" if blocking else "reverted"
            first = f"{list_of(chosen, 'action')} cannot be {what}; nothing was changed"
            names = [f"action {n} ({self.entries[n]['summary']})" for n in blocking]
            names += ["an outside change"] if outside else []
            places = [f"  src/parser.py was changed later in the same lines: {name}" for name in names]
            hint = "Undo the outside change by hand first." if outside else "Run it with --with-dependents."
            refusal = Refusal("\n".join((first, *places)), ExitCode.CONFLICT, hint)
            conflicts = [{"path": "src/parser.py", "why": "was changed later", "by": n} for n in later]
            refusal.details = {"dependents": blocking, "conflicts": conflicts}
            raise refusal
        chosen = chosen + blocking
        patch = "".join(inverted(self.patches.get(n, "")) for n in chosen)
        if not dry_run and not hunks:
            self._change(chosen, "reverted")
        answer = {"n": None if dry_run else 1000, "reverted": chosen, "paths": [], "patch": patch}
        return answer | {"warnings": [each for n in chosen for each in self.warnings.get(n, [])]}

    def _redo(self, cwd: str, actions: list[int]) -> dict[str, Any]:
        self._change(actions, "committed")
        return {"n": 1001, "reverted": actions, "paths": [], "patch": ""}

    def _note(
        self, *, cwd: str, action: int, text: str, path: str | None = None, line: int | None = None
    ) -> dict[str, Any]:
        n = len(self.notes) + 1
        self.notes[n] = {
            "n": n, "action": action, "id": self.entries[action]["id"], "session": "s1", "path": path,
            "line": line, "text": text, "state": "draft", "changed": False, "at": line, "quote": [],
        }  # fmt: skip
        self.publish("notes", notes=list(self.notes.values()))
        return self.notes[n]

    def _drop_notes(self, cwd: str, notes: list[int]) -> list[dict[str, Any]]:
        dropped = [self.notes.pop(n) for n in notes]
        self.publish("notes", notes=list(self.notes.values()))
        return dropped

    def _send_notes(self, cwd: str, here: bool = False) -> dict[str, Any]:
        sent = [n for n, note in self.notes.items() if note["state"] == "draft"]
        if not sent:
            raise Refusal("there is no draft to send", ExitCode.NOT_FOUND)
        self.notes = {n: {**note, "state": "sent"} for n, note in self.notes.items()}
        self.publish("notes", notes=list(self.notes.values()))
        return {"sent": sent, "now": [], "queued": ["s1"]}

    def _land(self, cwd: str, lane: str, by: str, dry_run: bool = False, **more: Any) -> dict[str, Any]:
        mine = [n for n, entry in self.entries.items() if entry["lane"] == lane]
        groups = {"all": [mine], "action": [[n] for n in mine]}.get(by) or [mine[:2], mine[2:]]
        commits = [
            {"oid": "1" * 40, "subject": self.entries[group[0]]["summary"], "actions": group, "message": "m"}
            for group in groups
            if group
        ]
        if not dry_run:
            for n in mine:
                self.entries[n] = {**self.entries[n], "landed": True}
                self.publish("action", entry=self.entries[n])
        return {
            "commits": commits, "onto": more.get("onto", "main"), "left": self.left, "hints": self.left_hints
        }  # fmt: skip

    def _change(self, numbers: list[int], status: str) -> None:
        for n in numbers:
            self.entries[n] = {**self.entries[n], "status": status}
            self.publish("action", entry=self.entries[n])


def inverted(patch: str) -> str:
    """Return the patch that reverts this one."""
    signs = {"+": "-", "-": "+"}
    lines = patch.splitlines(keepends=True)
    heads = ("+++", "---")
    return "".join(signs.get(x[:1], x[:1]) + x[1:] if not x.startswith(heads) else x for x in lines)


def make_home(directory: Path) -> Home:
    (directory / ".git").mkdir(exist_ok=True)
    return Home(directory / ".git")
