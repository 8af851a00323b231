"""Keep, revert, redo and land, from the row under the cursor.

A revert shows a preview first: what it would change, or the later actions it conflicts with. Landing has a
form with a preview of the commits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.errors import ChorusError, ExitCode
from chorus.panel import command_lines
from chorus.panel.background import start_task
from chorus.panel.forms.land_form import LandForm
from chorus.panel.forms.revert_form import RevertForm
from chorus.panel.model import PanelModel
from chorus.panel.watcher_client import WatcherClient
from chorus.panel.widgets.bars import StatusLine
from chorus.panel.widgets.line_pane import StyledLine
from chorus.panel.widgets.queue import Queue
from chorus.panel.widgets.queue_rows import TurnRow, render_subject
from chorus.text.sanitize import sanitize
from chorus.text.width import count_of
from chorus.wire.protocol import WatcherError

# More commits do not fit into the form.
MAX_COMMITS = 8


@dataclass(frozen=True, slots=True)
class ReviewTarget:
    """What a key acts on: one action, or a turn. `arguments`: for the request."""

    description: str
    arguments: dict[str, Any]
    keep_command: str
    revert_command: str


class Review:
    def __init__(self, queue: Queue, status: StatusLine, model: PanelModel, client: WatcherClient) -> None:
        self._queue = queue
        self._status = status
        self._model = model
        self._client = client
        self._last_reverted: list[int] = []
        self._reverted_at: float | None = None  # the row the cursor was on then

    def keep(self, *, turn: bool = False) -> None:
        if target := self._target(turn=turn):
            start_task(self._queue, "review", self._keep, target)

    def revert(self, *, turn: bool = False) -> None:
        if target := self._target(turn=turn):
            start_task(self._queue, "preview", self._preview_revert, target)

    def redo(self) -> None:
        """Redo the action under the cursor if it was reverted, else what was last reverted from here.

        If the cursor is still where it was then, that means all of it, not only the action under the cursor.
        """
        entry, numbers = self._queue.entry, self._last_reverted
        if entry and entry.status == "reverted" and not (numbers and entry.n == self._reverted_at):
            numbers = [int(entry.n)]
        if numbers:
            start_task(self._queue, "review", self._redo, numbers)
        else:
            self._status.show("nothing to redo: put the cursor on a reverted action", "warning")

    def land(self) -> None:
        if (lane := self._lane()) is None:
            self._status.show("there is no lane to land", "warning")
            return

        async def preview(choices: dict[str, str]) -> list[StyledLine]:
            return await self._preview_landing(lane, choices)

        def submit(choices: dict[str, str] | None) -> None:
            if choices is not None:
                start_task(self._queue, "review", self._land, lane, choices)

        self._queue.app.push_screen(LandForm(self._queue.appearance, lane, preview), submit)

    def _target(self, *, turn: bool) -> ReviewTarget | None:
        entry, group = self._queue.entry, self._queue.group
        if group is None:
            self._status.show("there is no action yet", "warning")
            return None
        if turn or isinstance(self._queue.row, TurnRow):
            name = group[1]
            commands = command_lines.keep_turn(name), command_lines.revert_turn(name)
            return ReviewTarget("the whole turn", {"turn": name}, *commands)
        assert entry is not None
        if entry.outside:
            self._status.show("this is an outside change: only actions can be kept or reverted", "warning")
            return None
        numbers = [int(entry.n)]
        commands = command_lines.keep(numbers), command_lines.revert(numbers)
        description = f"{entry.number} {entry.tool} {render_subject(entry)}"
        return ReviewTarget(description, {"actions": numbers}, *commands)

    async def _keep(self, target: ReviewTarget) -> None:
        try:
            answer = await self._client.request("keep", target.arguments, label="keeping")
        except ChorusError as error:
            self._status.show_error(error, target.keep_command)
            return
        kept = _numbers(answer, "kept")
        self._status.show(f"kept {_list(kept)}", "done", target.keep_command)
        if self._queue.entry is not None and self._queue.entry.n in kept:
            self._queue.action_next_open(1)

    async def _preview_revert(self, target: ReviewTarget) -> None:
        try:
            arguments = {**target.arguments, "dry_run": True}
            answer = await self._client.request("revert", arguments, label="previewing")
        except WatcherError as error:
            if error.exit_code is not ExitCode.CONFLICT:
                self._status.show_error(error, target.revert_command)
                return
            self._open_revert_form(target, "", error, _numbers(error.details or {}, "dependents"))
        except ChorusError as error:
            self._status.show_error(error, target.revert_command)
        else:
            self._open_revert_form(target, str(answer.get("patch", "")), None, [])

    def _open_revert_form(
        self, target: ReviewTarget, patch: str, problem: ChorusError | None, dependents: list[int]
    ) -> None:
        def submit(choice: str | None) -> None:
            if choice is not None:
                dependents_too = choice == "with_dependents"
                start_task(self._queue, "review", self._revert, target, with_dependents=dependents_too)

        form = RevertForm(
            self._queue.appearance,
            target.description,
            target.revert_command,
            patch=patch,
            problem=problem,
            dependents=dependents,
        )
        self._queue.app.push_screen(form, submit)

    async def _revert(self, target: ReviewTarget, *, with_dependents: bool) -> None:
        command, arguments = target.revert_command, target.arguments
        if with_dependents:
            command = command_lines.with_dependents(command)
            arguments = {**arguments, "with_dependents": True}
        try:
            answer = await self._client.request("revert", arguments, label="reverting")
        except ChorusError as error:
            self._status.show_error(error, command)
        else:
            self._last_reverted = _numbers(answer, "reverted")
            self._reverted_at = self._queue.entry.n if self._queue.entry else None
            self._status.show(f"reverted {_list(self._last_reverted)}; u to redo", "done", command)

    async def _redo(self, numbers: list[int]) -> None:
        command = command_lines.redo(numbers)
        try:
            await self._client.request("redo", {"actions": numbers}, label="redoing")
        except ChorusError as error:
            self._status.show_error(error, command)
        else:
            self._last_reverted = [n for n in self._last_reverted if n not in numbers]
            self._status.show(f"redid {_list(numbers)}", "done", command)

    async def _preview_landing(self, lane: str, choices: dict[str, str]) -> list[StyledLine]:
        try:
            arguments = {"lane": lane, "dry_run": True, **choices}
            answer = await self._client.request("land", arguments, label="previewing")
        except ChorusError as error:
            return [([(sanitize(str(error)), "error")], "")]
        commits = answer.get("commits", [])
        heading = f"{count_of(commits, 'commit')} on {sanitize(str(answer.get('onto', '')))}:"
        lines: list[StyledLine] = [([(heading, "muted")], "")]
        for commit in commits[:MAX_COMMITS]:
            subject = "  " + sanitize(str(commit.get("subject", "")))
            actions = "  " + ",".join(map(str, commit.get("actions", [])))
            lines.append(([(subject, ""), (actions, "muted")], ""))
        if len(commits) > MAX_COMMITS:
            lines.append(([(f"  … and {len(commits) - MAX_COMMITS} more", "muted")], ""))
        return lines

    async def _land(self, lane: str, choices: dict[str, str]) -> None:
        command = command_lines.land(
            lane, choices["by"], onto=choices.get("onto"), message=choices.get("message")
        )
        try:
            answer = await self._client.request("land", {"lane": lane, **choices}, label=f"landing {lane}")
        except ChorusError as error:
            self._status.show_error(error, command)
        else:
            commits = count_of(answer.get("commits", []), "commit")
            self._status.show(f"landed {commits} on {answer.get('onto', '')}", "done", command)

    def _lane(self) -> str | None:
        """Return the lane of the action under the cursor, of the chosen session, or the only one there is."""
        if (entry := self._queue.entry) and entry.lane:
            return entry.lane
        session = self._queue.view.session or (self._queue.group[0] if self._queue.group else None)
        if session and (lane := self._model.lane_of(session)):
            return lane
        return next(iter(self._model.lanes)) if len(self._model.lanes) == 1 else None


def _numbers(answer: Mapping[str, Any], name: str) -> list[int]:
    """Read a list of numbers from the watcher's JSON; empty if it is something else."""
    values = answer.get(name)
    return [int(value) for value in values if isinstance(value, int)] if isinstance(values, list) else []


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) if numbers else "nothing"
