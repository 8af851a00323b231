"""From what a client asks in words to a prompt that waits, with the way back to that client.

Receives what a permission hook or a headless session's stream told. A call a rule decides is answered at
once, through the hook or the protocol and never by a key; any other waits for a person.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chorus.agents.claude_code.hooks.event_file import HookEvent
from chorus.agents.claude_code.hooks.spool import Spool
from chorus.model.ids import PaneId
from chorus.model.outcomes import Outcome, PromptOpened
from chorus.model.session import SessionTable
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.headless_runs import Runs
from chorus.watcher.panes.panes import WatchedPane
from chorus.watcher.prompts.control_requests import Asked, still_asked
from chorus.watcher.prompts.line_channel import LineChannel
from chorus.watcher.prompts.policy_rulings import Ruling
from chorus.watcher.prompts.prompts import Prompts
from chorus.watcher.prompts.told import Channel, ControlChannel, HookChannel
from chorus.watcher.tasks import Start


@dataclass(frozen=True, slots=True)
class Relaying:
    spool: Spool
    runs: Runs
    roster: SessionTable
    prompts: Prompts
    asked: Asked
    start: Start
    tmux: Callable[[WatchedPane], Tmux]

    def hear_hook(self, event: HookEvent, outcomes: Iterable[Outcome]) -> None:
        """Hold the hook of a call that is asked about, if its answer may go that way."""
        asked = next((o for o in outcomes if isinstance(o, PromptOpened) and o.request is None), None)
        if asked is None or asked.tool is None or not self.spool.is_hook_waiting(event):
            return
        cwd = event.value.get("cwd")
        ruling = self.prompts.rule(asked, cwd if isinstance(cwd, str) else None)
        # A headless session of ours asks over its protocol as well.
        headless = event.pane is not None and self.runs.at(event.pane) is not None
        if ruling is None and (headless or not self.prompts.holds_hooks):
            return
        channel = HookChannel(event, self.spool.hold(event))
        self._tell(asked, event.pane, channel, ruling)

    def hear_stream(self, pane: WatchedPane, outcomes: Sequence[Outcome]) -> None:
        """A headless session of ours waits for an answer on its standard input, any other in its pane."""
        last = outcomes[-1] if outcomes else None
        if isinstance(last, PromptOpened) and last.tool is None and last.text is not None:
            channel: Channel = LineChannel(pane, last.text, self.tmux)
            self._tell(last, pane.id, channel, None)
        for asked in still_asked(outcomes) if self.runs.at(pane.id) is not None else []:
            if self.asked.add(asked, pane.id):
                self._ask(pane.id, asked)

    def ask_again(self, pane: PaneId) -> None:
        """What a headless session of ours still waited for when an earlier agent was killed."""
        for asked in self.asked.at(pane):
            self._ask(pane, asked)

    def _ask(self, pane: PaneId, asked: PromptOpened) -> None:
        run = self.runs.at(pane)
        assert run is not None
        assert asked.request is not None
        session = self.roster.sessions.get(asked.session) if asked.session else None
        ruling = self.prompts.rule(asked, session.cwd if session else None)
        self._tell(asked, pane, ControlChannel(self.runs, run, asked.request, self.asked), ruling)

    def _tell(
        self, asked: PromptOpened, pane: PaneId | None, channel: Channel, ruling: Ruling | None
    ) -> None:
        """At once, so that what is heard next finds it there. A rule answers it, or else a person."""
        told = self.prompts.tell(asked, pane, channel, ruled=ruling is not None)
        if ruling is not None:
            self.start(self.prompts.answer_by_rule(told, ruling))
