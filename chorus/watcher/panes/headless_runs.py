"""Headless sessions that Chorus started: their input, and replies to client requests that are not prompts."""

import asyncio
import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError, NotFound, UsageError
from chorus.model.api.requests import ImageArgument
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import (
    ControlAsked,
    ControlReplied,
    MessageDelivered,
    Outcome,
    SessionDescribed,
    SessionDiscovered,
    TurnEnded,
    TurnReported,
)
from chorus.tmux.address import Address
from chorus.watcher.panes.mcp_servers import error_reply
from chorus.watcher.panes.stdin_feeder import CUT, END, FEEDER_KEY, exit_file

# A Python program (`stdin_feeder`) starts the client. That takes half a second, more on a busy machine.
START_TIMEOUT_SECONDS = 20.0
# The client answers a request at once, except while it starts.
REPLY_TIMEOUT_SECONDS = 60.0
# The program in the pane always reads, unless it is stopped (SIGSTOP).
WRITE_TIMEOUT_SECONDS = 10.0
# How long an interrupted client has to react to each step, before the next, stronger step.
INTERRUPT_SECONDS = 5.0
# How long the last output of a client that has ended may need to come through the pipe of its pane.
OUTPUT_SECONDS = 1.0
POLL_SECONDS = 0.02
# How long an idle client is given to report that it has read a message. It reads a message at once, but does
# not always report that.
UNREAD_SECONDS = 5.0
# How many characters of a session's id are enough to name it. `chorus status` shows eight.
MIN_ID_LENGTH = 4


class NoHeadlessRun(NotFound):
    hint = "Run `chorus status` to list the sessions, or start one with `chorus run MESSAGE`."


class RunEnded(ChorusError):
    hint = "Run the same client by hand to see why it ends, or run `chorus doctor`."


class InputNotRead(ChorusError):
    """The program in the pane is running but does not read its input."""

    hint = "Its process may be suspended; resume it with `kill -CONT PID`, or kill its pane."


class RequestRefused(ChorusError):
    """The client answered a control request with an error."""


@dataclass(slots=True)
class HeadlessRun:
    name: str
    pipe: Path
    server: Address
    pane: PaneId
    session: SessionId | None = None
    resumed: SessionId | None = None  # the session that it continues or forks
    sessions: set[SessionId] = field(default_factory=set)  # all sessions that its client named
    started: bool = (
        False  # something was sent: from then on a pipe without a reader means that the session ended
    )
    ending: bool = False  # it takes no more messages: its input is closed, or will be after the turn
    closed: bool = False  # its input is closed
    unread: set[str] = field(default_factory=set)  # messages that the client has not read yet
    servers: frozenset[str] = frozenset()  # the MCP servers registered for it
    ready: bool = False  # the client works: it has answered a request, or begun a turn
    info: Mapping[str, Any] = field(default_factory=dict)  # the client's answer to `initialize`
    turns_ended: int = 0
    end: tuple[int | None, str] | None = None  # exit code and output of its client, once it has ended
    reported: bool = False  # its end was published
    replies: dict[str, "asyncio.Future[ControlReplied]"] = field(default_factory=dict)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)  # held while a line is written
    is_cut: bool = False  # the last line may have been written in part

    @property
    def is_running(self) -> bool:
        """True if the program that feeds the client still runs in the pane."""
        return self.end is None and (has_reader(self.pipe) if self.started else self.pipe.exists())

    def is_named(self, name: str) -> bool:
        """True if `name` is the run's name, its pane, or the beginning of its session's id."""
        is_session = self.session is not None and len(name) >= MIN_ID_LENGTH and self.session.startswith(name)
        return is_session or name in (self.name, self.pane)

    def read_end(self) -> tuple[int | None, str]:
        """Return the ended client's exit code (None if unknown) and stderr. Remove the run's files."""
        if self.end is None:
            self.end = None, ""
            with suppress(OSError, ValueError, KeyError, TypeError):
                saved = json.loads(exit_file(self.pipe).read_text())
                self.end = saved["code"], saved["output"]
            remove_files(self.pipe)
        return self.end

    @property
    def end_in_words(self) -> str:
        code, _ = self.read_end()
        if code is None:
            return "its pane was closed or killed"
        return f"exit code {code}" if code >= 0 else f"killed by signal {-code}"

    def describe_end(self) -> str:
        _, output = self.read_end()
        return f"({self.end_in_words}): {output.strip() or 'it printed nothing'}"

    @property
    def resume_hint(self) -> str | None:
        if self.session is None:
            return None
        return f"Continue the session with `chorus run MESSAGE --resume {self.session}`."


