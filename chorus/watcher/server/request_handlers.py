"""Handle the requests on the watcher's socket: check their arguments, and call their handlers.

The requests about history are in `review_requests`.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chorus import __version__
from chorus.errors import NotFound, UsageError
from chorus.model.answer import (
    Allow,
    AllowAlways,
    Answer,
    ChooseOption,
    Deny,
    QuestionAnswer,
    QuestionAnswers,
)
from chorus.model.api.json_api import (
    AnswerJson,
    AuditEntryJson,
    CaptureJson,
    PromptJson,
    RunJson,
    SessionJson,
    StatusJson,
    TurnJson,
    WatcherJson,
    WatchJson,
)
from chorus.model.api.requests import (
    AnswerArguments,
    CaptureArguments,
    EndArguments,
    ModeArguments,
    NoArguments,
    RunArguments,
    SendArguments,
    TrackHooksArguments,
    TurnsArguments,
    WatchArguments,
)
from chorus.model.api.schema import arguments_validator
from chorus.model.ids import PaneId, SessionId
from chorus.model.session import SessionTable
from chorus.system.files.git_files import label_of
from chorus.tmux.address import Address
from chorus.tmux.launch import show_side_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.background_threads import run_in_thread
from chorus.watcher.note_delivery import NoteDelivery
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.panes.capture_files import CaptureFiles
from chorus.watcher.panes.headless_runs import HeadlessRuns, RequestRefused
from chorus.watcher.panes.pane_source import PaneSource
from chorus.watcher.prompts.audit_log import AuditLog
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.sources.live_clients import ENDED_CLIENT, client_key
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.state.temporary_hooks import HookInstallation, TemporaryHooks
from chorus.watcher.state.turns import TurnStore
from chorus.watcher.work_trees import WatchedTrees
from chorus.wire.home import Home
from chorus.wire.protocol import VERSION, Request
from chorus.wire.watcher_process import import_path

# Takes the checked arguments and returns the answer. Each request has its own types of both.
Handler = Callable[[Any], Awaitable[object]]


class RequestHandlers:
    """Checks the arguments of a request and calls its handler."""

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
    """Requests about the watcher itself, and about what it watches."""

    home: Home
    since: str
    trees: WatchedTrees
    transcripts: TranscriptSource
    prompts: PendingPrompts
    panes: PaneSource
    task_problems: Mapping[str, str]
    subscribers: Callable[[], int]
    request_stop: Callable[[], None]
    read_hooks: Callable[[], Awaitable[None]]
    turns: TurnStore
    runs: HeadlessRuns
    captures: CaptureFiles

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            "hello": self.hello,
            "status": self.status,
            "stop": self.stop,
            "subscribe": self.subscribe,
            "sync": self.sync,
            "sessions": self.sessions,
            "turns": self.list_turns,
        }

    async def hello(self, _: NoArguments) -> WatcherJson:
        return self._watcher_json()

    async def status(self, _: NoArguments) -> StatusJson:
        trees = {root: tree for root, tree in self.trees.all.items() if tree.directory.is_there()}
        readers = self.trees.readers()
        lanes = [lane for recorder in readers.values() for lane in recorder.log.lanes()]
        roots = dict.fromkeys([*trees, *(one.workspace.repository.work_tree for one in readers.values())])
        problems = [
            *self.task_problems.values(),
            *self.transcripts.tails.problems,
            *(tree.watch.problem for tree in trees.values() if tree.watch.problem),
        ]
        return {
            "watcher": self._watcher_json(),
            "ok": not problems,
            "work_trees": [str(root) for root in roots],
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
        """Prepare for a new subscriber, which the server has already added.

        If there is no other subscriber, discard the log entries that were not published.
        """
        if self.subscribers() == 1:
            for tree in self.trees.all.values():
                tree.take_new_entries()
        return {}

    async def sync(self, _: NoArguments) -> dict[str, object]:
        await self.read_hooks()
        await self.transcripts.catch_up()
        return {}

    async def sessions(self, _: NoArguments) -> list[SessionJson]:
        return self._sessions_json()

    async def list_turns(self, arguments: TurnsArguments) -> list[TurnJson]:
        return self.turns.read(session=arguments.get("session"), turn=arguments.get("turn"))

    def _watcher_json(self) -> WatcherJson:
        return {
            "pid": os.getpid(),
            "version": __version__,
            "protocol": VERSION,
            "repository": str(self.home.common_dir),
            "since": self.since,
        }

    def _sessions_json(self) -> list[SessionJson]:
        """Return the sessions as JSON. A session with a pending prompt is shown as waiting."""
        waiting = {prompt["session"] for prompt in self.prompts.all()}
        sessions = [session.as_json() for session in self.transcripts.pipeline.roster.sessions.values()]
        for session in sessions:
            session["worktree"] = label_of(session["cwd"]) if session["cwd"] else None
            pane = PaneId(session["pane"]) if session["pane"] else None
            session["from_screen"] = self.panes.is_read_from_screen(session["server"], pane)
            capture = self.captures.of_session(session["id"])
            session["capture"] = str(capture.path) if capture is not None else None
            session["gaps"] = self.panes.count_gaps(session["server"], pane) + (
                capture.capture.gaps if capture is not None else 0
            )
            session["source"] = name_source(session, piped=self.panes.is_piped(session["server"], pane))
            if session["id"] in waiting:
                session["state"] = "waiting"
            self.turns.add_sums(session)
            if run := self.runs.in_session(session["id"]):
                session["run"] = run.name if run.is_running else None
                add_client_info(session, run.info)
        return sessions


def name_source(session: SessionJson, *, piped: bool) -> str:
    """Return the name of the source that a session's calls are read from: the best of its sources."""
    if "mod" in session["sources"]:
        return "mod"
    if "hook" in session["sources"]:
        return "hooks"
    if session.get("from_screen"):
        return "screen"
    if session.get("capture"):
        return "capture file"
    return "pipe" if piped else "transcript"


