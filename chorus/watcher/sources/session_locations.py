"""The transcript, directory, pane and client of each session, as events of hooks and the mod name them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chorus.agents.interface import Events, Source
from chorus.model.ids import PaneId, SessionId
from chorus.watcher.sources.pipeline import Pipeline, now
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.work_trees import WatchedTrees


@dataclass(frozen=True, slots=True)
class SessionLocations:
    events: Events
    pipeline: Pipeline
    trees: WatchedTrees
    transcripts: TranscriptSource

    def remember(
        self,
        event: Mapping[str, Any],
        source: Source,
        *,
        pane: PaneId | None,
        tmux_socket: str | None,
        client: str | None,
    ) -> SessionId | None:
        """Remember where the event's session is, and follow its transcript. Return the session, or None."""
        session = self.events.hook_session(event)
        if session is None:
            return None
        known = self.pipeline.roster.set_location(
            session.id,
            time=now(),
            source=source.value,
            transcript=session.transcript,
            cwd=session.cwd,
            pane=pane,
            server=tmux_socket,
            client=client,
        )
        self.transcripts.follow(known, from_start=session.is_new)
        if known.cwd is not None:
            self.trees.find(known.cwd)
        return session.id
