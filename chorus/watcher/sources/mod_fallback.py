"""Add hooks for a client whose mod went silent: the client may switch its mods off at any time.

A mod is silent if the transcript reports a whole call that the mod did not report. The hooks stay in the work
tree's settings for as long as that client runs.
"""

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from chorus.agents.interface import Clients, SettingsScope, Setup
from chorus.errors import ChorusError
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.lru import LruDict
from chorus.model.outcomes import ActionClosed, CallOpened, Outcome
from chorus.model.session import Session
from chorus.model.tools import FREQUENT_TOOLS
from chorus.system.processes.processes import read_process
from chorus.watcher.sources.live_clients import is_running
from chorus.watcher.state.temporary_hooks import HookInstallation, TemporaryHooks

log = logging.getLogger("chorus.watcher")

MAX_CALLS = 1000


@dataclass(slots=True)
class ModFallback:
    clients: Clients
    setup: Setup
    hooks: TemporaryHooks
    find_session: Callable[[SessionId], Session | None]
    find_root: Callable[[str], Path | None]
    # Records that Chorus wrote a file. Takes the work tree and the file's path.
    record_own_change: Callable[[Path, Path], object]
    reachable_since: float = math.inf  # in seconds since 1970: no report could reach this watcher before
    _unreported: LruDict[ToolUseId, None] = field(default_factory=lambda: LruDict(MAX_CALLS))
    _done: set[str] = field(default_factory=set)  # clients that were given hooks, or cannot be

    def feed(self, outcomes: Iterable[Outcome], source: str) -> None:
        """Add hooks if a transcript's outcomes show that a session's mod is silent. Ignore other sources."""
        if source != "transcript":
            return
        for outcome in outcomes:
            match outcome:
                case CallOpened(call) if call.tool not in FREQUENT_TOOLS and self._was_reachable(call.time):
                    self._unreported[call.id] = None
                case ActionClosed(action) if action.id in self._unreported:
                    del self._unreported[action.id]
                    if action.session is not None:
                        self._add_hooks(action.session)

    def on_report(self, call: str | None) -> None:
        if call is not None:
            self._unreported.pop(ToolUseId(call), None)

    def _was_reachable(self, time: str | None) -> bool:
        try:
            return datetime.fromisoformat(time or "").timestamp() > self.reachable_since
        except (ValueError, OverflowError):
            return False

    def _add_hooks(self, session: SessionId) -> None:
        known = self.find_session(session)
        if known is None or known.client is None or known.client in self._done or "hook" in known.sources:
            return
        root = self.find_root(known.cwd) if known.cwd else None
        if root is None or not is_running(known.client) or not self._loads_mod(known.client):
            return
        self._done.add(known.client)
        try:
            change = self.setup.install_hooks(SettingsScope.LOCAL, root)
        except ChorusError as error:
            log.warning("the mod of session %s is silent, and no hooks can be added: %s", session, error)
            return
        backups = str(self.setup.backup_directory())
        self.hooks.add(HookInstallation(str(change.path), backups, known.client), installed=change.changed)
        log.warning("the mod of session %s is silent; hooks were added to %s", session, change.path)
        self.record_own_change(root, change.path)

    def _loads_mod(self, client: str) -> bool:
        process = read_process(int(client.partition(":")[0]))
        running = self.clients.read_client(process) if process is not None else None
        return running is not None and running.loads_mod and not running.headless