def add_client_info(session: SessionJson, info: Mapping[str, Any]) -> None:
    """Set the session's commands, models and account from `info`, the client's answer to `initialize`."""

    def names(key: str, name: str) -> list[str]:
        found = info.get(key)
        items = [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
        return [str(item[name]) for item in items if name in item]

    session["commands"] = names("commands", "name")
    session["models"] = names("models", "value")
    account = info.get("account")
    session["account"] = dict(account) if isinstance(account, Mapping) else {}


@dataclass(frozen=True, slots=True)
class PaneRequests:
    """Requests about panes and headless sessions."""

    panes: PaneSource
    runs: HeadlessRuns
    roster: SessionTable
    trees: WatchedTrees
    notices: NoticeQueue
    temporary_hooks: TemporaryHooks
    note_delivery: NoteDelivery
    captures: CaptureFiles

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            "watch": self.watch,
            "capture": self.capture,
            "track_hooks": self.track_hooks,
            "send": self.send,
            "ready": self.ready,
            "interrupt": self.interrupt,
            "mode": self.mode,
            "end": self.end,
        }

    async def watch(self, arguments: WatchArguments) -> WatchJson:
        address = Address(Path(arguments["socket"]))
        watched = await self.panes.panes.watch(address, PaneId(arguments["pane"]))
        if watched.state is not None:
            self.trees.find(watched.state.path)
        run, pipe = arguments.get("run"), arguments.get("pipe")
        if run is not None and pipe is not None:
            added = self.runs.add(run, Path(pipe), address, watched.id, arguments.get("servers", ()))
            resumed = SessionId(arguments.get("resumes") or "")
            added.resumed = resumed if resumed in self.roster.sessions else None
            self.panes.panes.read_stream(watched)
            self.panes.start(self.runs.initialize(added))
        self.panes.save()
        panel_error = None
        if panel := arguments.get("panel"):
            environment = {"PYTHONPATH": import_path()}
            panel_error = await run_in_thread(
                show_side_pane, TmuxServer(address), watched.id, panel, environment=environment
            )
        return {
            "pane": watched.id,
            "session": watched.session,
            "client": watched.client is not None,
            "panel_error": panel_error,
        }

    async def capture(self, arguments: CaptureArguments) -> CaptureJson:
        width = arguments.get("width")
        widths = () if width is None else (width,)
        followed = await self.captures.follow(Path(arguments["path"]), arguments["cwd"], widths)
        return followed.as_json()

    async def track_hooks(self, arguments: TrackHooksArguments) -> None:
        key = (Address(Path(arguments["socket"])), PaneId(arguments["pane"]))
        watched = self.panes.panes.all.get(key)
        client = watched.client if watched is not None else None
        name = client_key(client) if client is not None else ENDED_CLIENT
        installation = HookInstallation(arguments["settings"], arguments["backups"], name)
        self.temporary_hooks.add(installation, installed=arguments["installed"])

    async def send(self, arguments: SendArguments) -> RunJson:
        found = self.runs.find(arguments.get("run"))
        known = self.roster.sessions.get(found.session) if found.session else None
        with ExitStack() as deliveries:
            notice = None
            # Without hooks and mod, notices go with the user's next message.
            if known is not None and not known.is_live:
                both = (self.notices.deliver(known.id), self.note_delivery.deliver_with_message(known.id))
                notice = "\n\n".join(filter(None, map(deliveries.enter_context, both))) or None
            images = arguments.get("images", ())
            sent = await self.runs.send_message(found, arguments["message"], notice, images)
        return {"run": found.name, "session": found.session, "message": sent}

    async def ready(self, arguments: RunArguments) -> RunJson:
        name = arguments.get("run")
        # A client that could not start has ended by now, and is still found by its name.
        found = self.runs.all.get(name) if name is not None else None
        found = found or self.runs.find(name)
        await self.runs.wait_ready(found)
        return {"run": found.name, "session": found.session}

    async def interrupt(self, arguments: RunArguments) -> RunJson:
        found = self.runs.find(arguments.get("run"))
        known = self.roster.sessions.get(found.session) if found.session else None
        if known is not None and known.state == "idle":
            raise NotFound(f"{found.name} is idle: there is no turn to interrupt")
        how = await self.runs.interrupt(found)
        return {"run": found.name, "session": found.session, "how": how}

    async def mode(self, arguments: ModeArguments) -> RunJson:
        found = self.runs.find(arguments.get("run"))
        mode = arguments["mode"]
        try:
            await self.runs.request(found, "set_permission_mode", mode=mode)
        except RequestRefused as error:
            resume = f"chorus run MESSAGE --resume {found.session or 'SESSION'} --mode {mode}"
            error.hint = f"End the session with `chorus send --end`, and start it in this mode: `{resume}`."
            raise
        return {"run": found.name, "session": found.session}

    async def end(self, arguments: EndArguments) -> RunJson:
        found = self.runs.find(arguments.get("run"))
        found.ending = True
        self.panes.save()
        ending = self.runs.end(found, lambda: self.panes.is_idle(found))
        if arguments.get("wait"):
            await ending
        else:
            self.panes.start(ending)
        if not arguments.get("wait"):
            return {"run": found.name}
        return {"run": found.name, "code": await self.runs.wait_end(found)}


@dataclass(frozen=True, slots=True)
class PromptRequests:
    """Requests about pending prompts and their answers."""

    prompts: PendingPrompts
    panes: PaneSource
    audit_log: AuditLog
    before_answer: Callable[[], Awaitable[None]]

    @property
    def handlers(self) -> dict[str, Handler]:
        return {"prompts": self.pending, "answer": self.answer, "audit": self.audit}

    async def pending(self, _: NoArguments) -> list[PromptJson]:
        self._look()
        return self.prompts.all()

    async def answer(self, arguments: AnswerArguments) -> AnswerJson:
        answer = answer_from_arguments(arguments)
        by = arguments.get("by", "command")
        self._look()
        await self.before_answer()
        return await self.prompts.answer(arguments["prompt"], arguments["fingerprint"], answer, by=by)

    def _look(self) -> None:
        for pane in self.panes.panes.all.values():
            self.prompts.look(pane)

    async def audit(self, _: NoArguments) -> list[AuditEntryJson]:
        return self.audit_log.read()


def answer_from_arguments(arguments: AnswerArguments) -> Answer:
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
