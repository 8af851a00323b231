"""Find the sessions that are alone in their work tree: they need to report an edit only at its end.

The start need not be reported: no other call can have made the change, and the edit's report contains the
text from before the edit. Hooks cannot report an edit while it runs. So a session with hooks must also run no
sub-agent, and its client must not ask before edits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chorus.agents.hook_spool import Spool
from chorus.agents.interface import Events
from chorus.model.ids import SessionId
from chorus.watcher.sources.pipeline import Pipeline
from chorus.watcher.work_trees import WatchedTrees


@dataclass(slots=True)
class _HookedSession:
    """A session, as its hook events describe it."""

    asks: bool = True  # the client may ask before it edits a file
    agents: set[str] = field(default_factory=set)  # the sub-agents that may be running


@dataclass(frozen=True, slots=True)
class LoneSessions:
    events: Events
    pipeline: Pipeline
    trees: WatchedTrees
    spool: Spool
    _hooked: dict[SessionId, _HookedSession] = field(default_factory=dict)

    def is_alone(self, session: SessionId, cwd: object) -> bool:
        """True if nothing but edits of the session's own client can be running in its work tree."""
        tree = self.trees.find(cwd) if isinstance(cwd, str) else None
        if tree is None or tree.windows.open or tree.any_held:
            return False
        roster = self.pipeline.roster
        known = roster.sessions.get(session)
        if session in roster.shared:
            return False  # another client is in the session too
        return known is not None and not any(
            (other.client is None or other.client != known.client)
            and (other.cwd is None or self.trees.find(other.cwd) is tree)
            for other in roster.sessions.values()
            if other.state != "gone" and other.id != session
        )

    def on_hook(self, session: SessionId, event: Mapping[str, Any]) -> None:
        hooked = self._hooked.setdefault(session, _HookedSession())
        asks = self.events.asks_before_edits(event)
        if asks is not None:
            hooked.asks = asks
        agent, runs = self.events.agent_of(event)
        if agent is not None:
            (hooked.agents.add if runs else hooked.agents.discard)(agent)

    def update(self) -> None:
        """Update the list of lone clients in the spool, which the hooks read."""
        roster = self.pipeline.roster
        alone: dict[str, bool] = {}
        for session, hooked in list(self._hooked.items()):
            known = roster.sessions.get(session)
            if known is None or known.state == "gone":
                del self._hooked[session]
            elif known.client is not None:
                unsure = hooked.asks or hooked.agents
                is_alone = not unsure and self.is_alone(session, known.cwd)
                alone[known.client] = alone.get(known.client, True) and is_alone
        clients = (client for client, is_alone in alone.items() if is_alone)
        self.spool.set_alone(frozenset(int(client.partition(":")[0]) for client in clients))
