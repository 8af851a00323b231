"""One repository of the inbox, followed through its watcher's events, even if the watcher restarts.

After an action, the open actions are requested again: only the watcher knows how many there are.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from chorus.errors import ChorusError, in_one_line
from chorus.inbox.repositories import (
    MAX_ACTIONS,
    list_actions,
    list_prompts,
    list_sessions,
    mapping,
    version_of,
)
from chorus.model.api.json_api import InboxRepositoryJson, InboxState, LogEntryJson, PromptJson, SessionJson
from chorus.wire.async_client import Streams, open_streams
from chorus.wire.client import WatcherNotResponding, WatcherNotRunning
from chorus.wire.fan_out import NOT_RESPONDING
from chorus.wire.home import Home
from chorus.wire.protocol import Message, decode, encode, parse_reply

# How often to try to connect while no watcher runs.
RETRY_SECONDS = 1.0
# Actions come in bursts: after several of them, the open actions are requested once.
GATHER_SECONDS = 0.2
# If no action is reported for this long, the status is requested anyway.
SILENCE_SECONDS = 10.0
# How long an answer may take.
ANSWER_SECONDS = 10.0

Take = Callable[[object], None]


class LiveRepository:
    def __init__(self, home: Home, path: Path, changed: Callable[[], None]) -> None:
        self.home = home
        self.path = path
        self._changed = changed
        self.state: InboxState = "stopped"
        self.problem: str | None = None
        self.version: str | None = None
        self.prompts: dict[str, PromptJson] = {}
        self.sessions: dict[str, SessionJson] = {}
        self.open = 0
        self.actions: list[LogEntryJson] = []

    def as_json(self, name: str) -> InboxRepositoryJson:
        waiting = {prompt.get("session") for prompt in self.prompts.values()}
        sessions = [
            SessionJson(**{**session, "state": "waiting"}) if session["id"] in waiting else session
            for session in self.sessions.values()
        ]
        return {
            "name": name,
            "path": str(self.path),
            "state": self.state,
            "problem": self.problem,
            "version": self.version,
            "prompts": list(self.prompts.values()),
            "sessions": sessions,
            "open": self.open,
            "actions": self.actions,
        }

    async def follow(self) -> None:
        """Follow the watcher, and reconnect when it is lost, until this task is cancelled."""
        while True:
            try:
                link = _Link(await open_streams(self.home), self._take_event)
            except ChorusError:
                self._lose("stopped", None)
            else:
                await self._follow(link)
            await asyncio.sleep(RETRY_SECONDS)

    async def _follow(self, link: "_Link") -> None:
        reading = asyncio.create_task(link.read())
        try:
            await link.ask("subscribe")
            log = {"open": True, "limit": MAX_ACTIONS, "cwd": str(self.path)}
            await link.ask("prompts", self._take_prompts)
            while True:
                link.has_actions.clear()
                status = mapping(await link.ask("status", self._take_sessions))
                self._take_status(status, await link.ask("log", **log))
                with suppress(TimeoutError):
                    async with asyncio.timeout(SILENCE_SECONDS):
                        await link.has_actions.wait()
                    await asyncio.sleep(GATHER_SECONDS)
        except WatcherNotResponding:
            self._lose("unresponsive", NOT_RESPONDING)
        except WatcherNotRunning:
            self._lose("stopped", None)
        except ChorusError as error:  # from a watcher of another version
            self._lose("unresponsive", in_one_line(error))
        finally:
            reading.cancel()
            link.close()

    def _take_event(self, event: Message) -> None:
        match event.get("event"):
            case "prompt":
                self.prompts |= {prompt["id"]: prompt for prompt in list_prompts([event.get("prompt")])}
            case "prompt-gone":
                self.prompts.pop(str(event.get("id")), None)
            case "session":
                session = mapping(event.get("session"))
                self.sessions.pop(str(session.get("id")), None)
                self.sessions |= {one["id"]: one for one in list_sessions([session])}
            case _:
                return
        self._changed()

    def _take_prompts(self, answer: object) -> None:
        self.state, self.problem = "watched", None
        self.prompts = {prompt["id"]: prompt for prompt in list_prompts(answer)}

    def _take_sessions(self, answer: object) -> None:
        sessions = list_sessions(mapping(answer).get("sessions"))
        self.sessions = {session["id"]: session for session in sessions}

    def _take_status(self, status: dict[str, object], log: object) -> None:
        self.state, self.problem, self.version = "watched", None, version_of(status)
        self.actions = list_actions(log)
        count = status.get("open")
        self.open = count if isinstance(count, int) else len(self.actions)
        self._changed()

    def _lose(self, state: InboxState, problem: str | None) -> None:
        """Set the watcher's state, and forget what may be out of date."""
        known = (self.state, self.problem)
        self.state, self.problem, self.version = state, problem, None
        self.prompts, self.sessions, self.actions, self.open = {}, {}, [], 0
        if known != (state, problem):
            self._changed()


class _Link:
    """A connection to a watcher: `ask` sends a request and returns the answer; `take_event` gets the events.

    Events that follow the answer may be handled before `ask` returns. To get the answer before these events,
    pass a function `take` to `ask`.
    """

    def __init__(self, streams: Streams, take_event: Callable[[Message], None]) -> None:
        self._reader, self._writer = streams
        self._take_event = take_event
        self._waiting: dict[int, tuple[asyncio.Future[object], Take]] = {}
        self._last = 0
        self._ended = False
        self.has_actions = asyncio.Event()

    async def ask(self, do: str, take: Take = lambda _: None, /, **arguments: object) -> object:
        if self._ended:
            raise WatcherNotRunning("the watcher closed the connection")
        self._last += 1
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting[self._last] = (answer, take)
        try:
            self._writer.write(encode({"id": self._last, "do": do, **arguments}))
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError as error:
            raise WatcherNotResponding(NOT_RESPONDING) from error
        finally:
            del self._waiting[self._last]

    async def read(self) -> None:
        """Read until the watcher ends or sends something invalid. Then all pending requests fail."""
        reason: ChorusError = WatcherNotRunning("the watcher closed the connection")
        try:
            while line := await self._reader.readline():
                self._take(decode(line))
        except ChorusError as error:
            reason = error
        except (OSError, ValueError):
            pass
        self._ended = True
        self.has_actions.set()
        for answer, _ in self._waiting.values():
            if not answer.done():
                answer.set_exception(reason)

    def close(self) -> None:
        self._writer.close()

    def _take(self, message: Message) -> None:
        number = message.get("id")
        if "event" in message:
            if message["event"] == "action":
                self.has_actions.set()
            self._take_event(message)
        elif isinstance(number, int) and number in self._waiting:
            answer, take = self._waiting[number]
            if not answer.done():
                try:
                    result: object = parse_reply(message)
                except ChorusError as error:
                    answer.set_exception(error)
                else:
                    take(result)
                    answer.set_result(result)