@dataclass(slots=True)
class HeadlessRuns:
    all: dict[str, HeadlessRun] = field(default_factory=dict)

    def add(
        self, name: str, pipe: Path, server: Address, pane: PaneId, servers: Iterable[str] = ()
    ) -> HeadlessRun:
        self.all[name] = run = HeadlessRun(name, pipe, server, pane, servers=frozenset(servers))
        return run

    def take_ended(self) -> list[HeadlessRun]:
        """Return the runs that have ended since the last call."""
        ended = [run for run in self.all.values() if not run.reported and not run.is_running]
        for run in ended:
            run.reported = True
        return ended

    def remove_leftovers(self, directory: Path) -> None:
        """Remove the files of runs that ended while no watcher was running."""
        known = {run.pipe for run in self.all.values()}
        for path in (*directory.glob("run-*.in"), *directory.glob("run-*.exit")):
            if path.with_suffix(".in") not in known and not has_reader(path.with_suffix(".in")):
                path.unlink(missing_ok=True)

    def find(self, name: str | None) -> HeadlessRun:
        """Return the running headless session that `name` refers to; without a name, the only one.

        Raises NoHeadlessRun if there is none, or if there are several.
        """
        alive = [run for run in self.all.values() if run.is_running]
        if name is not None:
            alive = [run for run in alive if run.is_named(name)]
        if not alive:
            known = self.all.get(name) if name is not None else None
            if known is not None:
                raise NoHeadlessRun(f"{name} has ended {known.describe_end()}", hint=known.resume_hint)
            raise NoHeadlessRun(
                f"no headless session {name} is running" if name else "no headless session is running"
            )
        if len(alive) > 1:
            names = ", ".join(f"{run.name} (session {(run.session or '?')[:8]})" for run in alive)
            raise NoHeadlessRun(
                "several headless sessions are running", hint=f"Give one of them with --run: {names}."
            )
        return alive[0]

    def in_pane(self, server: Address, pane: PaneId) -> HeadlessRun | None:
        """Return the newest run in a pane; None if there was none. The returned run may have ended.

        A pane may have several runs: a new tmux server numbers its panes from %0 again.
        """
        here = (server, pane)
        return next((run for run in reversed(self.all.values()) if (run.server, run.pane) == here), None)

    def running_in_pane(self, server: Address, pane: PaneId) -> HeadlessRun | None:
        run = self.in_pane(server, pane)
        return run if run is not None and run.is_running else None

    def in_session(self, session: str) -> HeadlessRun | None:
        return next((run for run in reversed(self.all.values()) if run.session == session), None)

    async def send_message(
        self,
        run: HeadlessRun,
        message: str,
        notice: str | None = None,
        images: Iterable[ImageArgument] = (),
    ) -> str:
        """Send the user's message, after a notice of Chorus if there is one. Return the message's id."""
        if run.ending:
            raise NoHeadlessRun(f"{run.name} is ending and accepts no more messages", hint=run.resume_hint)
        blocks: list[dict[str, Any]] = [
            {"type": "text", "text": text} for text in (notice, message) if text is not None and text.strip()
        ]
        for image in images:
            source = {"type": "base64", "media_type": image["media_type"], "data": image["data"]}
            blocks.append({"type": "image", "source": source})
        if not blocks or (notice is not None and len(blocks) == 1):
            raise UsageError("the message is empty")
        content = blocks if len(blocks) > 1 or blocks[0]["type"] != "text" else message
        identity = str(uuid.uuid4())
        line = {"type": "user", "message": {"role": "user", "content": content}, "uuid": identity}
        await self.write(run, line)
        run.unread.add(identity)
        return identity

    async def request(self, run: HeadlessRun, subtype: str, **fields: object) -> Mapping[str, Any]:
        """Send a control request and return the client's answer.

        Raises RequestRefused if the answer is an error, or RunEnded if the client does not answer.
        """
        identity = f"chorus-{uuid.uuid4().hex[:12]}"
        reply: asyncio.Future[ControlReplied] = asyncio.get_running_loop().create_future()
        run.replies[identity] = reply
        try:
            request = {"subtype": subtype, **fields}
            await self.write(run, {"type": "control_request", "request_id": identity, "request": request})
            await _wait_for(lambda: reply.done() or not run.is_running, REPLY_TIMEOUT_SECONDS)
        finally:
            del run.replies[identity]
        if not reply.done():
            raise RunEnded(
                f"{run.name} did not answer the request {subtype!r}",
                hint="Look at its pane, then run the command again.",
            )
        answer: ControlReplied = reply.result()
        if answer.error is not None:
            raise RequestRefused(f"{run.name} refused: {answer.error}")
        return answer.payload

    async def initialize(self, run: HeadlessRun) -> None:
        with suppress(ChorusError):
            run.info = await self.request(run, "initialize")

    async def wait_ready(self, run: HeadlessRun) -> None:
        """Wait up to `REPLY_TIMEOUT_SECONDS` until the client is ready. Raises RunEnded if it ends first."""
        await _wait_for(lambda: run.ready or not run.is_running, REPLY_TIMEOUT_SECONDS)
        if not run.is_running and not await _wait_for(lambda: run.ready, OUTPUT_SECONDS):
            raise RunEnded(f"the client of {run.name} ended at once {run.describe_end()}")

    async def interrupt(self, run: HeadlessRun, limit: float = INTERRUPT_SECONDS) -> str:
        """Interrupt the turn: with a request, then with SIGINT, then with SIGTERM. Return which one worked.

        Raises RunEnded if none worked.
        """
        before = run.turns_ended

        def is_over() -> bool:
            return run.turns_ended > before or not run.is_running

        if not run.closed:
            identity = f"chorus-{uuid.uuid4().hex[:12]}"
            request = {"subtype": "interrupt"}
            await self.write(run, {"type": "control_request", "request_id": identity, "request": request})
            if await _wait_for(is_over, limit):
                return "request"
        for name in ("SIGINT", "SIGTERM"):
            await self.write(run, {FEEDER_KEY: "signal", "signal": name})
            if await _wait_for(is_over, limit):
                return name
        raise RunEnded(
            f"{run.name} does not react to SIGTERM", hint="Kill its pane with `tmux kill-pane -t PANE`."
        )

    async def feed(self, run: HeadlessRun, outcomes: Iterable[Outcome]) -> None:
        """Update the run from its client's outcomes. Reply to requests of the client that are not prompts."""
        for outcome in outcomes:
            # The end of a turn is no sign of a ready client: a client that cannot start may print it, too.
            run.ready = run.ready or isinstance(outcome, ControlReplied | SessionDescribed)
            match outcome:
                case ControlReplied(request) if request in run.replies:
                    if not run.replies[request].done():
                        run.replies[request].set_result(outcome)
                case SessionDiscovered(session) | SessionDescribed(session):
                    run.sessions.add(session)
                case MessageDelivered(message=message):
                    run.unread.discard(message)
                case TurnEnded() | TurnReported():
                    run.turns_ended += 1
                case ControlAsked():
                    with suppress(NoHeadlessRun, InputNotRead):
                        await self.write(run, self._reply(run, outcome))

    def _reply(self, run: HeadlessRun, asked: ControlAsked) -> dict[str, Any]:
        if asked.subtype == "mcp_message" and asked.message is not None:
            if asked.server not in run.servers:
                return error_reply(asked.request, f"there is no MCP server {asked.server!r}")
            line = {"request": asked.request, "server": asked.server, "message": dict(asked.message)}
            return {FEEDER_KEY: "mcp", **line}
        if asked.subtype == "hook_callback":
            response = {"subtype": "success", "request_id": asked.request, "response": {}}
            return {"type": "control_response", "response": response}
        return error_reply(asked.request, f"Chorus does not support the request {asked.subtype}")

    async def write(self, run: HeadlessRun, line: dict[str, Any]) -> None:
        """Send one line to the client.

        Raises NoHeadlessRun if the session has ended, or InputNotRead if its program does not read its input.
        """
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            try:
                await self._write_line(run, json.dumps(line).encode() + b"\n")
            except NoHeadlessRun:
                # A session that is still starting does not read yet.
                if run.started or not run.pipe.exists() or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.01)
            else:
                run.started = True
                return

    async def end(self, run: HeadlessRun, is_idle: Callable[[], bool]) -> None:
        """Wait for the end of the client's turn, then close the client's input. The client then exits.

        The input stays open during the turn, because the answers to the client's prompts go through it.
        """
        run.ending = True
        quiet_since = time.monotonic()
        while run.is_running and not run.closed:
            if not is_idle():
                quiet_since = time.monotonic()
            elif not run.unread or time.monotonic() - quiet_since > UNREAD_SECONDS:
                await self._close_input(run)
            await asyncio.sleep(POLL_SECONDS)

    async def _close_input(self, run: HeadlessRun) -> None:
        try:
            await self._write_line(run, END)
        except InputNotRead:
            run.ending = False
            raise
        run.closed = True

    async def _write_line(self, run: HeadlessRun, line: bytes) -> None:
        """Write a whole line, after `CUT` if the previous line may have been written only in part."""
        async with run.writing:
            with _open_pipe(run.pipe) as descriptor:
                lead = CUT if run.is_cut else b""
                run.is_cut = True
                await _write(descriptor, lead + line, run.name)
                run.is_cut = False

    async def wait_end(self, run: HeadlessRun) -> int | None:
        """Wait until the client has exited. Return its exit code, or None if unknown."""
        await _wait_for(lambda: not run.is_running, None)
        return run.read_end()[0]


