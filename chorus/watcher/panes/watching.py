"""What is found in watched panes, handed on: clients to sessions, screens to prompts, streams to history.

Receives what `panes` finds there and `movement` tells of. Remembers on disk which panes are watched, and
takes them up again after an agent that was killed. Never presses a key.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.transcripts import began_after
from chorus.agents.interface import RunningClient, Source
from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.headless_runs import Runs
from chorus.watcher.panes.movement import Movement
from chorus.watcher.panes.pane_stream import PaneStream
from chorus.watcher.panes.panes import Panes, Stream, WatchedPane
from chorus.watcher.prompts.prompts import Prompts
from chorus.watcher.prompts.relaying import Relaying
from chorus.watcher.sources.intake import now
from chorus.watcher.sources.liveness import name_client
from chorus.watcher.sources.transcripts import Transcripts
from chorus.watcher.state.pane_file import PaneFile
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")


@dataclass(slots=True)
class Watching:
    fifos: Path  # the directory where pipes of panes are made
    file: PaneFile
    runs: Runs
    movement: Movement
    prompts: Prompts
    relaying: Relaying
    transcripts: Transcripts
    start: Start
    panes: Panes = field(init=False)

    def __post_init__(self) -> None:
        self.panes = Panes(self._found_client, self.transcripts.end, self._open_stream, self._looked_at)

    async def watch_again(self) -> None:
        """The panes that an agent which was killed had watched, and what was asked there."""
        self.relaying.asked.load()
        for kept in self.file.load():
            with suppress(ChorusError):
                watched = await self.panes.watch(kept.address, PaneId(kept.pane), kept.since)
                if kept.run is not None and kept.pipe is not None:
                    self.runs.add(kept.run, Path(kept.pipe), watched.id).session = watched.session
                    self.relaying.ask_again(watched.id)
                    self.panes.listen(watched)
        self.relaying.asked.forget_all_but(run.pane for run in self.runs.all.values())

    def keep(self) -> None:
        """Those that somebody named. The others are found again where their sessions say they are."""
        named = [pane for pane in self.panes.all.values() if not pane.adopted]
        self.file.keep(named, self.runs.all.values())

    def look_at(self, panes: Iterable[tuple[Address, PaneId]]) -> None:
        """These have moved."""
        for key in panes:
            if key in self.panes.all:
                self.prompts.look(self.panes.all[key])

    def servers(self) -> set[Address]:
        return {pane.address for pane in self.panes.all.values()}

    def close(self) -> None:
        self.panes.close()
        self.movement.close()

    def _looked_at(self, pane: WatchedPane) -> None:
        if pane.key not in self.panes.all:
            self.prompts.forget(pane)
            self.keep()
            return
        if pane.client is not None:
            self.movement.follow(pane)
        self.prompts.look(pane)

    def _found_client(self, pane: WatchedPane, client: RunningClient) -> None:
        """A client in a watched pane is in this session now."""
        assert client.session is not None
        transcripts = self.transcripts
        known = transcripts.intake.roster.place(
            client.session,
            time=now(),
            source="pane",
            cwd=client.cwd,
            transcript=str(client.transcript) if client.transcript else None,
            pane=pane.id,
            server=str(pane.address.socket),
            client=name_client(client.process.pid, client.process),
        )
        if run := self.runs.at(pane.id):
            run.session = client.session
        transcripts.trees.find(client.cwd)
        begins = client.transcript is not None and began_after(client.transcript, pane.since)
        transcripts.follow(known, from_start=begins)
        transcripts.intake.announce(known)
        transcripts.sessions.keep()

    def _open_stream(self, pane: WatchedPane) -> Stream | None:
        """Listen to what the pane prints, unless somebody else does: the transcript tells the same, later."""
        fifo = self.fifos / f"pane-{pane.id.lstrip('%')}.fifo"
        intake = self.transcripts.intake

        async def hear(messages: list[dict[str, Any]], history: bool) -> None:
            async with intake.history:
                outcomes = await intake.take(messages, Source.STREAM, channel=pane.id, history=history)
            self.relaying.hear_stream(pane, outcomes)
            self.transcripts.trees.announce()

        try:
            stream = PaneStream(TmuxServer(pane.address), pane.id, fifo, hear, since=pane.since)
        except ChorusError as error:
            log.warning("%s: %s", pane.id, error)
            return None
        self.start(stream.start())
        return stream
