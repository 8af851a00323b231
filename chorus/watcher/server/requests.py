"""What can be asked of the agent, and the answers.

Each request is a method named after it; its arguments are the message's own fields. Unknown requests
and wrong arguments are refused with a sentence, never with a crash.
"""

import inspect
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chorus import __version__
from chorus.errors import UsageError
from chorus.model.answer import (
    Allow,
    AllowAlways,
    Answer,
    ChooseOption,
    Deny,
    QuestionAnswer,
    QuestionAnswers,
)
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.watcher.server.review_requests import Reviewing
from chorus.watcher.sources.liveness import name_client
from chorus.watcher.state.lent_hooks import Loan
from chorus.wire.protocol import VERSION, Request


def parse_answer(
    decision: str, option: str | None, message: str | None, answers: Sequence[Mapping[str, Any]]
) -> Answer:
    match decision:
        case "allow":
            return Allow(message)
        case "allow-always":
            return AllowAlways()
        case "deny":
            return Deny(message)
        case "option" if option is not None:
            return ChooseOption(option, message)
        case "answers":
            replies = [
                QuestionAnswer(a["question"], tuple(a.get("labels", ())), a.get("text")) for a in answers
            ]
            return QuestionAnswers(tuple(replies))
        case _:
            raise UsageError(f"not a decision: {decision!r}")


class Requests(Reviewing):
    async def handle(self, request: Request) -> Any:  # noqa: ANN401  each request has its own answer
        handler = getattr(self, f"do_{request.do.replace('-', '_')}", None)
        if handler is None:
            raise UsageError(f"the agent knows no request {request.do!r}")
        try:
            inspect.signature(handler).bind(**request.arguments)
        except TypeError as error:
            raise UsageError(f"{request.do}: {error}") from None
        return await handler(**request.arguments)

    async def do_hello(self) -> dict[str, Any]:
        return {
            "chorus": __version__,
            "pid": os.getpid(),
            "protocol": VERSION,
            "repository": str(self._watcher.home.common_dir),
        }

    async def do_status(self) -> dict[str, Any]:
        watcher = self._watcher
        trees = {root: tree for root, tree in watcher.trees.all.items() if tree.place.is_there()}
        lanes = [lane for tree in trees.values() for lane in tree.recorder.log.lanes()]
        problems = [
            *watcher.tasks.problems.values(),
            *watcher.transcripts.tails.problems,
            *(tree.watch.problem for tree in trees.values() if tree.watch.problem),
        ]
        return {
            "ok": not problems,
            **await self.do_hello(),
            "since": watcher.since,
            "work_trees": [str(root) for root in trees],
            "sessions": await self.do_sessions(),
            "lanes": len(lanes),
            "open": sum(lane["open"] for lane in lanes),
            "prompts": len(watcher.prompts.waiting()),
            "problems": problems,
        }

    async def do_stop(self) -> dict[str, Any]:
        self._watcher.stop()
        return {}

    async def do_subscribe(self) -> dict[str, Any]:
        """The server has put the connection among those that are told; what is there already is no news."""
        if self._watcher.server.subscribers == 1:
            for tree in self._watcher.trees.all.values():
                tree.news()
        return {}

    async def do_sync(self) -> dict[str, Any]:
        await self._watcher.catch_up()
        return {}

    async def do_watch(
        self, socket: str, pane: str, run: str | None = None, pipe: str | None = None
    ) -> dict[str, Any]:
        """Watch a pane. `run` and `pipe`: it holds a headless session of ours, fed through that pipe."""
        watched = await self._watcher.watching.panes.watch(Address(Path(socket)), PaneId(pane))
        if watched.state is not None:
            self._watcher.trees.find(watched.state.path)
        if run is not None and pipe is not None:
            self._watcher.runs.add(run, Path(pipe), watched.id)
            self._watcher.watching.panes.listen(watched)
        self._watcher.watching.keep()
        return {"pane": watched.id, "session": watched.session, "client": watched.client is not None}

    async def do_lend(self, socket: str, pane: str, settings: str, backups: str, installed: bool) -> None:
        """Hooks were put into that file for the client in the pane: they are taken out when it is gone."""
        watched = self._watcher.watching.panes.all.get((Address(Path(socket)), PaneId(pane)))
        client = watched.client if watched is not None else None
        name = name_client(client.pid, client) if client is not None else name_client(0, None)
        self._watcher.lending.lend(Loan(settings, backups, name), installed=installed)

    async def do_send(self, message: str, run: str | None = None) -> dict[str, Any]:
        found = self._watcher.runs.find(run)
        known = self._watcher.intake.roster.sessions.get(found.session) if found.session else None
        # A run whose hooks are off hears it with the user's next message.
        deaf = known is not None and "hook" not in known.sources
        note = self._watcher.telling.take(known.id) if known is not None and deaf else None
        await self._watcher.runs.say(found, message, note)
        return {"run": found.name, "session": found.session}

    async def do_end(self, run: str | None = None) -> dict[str, Any]:
        found = self._watcher.runs.find(run)
        await self._watcher.runs.end(found)
        return {"run": found.name}

    async def do_prompts(self) -> list[dict[str, Any]]:
        for pane in self._watcher.watching.panes.all.values():
            self._watcher.prompts.look(pane)
        return self._watcher.prompts.waiting()

    async def do_answer(
        self,
        prompt: str,
        fingerprint: str,
        decision: str,
        *,
        option: str | None = None,
        message: str | None = None,
        answers: Sequence[Mapping[str, Any]] = (),
        by: str = "command",
    ) -> dict[str, Any]:
        """Answer the prompt that was shown under this id, with this fingerprint, and no other."""
        answer = parse_answer(decision, option, message, answers)
        return await self._watcher.prompts.answer(prompt, fingerprint, answer, by=by)

    async def do_audit(self) -> list[dict[str, Any]]:
        return self._watcher.audit.read()

    async def do_sessions(self) -> list[dict[str, Any]]:
        """A session without hooks tells of no prompt: its screen does."""
        asked = {prompt["session"] for prompt in self._watcher.prompts.waiting()}
        sessions = self._watcher.intake.roster.sessions.values()
        return [s.as_json() | ({"state": "waiting"} if s.id in asked else {}) for s in sessions]
