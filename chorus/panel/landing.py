"""Landing a lane: the form, its preview, and the landing itself.

Receives the key press; asks the agent what would be made, and on the person's word to make it.
"""

from typing import TYPE_CHECKING

from chorus.errors import ChorusError
from chorus.panel import equivalents
from chorus.panel.bars import Said
from chorus.panel.diff_lines import Drawn
from chorus.panel.land_form import LandForm
from chorus.panel.queue import Queue
from chorus.panel.work import start_work
from chorus.text.sanitize import sanitize
from chorus.text.width import count_of

if TYPE_CHECKING:
    from chorus.panel.app import Panel

# A list of commits longer than this does not fit into a form.
MOST_COMMITS = 8


class Landing:
    def __init__(self, panel: "Panel", queue: Queue) -> None:
        self._panel = panel
        self._queue = queue

    def land(self) -> None:
        if (lane := self._lane()) is None:
            self._panel.say(Said("there is no lane to land yet", "warning"))
            return

        async def preview(choices: dict[str, str]) -> list[Drawn]:
            return await self._preview_landing(lane, choices)

        def chosen(choices: dict[str, str] | None) -> None:
            if choices is not None:
                start_work(self._panel, "review", self._land, lane, choices)

        self._panel.push_screen(LandForm(self._panel.look, lane, preview), chosen)

    async def _preview_landing(self, lane: str, choices: dict[str, str]) -> list[Drawn]:
        try:
            answer = await self._panel.ask(
                "land", {"lane": lane, "dry_run": True, **choices}, label="looking ahead"
            )
        except ChorusError as error:
            return [([(sanitize(str(error)), "error")], "")]
        commits = answer.get("commits", [])
        words = f"{count_of(commits, 'commit')} on {sanitize(str(answer.get('onto', '')))}:"
        lines: list[Drawn] = [([(words, "muted")], "")]
        for commit in commits[:MOST_COMMITS]:
            actions = ",".join(map(str, commit.get("actions", [])))
            lines.append(
                ([("  " + sanitize(str(commit.get("subject", ""))), ""), (f"  {actions}", "muted")], "")
            )
        if len(commits) > MOST_COMMITS:
            lines.append(([(f"  … and {len(commits) - MOST_COMMITS} more", "muted")], ""))
        return lines

    async def _land(self, lane: str, choices: dict[str, str]) -> None:
        command = equivalents.land(
            lane, choices["by"], onto=choices.get("onto"), message=choices.get("message")
        )
        try:
            answer = await self._panel.ask("land", {"lane": lane, **choices}, label=f"landing {lane}")
        except ChorusError as error:
            self._panel.say_error(error, command)
        else:
            commits = count_of(answer.get("commits", []), "commit")
            self._panel.say(Said(f"landed {commits} on {answer.get('onto', '')}", "done", command))

    def _lane(self) -> str | None:
        """The lane of the action under the cursor, of the session picked, or the only one there is."""
        if (entry := self._queue.entry) and entry.lane:
            return entry.lane
        model = self._panel.model
        session = self._queue.view.session or (self._queue.group[0] if self._queue.group else None)
        if session and (lane := model.lane_of(session)):
            return lane
        return next(iter(model.lanes)) if len(model.lanes) == 1 else None