async def _wait_for(reached: Callable[[], bool], seconds: float | None) -> bool:
    deadline = None if seconds is None else time.monotonic() + seconds
    while not reached():
        if deadline is not None and time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


def has_reader(pipe: Path) -> bool:
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def remove_files(pipe: Path) -> None:
    pipe.unlink(missing_ok=True)
    exit_file(pipe).unlink(missing_ok=True)


@contextmanager
def _open_pipe(pipe: Path) -> Iterator[int]:
    """Open the pipe without waiting. Raises NoHeadlessRun if nothing reads it."""
    try:
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        raise NoHeadlessRun(f"headless session {pipe.stem} has ended") from error
    try:
        yield descriptor
    except BrokenPipeError as error:
        raise NoHeadlessRun(f"headless session {pipe.stem} ended before the message was written") from error
    finally:
        os.close(descriptor)


async def _write(descriptor: int, data: bytes, name: str) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            await _wait_writable(descriptor, name)


async def _wait_writable(descriptor: int, name: str) -> None:
    """Wait until the pipe can be written. Raises InputNotRead after `WRITE_TIMEOUT_SECONDS`."""
    loop, writable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_writer(descriptor, writable.set)
    try:
        async with asyncio.timeout(WRITE_TIMEOUT_SECONDS):
            await writable.wait()
    except TimeoutError:
        raise InputNotRead(f"{name} does not read its input") from None
    finally:
        loop.remove_writer(descriptor)
