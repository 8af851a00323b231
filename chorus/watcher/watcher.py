"""The agent: one loop that hears every source, keeps the timeline, and answers who asks.

Everything that records runs on this loop's one thread, one thing after another: the order in which
things are heard is the order in which they are recorded. Here the parts are put together, started and
ended; what each hears and does is its own.
"""

import asyncio
import logging
import os
from contextlib import suppress

from chorus.agents.claude_code.dialogs.rules import read_prompt_rules
from chorus.agents.claude_code.hooks.spool import Spool
from chorus.config.user_config import read_preferences, read_user_section
from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.model.outcomes import Outcome
from chorus.model.session import Session
from chorus.tmux.address import Address
from chorus.watcher.notices import Telling
from chorus.watcher.packing import Tidying
from chorus.watcher.panes.adopting import Adopting
from chorus.watcher.panes.headless_runs import Runs
from chorus.watcher.panes.movement import Movement
from chorus.watcher.panes.watching import Watching
from chorus.watcher.prompts.audit_log import Audit, audit_path
from chorus.watcher.prompts.control_requests import Asked
from chorus.watcher.prompts.notifications import Ringing
from chorus.watcher.prompts.pane_prompts import Desks
from chorus.watcher.prompts.prompts import Prompts
from chorus.watcher.prompts.relaying import Relaying
from chorus.watcher.server.requests import Requests
from chorus.watcher.server.server import Server
from chorus.watcher.sources.hooks import Hooks
from chorus.watcher.sources.intake import Intake, now
from chorus.watcher.sources.liveness import watch_clients
from chorus.watcher.sources.outside import Outside
from chorus.watcher.sources.transcript_tails import Tails
from chorus.watcher.sources.transcripts import Transcripts
from chorus.watcher.state.files import has_room
from chorus.watcher.state.lent_hooks import LENT, Lending
from chorus.watcher.state.pane_file import PaneFile
from chorus.watcher.state.session_file import SessionFile
from chorus.watcher.tasks import Tasks, wait_for_either
from chorus.watcher.trees import Trees
from chorus.wire.home import Home

log = logging.getLogger("chorus.watcher")

# How often the disk is tried again: by an agent that meets it first, and by one that took over from such.
ROOM_SECONDS = 2.0
STILL_SECONDS = 30.0


class Watcher:
    def __init__(self, home: Home, *, successor: bool = False) -> None:
        self.home = home
        self._lock = home.lock.stat()
        self._rest_seconds = STILL_SECONDS if successor else ROOM_SECONDS
        self.since = now()
        self.tasks = Tasks(lambda: has_room(home.root))
        self.audit = Audit(audit_path(home))
        self.lending = Lending(home.root / LENT)
        self.runs = Runs()
        self.server = Server(home, Requests(self).handle)
        self.trees = Trees(home, self.server)
        self.intake = Intake(self.trees.find, self._announce, self._heard)
        roster = self.intake.roster
        sessions = SessionFile(home.root / "sessions.json", roster)
        tails = Tails(home.root / "transcripts.json")
        self.transcripts = Transcripts(tails, sessions, self.intake, self.trees)
        self.outside = Outside(self.trees, roster, self.transcripts)
        movement = Movement(self._panes_moved)
        self.prompts = self._open_prompts(movement)
        spool = Spool(home.spool)
        self.telling = Telling(home.root / "untold.json", spool, self.intake.root_of)
        start = self.tasks.start
        self.asked = Asked(home.root / "asked.json")
        relaying = Relaying(spool, self.runs, roster, self.prompts, self.asked, start, movement.tmux)
        self.hooks = Hooks(
            spool, self.intake, self.trees, self.transcripts, self.telling, relaying, self.tasks.fail
        )
        pane_file = PaneFile(home.root / "panes.json")
        self.watching = Watching(
            home.root, pane_file, self.runs, movement, self.prompts, relaying, self.transcripts, start
        )
        self._stopping = asyncio.Event()

    async def serve(self, stopping: asyncio.Event) -> bool:
        """Catch up with what happened while no agent ran, then watch until told to stop.

        True: another agent is to go on. What this one has heard it could not record; the sources tell
        it again to the next one, as after an agent that was killed.
        """
        self._stopping = stopping
        self.telling.load()
        self.lending.load()
        self.transcripts.load()
        self.hooks.spool.open()
        try:
            await self.hooks.read()
            await self.catch_up()
            await self.watching.watch_again()
        except ChorusError as error:
            if not self.tasks.fail(error):
                raise
        self.hooks.listen()
        await self.server.open()
        if not self.tasks.failed.is_set():
            self._start_loops()
            log.info("the agent watches %s", self.home.common_dir)
        await wait_for_either(stopping, self.tasks.failed)
        if not stopping.is_set():
            await self._wait_for_room()
        await self._close()
        return not stopping.is_set()

    def _start_loops(self) -> None:
        keep = self.tasks.keep
        keep(lambda: self.hooks.keep_hearing(self._keep_home, self.stop))
        keep(self.transcripts.keep_reading)
        keep(self.watching.panes.keep_looking)
        keep(Adopting(self.intake.roster, self.watching).keep_adopting)
        keep(lambda: watch_clients(self.intake.roster, self.transcripts.end, self.lending))
        keep(self.outside.keep_sweeping)
        keep(Tidying(self.trees).keep_tidy)

    async def _wait_for_room(self) -> None:
        """Record nothing more, and say why, until the disk takes something again."""
        self.transcripts.tails.frozen = True
        await self.tasks.cancel()
        why = "; ".join(self.tasks.problems.values())
        self.server.publish("notice", level="warning", text=f"nothing is recorded for now: {why}")
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._rest_seconds)
            if not self._is_home():
                self.stop()
            elif has_room(self.home.root):
                return

    def _is_home(self) -> bool:
        """Whether the lock in the repository is the one this agent holds, and not another agent's."""
        try:
            return os.path.samestat(self._lock, self.home.lock.stat())
        except OSError:
            return False

    async def _keep_home(self) -> bool:
        is_home = self._is_home()
        if is_home:
            await self.server.reopen_if_gone()
        return is_home

    def stop(self) -> None:
        self._stopping.set()

    async def catch_up(self) -> None:
        """Handle everything that has been told by now."""
        await self.transcripts.catch_up()

    def _open_prompts(self, movement: Movement) -> Prompts:
        ringing = Ringing(read_preferences, self._servers, self.tasks.start)
        return Prompts(
            Desks(read_prompt_rules(read_user_section("prompts")), movement.tmux),
            self.audit,
            self.server.publish,
            read_preferences,
            has_hooks=self.intake.has_hooks,
            ring=ringing.ring,
        )

    def _panes_moved(self, panes: set[tuple[Address, PaneId]]) -> None:
        self.watching.look_at(panes)

    def _servers(self) -> set[Address]:
        return self.watching.servers()

    def _heard(self, outcomes: list[Outcome]) -> None:
        self.prompts.hear(outcomes)
        self.asked.hear(outcomes)

    def _announce(self, session: Session) -> None:
        self.server.publish("session", session=session.as_json())

    async def _close(self) -> None:
        await self.tasks.cancel()
        self.watching.close()
        is_home = self._is_home()
        self.hooks.close(asleep=is_home)
        await self.server.close()
        self.trees.close()
        self.lending.take_back(lambda client: False)
        if is_home:
            self.transcripts.keep()
        log.info("the agent ends")
