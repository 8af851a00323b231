"""The requests of the watcher's socket: checked against their records, and handled.

An unknown request or wrong arguments are refused with one sentence. The requests about history are in
`review_requests`.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

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
from chorus.model.json_api import (
    AnswerJson,
    AuditEntryJson,
    PromptJson,
    RunJson,
    SessionJson,
    StatusJson,
    WatcherJson,
    WatchJson,
)
from chorus.model.requests import (
    AnswerArguments,
    EndArguments,
    LendArguments,
    NoArguments,
    SendArguments,
    WatchArguments,
)
from chorus.model.schema import arguments_validator
from chorus.model.session import SessionTable
from chorus.tmux.address import Address
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.panes.headless_runs import HeadlessRuns
from chorus.watcher.panes.pane_source import PaneSource
from chorus.watcher.prompts.audit_log import AuditLog
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.sources.live_clients import client_key
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.state.lent_hooks import HookLoan, LentHooks
from chorus.watcher.work_trees import WatchedTrees
from chorus.wire.home import Home
from chorus.wire.protocol import VERSION, Request

# Takes the checked arguments; each request has its own record of them, and its own answer.
Handler = Callable[[Any], Awaitable[object]]


class RequestHandlers:
    """Finds the handler of a request by its name."""

    def __init__(self, *groups: Mapping[str, Handler]) -> None:
        self._handlers = {name: handler for group in groups for name, handler in group.items()}

    async def handle(self, request: Request) -> object:
        handler = self._handlers.get(request.do)
        if handler is None:
            raise UsageError(f"unknown request: {request.do!r}")
        try:
            arguments = arguments_validator(request.do).validate_python(request.arguments)
        except ValidationError as error:
            raise UsageError(f"{request.do}: {_describe(error)}") from None
        return await handler(arguments)


def _describe(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg'].lower()}" for one in problems)


@dataclass(frozen=True, slots=True)
class StatusRequests:
    """What the watcher watches, and requests about the watcher itself."""

    home: Home
    since: str
    trees: WatchedTrees
    transcripts: TranscriptSource
    prompts: PendingPrompts
    task_problems: Mapping[str, str]
    subscribers: Callable[[], int]
    request_stop: Callable[[], None]

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            "hello": self.hello,
            "status": self.status,
            "stop": self.stop,
            "subscribe": self.subscribe,
            "sync": self.sync,
            "sessions": self.sessions,
        }

    async def hello(self, _: NoArguments) -> WatcherJson:
        return self._watcher_json()

    async def status(self, _: NoArguments) -> StatusJson:
        trees = {root: tree for root, tree in self.trees.all.items() if tree.directory.is_there()}
        lanes = [lane for tree in trees.values() for lane in tree.recorder.log.lanes()]
        problems = [
            *self.task_problems.values(),
            *self.transcripts.tails.problems,
            *(tree.watch.problem for tree in trees.values() if tree.watch.problem),
        ]
        return {
            "watcher": self._watcher_json(),
            "ok": not problems,
            "work_trees": [str(root) for root in trees],
            "sessions": self._sessions_json(),
            "lanes": len(lanes),
            "open": sum(lane["open"] for lane in lanes),
            "prompts": len(self.prompts.all()),
            "problems": problems,
        }

    async def stop(self, _: NoArguments) -> dict[str, object]:
        self.request_stop()
        return {}

    async def subscribe(self, _: NoArguments) -> dict[str, object]:
        """Skip existing log entries: the first subscriber gets only what is new from now on."""
        if self.subscribers() == 1:
            for tree in self.trees.all.values():
                tree.take_new_entries()
        return {}

    async def sync(self, _: NoArguments) -> dict[str, object]:
        await self.transcripts.catch_up()
        return {}

    async def sessions(self, _: NoArguments) -> list[SessionJson]:
        return self._sessions_json()

    def _watcher_json(self) -> WatcherJson:
        return {
            "pid": os.getpid(),
            "version": __version__,
            "protocol": VERSION,
            "repository": str(self.home.common_dir),
            "since": self.since,
        }

    def _sessions_json(self) -> list[SessionJson]:
        """The sessions. One without hooks reports no prompt, so its screen decides whether it is waiting."""
        waiting = {prompt["session"] for prompt in self.prompts.all()}
        sessions = [session.as_json() for session in self.transcripts.pipeline.roster.sessions.values()]
        for session in sessions:
            if session["id"] in waiting:
                session["state"] = "waiting"
        return sessions


@dataclass(frozen=True, slots=True)
class PaneRequests:
    """Panes and headless sessions."""

    panes: PaneSource
    runs: HeadlessRuns
    roster: SessionTable
    trees: WatchedTrees
    notices: NoticeQueue
    lent_hooks: LentHooks

    @property
    def handlers(self) -> dict[str, Handler]:
        return {"watch": self.watch, "lend": self.lend, "send": self.send, "end": self.end}

    async def watch(self, arguments: WatchArguments) -> WatchJson:
        address = Address(Path(arguments["socket"]))
        watched = await self.panes.panes.watch(address, PaneId(arguments["pane"]))
        if watched.state is not None:
            self.trees.find(watched.state.path)
        run, pipe = arguments.get("run"), arguments.get("pipe")
        if run is not None and pipe is not None:
            self.runs.add(run, Path(pipe), watched.id)
            self.panes.panes.read_stream(watched)
        self.panes.save()
        return {"pane": watched.id, "session": watched.session, "client": watched.client is not None}

    async def lend(self, arguments: LendArguments) -> None:
        key = (Address(Path(arguments["socket"])), PaneId(arguments["pane"]))
        watched = self.panes.panes.all.get(key)
        client = watched.client if watched is not None else None
        name = client_key(client.pid, client) if client is not None else client_key(0, None)
        loan = HookLoan(arguments["settings"], arguments["backups"], name)
        self.lent_hooks.lend(loan, installed=arguments["installed"])

    async def send(self, arguments: SendArguments) -> RunJson:
        found = self.runs.find(arguments.get("run"))
        known = self.roster.sessions.get(found.session) if found.session else None
        # Without hooks, notices go with the user's next message.
        has_no_hooks = known is not None and "hook" not in known.sources
        notice = self.notices.take(known.id) if known is not None and has_no_hooks else None
        await self.runs.send_message(found, arguments["message"], notice)
        return {"run": found.name, "session": found.session}

    async def end(self, arguments: EndArguments) -> RunJson:
        found = self.runs.find(arguments.get("run"))
        await self.runs.end(found)
        return {"run": found.name}


@dataclass(frozen=True, slots=True)
class PromptRequests:
    """Pending prompts and their answers."""

    prompts: PendingPrompts
    panes: PaneSource
    audit_log: AuditLog

    @property
    def handlers(self) -> dict[str, Handler]:
        return {"prompts": self.pending, "answer": self.answer, "audit": self.audit}

    async def pending(self, _: NoArguments) -> list[PromptJson]:
        for pane in self.panes.panes.all.values():
            self.prompts.look(pane)
        return self.prompts.all()

    async def answer(self, arguments: AnswerArguments) -> AnswerJson:
        answer = parse_answer(arguments)
        by = arguments.get("by", "command")
        return await self.prompts.answer(arguments["prompt"], arguments["fingerprint"], answer, by=by)

    async def audit(self, _: NoArguments) -> list[AuditEntryJson]:
        return self.audit_log.read()


def parse_answer(arguments: AnswerArguments) -> Answer:
    message = arguments.get("message")
    match arguments["decision"]:
        case "allow":
            return Allow(message)
        case "allow-always":
            return AllowAlways()
        case "deny":
            return Deny(message)
        case "option":
            option = arguments.get("option")
            if option is None:
                raise UsageError("answer: the decision 'option' needs an option")
            return ChooseOption(option, message)
        case "answers":
            replies = [
                QuestionAnswer(one["question"], tuple(one.get("labels", ())), one.get("text"))
                for one in arguments.get("answers", ())
            ]
            return QuestionAnswers(tuple(replies))
