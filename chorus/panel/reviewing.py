"""Keeping, taking back and bringing back what the cursor is on.

Receives key presses; asks the agent, and says what was done with the command that does the same.
Taking back shows first what it would change and which later actions stand in its way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chorus.errors import ChorusError, ExitCode
from chorus.panel import equivalents
from chorus.panel.bars import Said
from chorus.panel.items import Entry
from chorus.panel.queue import Queue
from chorus.panel.queue_lines import render_subject
from chorus.panel.revert_form import RevertForm
from chorus.panel.rows import TurnRow
from chorus.panel.work import start_work
from chorus.wire.protocol import WatcherError

if TYPE_CHECKING:
    from chorus.panel.app import Panel


@dataclass(frozen=True, slots=True)
class Target:
    """What a key acts on: one action, or a turn."""

    words: str
    arguments: dict[str, Any]

    @property
    def turn(self) -> str | None:
        return self.arguments.get("turn")

    def revert_command(self) -> str:
        if self.turn is not None:
            return equivalents.revert_turn(self.turn)
        return equivalents.revert(self.arguments["actions"])

    def keep_command(self) -> str:
        if self.turn is not None:
            return equivalents.keep_turn(self.turn)
        return equivalents.keep(self.arguments["actions"])


class Reviewing:
    def __init__(self, panel: "Panel", queue: Queue) -> None:
        self._panel = panel
        self._queue = queue
        self._last_reverted: list[int] = []
        self._reverted_at: float | None = None  # what the cursor was on then

    def keep(self, *, turn: bool = False) -> None:
        if target := self._target(turn=turn):
            start_work(self._panel, "review", self._keep, target)

    def revert(self, *, turn: bool = False) -> None:
        if target := self._target(turn=turn):
            start_work(self._panel, "preview", self._preview, target)

    def redo(self) -> None:
        """What the cursor is on, if it was taken back; else what was taken back last from here.

        The cursor still where it was then means all of that, not the one action it is on.
        """
        entry, numbers = self._queue.entry, self._last_reverted
        if entry and entry.status == "reverted" and not (numbers and entry.n == self._reverted_at):
            numbers = [int(entry.n)]
        if numbers:
            start_work(self._panel, "review", self._redo, numbers)
        else:
            self._panel.say(Said("put the cursor on what was taken back, to bring it back", "warning"))

    def _target(self, *, turn: bool) -> Target | None:
        entry, group = self._queue.entry, self._queue.group
        if group is None:
            self._panel.say(Said("there is no action yet", "warning"))
            return None
        if turn or isinstance(self._queue.row, TurnRow):
            return Target("the whole turn", {"turn": group[1]})
        assert entry is not None
        if entry.outside:
            self._panel.say(
                Said("no action made this change: it is not Chorus's to keep or take back", "warning")
            )
            return None
        return Target(_name(entry), {"actions": [entry.n]})

    async def _keep(self, target: Target) -> None:
        command = target.keep_command()
        try:
            answer = await self._panel.ask("keep", target.arguments, label="keeping")
        except ChorusError as error:
            self._panel.say_error(error, command)
            return
        kept = _numbers(answer, "kept")
        self._panel.say(Said(f"kept {_list(kept)}", "done", command))
        if self._queue.entry is not None and self._queue.entry.n in kept:
            self._queue.action_next_open(1)

    async def _preview(self, target: Target) -> None:
        try:
            ahead = {**target.arguments, "dry_run": True}
            answer = await self._panel.ask("revert", ahead, label="looking ahead")
        except WatcherError as error:
            if error.exit_code is not ExitCode.CONFLICT:
                self._panel.say_error(error, target.revert_command())
                return
            self._open_preview(target, "", error, _numbers(error.details, "dependents"))
        except ChorusError as error:
            self._panel.say_error(error, target.revert_command())
        else:
            self._open_preview(target, str(answer.get("patch", "")), None, [])

    def _open_preview(
        self, target: Target, patch: str, problem: ChorusError | None, dependents: list[int]
    ) -> None:
        def chosen(choice: str | None) -> None:
            if choice is not None:
                together = choice == "with_dependents"
                start_work(self._panel, "review", self._revert, target, with_dependents=together)

        form = RevertForm(
            self._panel.look,
            target.words,
            target.revert_command(),
            patch=patch,
            problem=problem,
            dependents=dependents,
        )
        self._panel.push_screen(form, chosen)

    async def _revert(self, target: Target, *, with_dependents: bool) -> None:
        command = target.revert_command() + (" --with-dependents" if with_dependents else "")
        more = {"with_dependents": True} if with_dependents else {}
        try:
            answer = await self._panel.ask("revert", {**target.arguments, **more}, label="taking back")
        except ChorusError as error:
            self._panel.say_error(error, command)
        else:
            reverted = self._last_reverted = _numbers(answer, "reverted")
            self._reverted_at = self._queue.entry.n if self._queue.entry else None
            them = "it" if len(reverted) == 1 else "them"
            self._panel.say(Said(f"took back {_list(reverted)}; u brings {them} back", "done", command))

    async def _redo(self, numbers: list[int]) -> None:
        command = equivalents.redo(numbers)
        try:
            await self._panel.ask("redo", {"actions": numbers}, label="bringing back")
        except ChorusError as error:
            self._panel.say_error(error, command)
        else:
            self._last_reverted = [n for n in self._last_reverted if n not in numbers]
            self._panel.say(Said(f"brought back {_list(numbers)}", "done", command))


def _name(entry: Entry) -> str:
    return f"{entry.number} {entry.tool} {render_subject(entry)}"


def _numbers(answer: Any, name: str) -> list[int]:  # noqa: ANN401  whatever the agent answered
    values = answer.get(name) if isinstance(answer, dict) else None
    return [int(value) for value in values if isinstance(value, int)] if isinstance(values, list) else []


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) if numbers else "nothing"
