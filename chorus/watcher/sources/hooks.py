"""What hooks tell, taken from the spool in the order it was told.

Each event is heard whole before the client that waits for it goes on. What it says of its session's
transcript and pane is remembered first.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from chorus.agents.claude_code.hooks.event_file import HookEvent
from chorus.agents.claude_code.hooks.spool import Spool
from chorus.agents.interface import Source
from chorus.model.ids import SessionId
from chorus.system.processes import read_process
from chorus.watcher.notices import Telling
from chorus.watcher.prompts.relaying import Relaying
from chorus.watcher.sources.intake import Intake, now
from chorus.watcher.sources.liveness import name_client
from chorus.watcher.sources.transcripts import Transcripts
from chorus.watcher.trees import Trees

log = logging.getLogger("chorus.watcher")

# A hook that was killed on its way leaves its event and wakes nobody.
SPOOL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Hooks:
    spool: Spool
    intake: Intake
    trees: Trees
    transcripts: Transcripts
    telling: Telling
    relaying: Relaying
    fail: Callable[[BaseException], bool]  # whether no event can be recorded now
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self) -> None:
        asyncio.get_running_loop().add_reader(self.spool.fileno(), self._hear_poke)

    def _hear_poke(self) -> None:
        """Taken at once, also while nobody reads the spool: one that stays is told of without end."""
        self.spool.drain_wakeups()
        self._came.set()

    def close(self, *, asleep: bool) -> None:
        """`asleep`: what hooks leave from now on is for the next agent."""
        asyncio.get_running_loop().remove_reader(self.spool.fileno())
        self.spool.close(asleep=asleep)

    async def keep_hearing(self, is_there: Callable[[], Awaitable[bool]], stop: Callable[[], None]) -> None:
        """Until the repository is there no more: then everything stops."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), SPOOL_SECONDS)
            self._came.clear()
            if not await is_there():
                log.info("the repository is gone")
                stop()
                return
            self._mend_spool()
            await self.read()

    def _mend_spool(self) -> None:
        if not self.spool.is_intact():
            log.warning("the spool was not whole; it is made anew")
            asyncio.get_running_loop().remove_reader(self.spool.fileno())
            self.spool.recreate()
            self.listen()

    async def read(self) -> None:
        """Deal with every event in the spool. A client that waits goes on once its event is recorded.

        An event that fails for a reason of its own is put aside, and the next one is heard. Transcripts tell
        the same as hooks: the next agent reads there what this one could not record.
        """
        for event in self.spool.take():
            (failure,) = await asyncio.gather(self._hear(event), return_exceptions=True)
            if failure is None:
                self.telling.answer(event)
                self.spool.forget(event)
            elif self.fail(failure):
                raise failure
            else:
                self.transcripts.tails.frozen = True
                self.spool.quarantine(event)
        self.trees.announce()

    async def _hear(self, event: HookEvent) -> None:
        self._place(event)
        async with self.intake.history:
            outcomes = await self.intake.take(
                [event.value], Source.HOOK, waits=lambda: self.spool.is_hook_waiting(event)
            )
        self.relaying.hear_hook(event, outcomes)

    def _place(self, event: HookEvent) -> None:
        """Remember where the session is."""
        message = event.value
        session, transcript = message.get("session_id"), message.get("transcript_path")
        if not isinstance(session, str) or not isinstance(transcript, str):
            return
        cwd = message.get("cwd")
        begins = message.get("hook_event_name") == "SessionStart" and message.get("source") == "startup"
        known = self.intake.roster.place(
            SessionId(session),
            time=now(),
            source="hook",
            transcript=transcript,
            cwd=cwd if isinstance(cwd, str) else None,
            pane=event.pane,
            server=event.tmux_socket,
            client=_client_of(event),
        )
        self.transcripts.follow(known, from_start=begins)
        if known.cwd is not None:
            self.trees.find(known.cwd)


def _client_of(event: HookEvent) -> str | None:
    pid = event.client_pid
    return None if pid is None else name_client(pid, read_process(pid))
