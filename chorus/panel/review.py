"""Keep, revert, redo and land from the panel, write notes, and undo these changes where possible."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chorus.errors import ChorusError, ExitCode
from chorus.model.api.json_api import LandedCommitJson, LandJson
from chorus.model.api.requests import (
    ActionName,
    KeepArguments,
    LandArguments,
    LandMessage,
    NoteArguments,
    RevertArguments,
)
from chorus.model.review_state import render_revert_warnings
from chorus.panel import command_lines
from chorus.panel.background import start_task
from chorus.panel.forms.hunk_form import HunkForm
from chorus.panel.forms.land_form import LandForm
from chorus.panel.forms.note_form import NoteForm
from chorus.panel.forms.revert_form import RevertForm, RevertPreview
from chorus.panel.state.model import PanelModel
from chorus.panel.state.watcher_client import WatcherClient
from chorus.panel.widgets.bars import StatusLine
from chorus.panel.widgets.patch import DiffLine
from chorus.panel.widgets.queue import Queue
from chorus.panel.widgets.queue_rows import TurnRow, render_subject
from chorus.text.width import count_of, render_ranges
from chorus.wire.protocol import WatcherError

# How many changes `u` can undo, one after another.
MAX_DONE_STEPS = 100


@dataclass(frozen=True, slots=True)
class ReviewTarget:
    """The action or turn that a key acts on. `arguments`: those of the request to the watcher."""

    description: str
    arguments: RevertArguments
    keep_command: str
    revert_command: str

    @property
    def whole_action(self) -> ActionName | None:
        """The action's number if the target is exactly one whole action, else None."""
        return self.arguments["actions"][0] if self.arguments.keys() == {"actions"} else None


@dataclass(frozen=True, slots=True)
class DoneStep:
    """A change made in the panel. `undo` is None if it cannot be undone; `what` then says so."""

    what: str
    undo: Callable[[], Awaitable[None]] | None


EditMessages = Callable[[Sequence[LandedCommitJson], str], list[LandMessage]]


class Review:
    """Handles the review keys. `here`: send only the notes of the panel's work tree."""

    def __init__(
        self,
        queue: Queue,
        status: StatusLine,
        model: PanelModel,
        client: WatcherClient,
        edit_messages: EditMessages,
        *,
        here: bool = False,
    ) -> None:
        self._queue = queue
        self._status = status
        self._model = model
        self._client = client
        self._edit_messages = edit_messages
        self._here = here
        self._done: list[DoneStep] = []  # the last one is undone first

    @property
    def can_undo(self) -> bool:
        return bool(self._done)

    def keep(self, *, turn: bool = False) -> None:
        if target := self._target(turn=turn):
            start_task(self._queue, "review", self._keep, target)

    def revert(self, *, turn: bool = False) -> None:
        """Preview the revert of the action or turn under the cursor. Redo an action that is reverted."""
        entry = self._queue.entry
        if entry is not None and entry.status == "reverted" and not turn:
            start_task(self._queue, "review", self._redo, [int(entry.n)])
        elif target := self._target(turn=turn):
            start_task(self._queue, "preview", self._preview_revert, target)

    def choose_hunks(self) -> None:
        """Let the user choose hunks of the action under the cursor, then preview their revert."""
        if self._queue.entry is None:
            self._status.show("put the cursor on an action to choose its hunks", "warning")
        elif target := self._target(turn=False):
            start_task(self._queue, "preview", self._open_hunk_form, target)

    def note(self, place: tuple[str, DiffLine] | None) -> None:
        """Ask for a note on the action under the cursor. `place`: the file and line, if any."""
        entry = self._queue.entry
        if entry is None or entry.outside or not entry.paths:
            self._status.show("put the cursor on an action that changed a file", "warning")
            return
        arguments: NoteArguments = {"action": int(entry.n), "text": ""}
        name, what, quote = entry.number, f"{entry.number} {entry.tool} {render_subject(entry)}", ""
        if place is not None and (line := place[1].new) is not None:
            path = f"{place[0]}:" if len(entry.paths) > 1 else ""
            arguments |= {"path": place[0], "line": line}
            name, what, quote = f"{name}:{path}{line}", f"{place[0]}:{line}", place[1].text.strip()

        def submit(text: str | None) -> None:
            if text is not None:
                start_task(self._queue, "review", self._note, {**arguments, "text": text}, name)

        self._queue.app.push_screen(NoteForm(self._queue.active_palette, what, name, quote), submit)

    def send_notes(self) -> None:
        start_task(self._queue, "review", self._send_notes)

    def undo(self) -> None:
        """Undo the last step made in the panel. Without one, redo the reverted action under the cursor."""
        entry = self._queue.entry
        if self._done:
            start_task(self._queue, "review", self._undo)
        elif entry is not None and entry.status == "reverted":
            start_task(self._queue, "review", self._redo, [int(entry.n)])
        else:
            self._status.show("nothing to undo", "warning")

    def land(self) -> None:
        if (lane := self._lane()) is None:
            why = (
                "put the cursor on an action of the lane to land"
                if self._model.lanes
                else "there is no lane yet"
            )
            self._status.show(why, "warning")
            return

        def submit(choices: LandArguments | None) -> None:
            if choices is not None:
                start_task(self._queue, "review", self._land, choices)

        entries = [entry for entry in self._model.entries.values() if entry.lane == lane]
        form = LandForm(
            self._queue.active_palette,
            lane,
            self._plan_landing,
            self._edit_messages,
            unreviewed=sum(entry.open for entry in entries),
        )
        self._queue.app.push_screen(form, submit)

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
        number = int(entry.n)
        commands = command_lines.keep([number]), command_lines.revert([number])
        description = f"{entry.number} {entry.tool} {render_subject(entry)}"
        return ReviewTarget(description, {"actions": [number]}, *commands)

    async def _keep(self, target: ReviewTarget) -> None:
        entry = self._queue.entry
        if "actions" in target.arguments and entry is not None and entry.status == "kept":
            await self._reopen([int(entry.n)])
            return
        try:
            answer = await self._client.request("keep", target.arguments, label="keeping")
        except ChorusError as error:
            self._status.show_error(error, target.keep_command)
            return
        kept = _numbers(answer, "kept")
        if not kept:
            self._status.show("there is no open action to keep", "warning", target.keep_command)
            return
        self._add_done(f"keep {render_ranges(kept)}", lambda: self._reopen(kept, undoing=True))
        self._status.show(f"kept {render_ranges(kept)}", "done", target.keep_command)
        if self._queue.entry is not None and self._queue.entry.n in kept:
            self._queue.action_next_open(1)

    async def _reopen(self, numbers: list[int], *, undoing: bool = False) -> None:
        """Open kept actions again. `undoing`: do not add this as a step that can be undone."""
        command = command_lines.keep(numbers) + " --undo"
        again: KeepArguments = {"actions": [*numbers], "undo": True}
        try:
            answer = await self._client.request("keep", again, label="reopening")
        except ChorusError as error:
            self._status.show_error(error, command)
            return
        reopened = _numbers(answer, "reopened")
        if not undoing and reopened:
            self._add_done(f"reopen {render_ranges(reopened)}", lambda: self._keep_again(reopened))
        self._status.show(f"reopened {render_ranges(reopened)}", "done", command)

    async def _keep_again(self, numbers: list[int]) -> None:
        try:
            await self._client.request("keep", {"actions": [*numbers]}, label="keeping")
        except ChorusError as error:
            self._status.show_error(error, command_lines.keep(numbers))
        else:
            self._status.show(f"kept {render_ranges(numbers)}", "done", command_lines.keep(numbers))

    async def _preview_revert(self, target: ReviewTarget) -> None:
        try:
            arguments: RevertArguments = {**target.arguments, "dry_run": True}
            answer = await self._client.request("revert", arguments, label="previewing")
        except WatcherError as error:
            if error.exit_code is not ExitCode.CONFLICT:
                self._status.show_error(error, target.revert_command)
                return
            self._open_revert_form(target, _blocked_preview(error))
        except ChorusError as error:
            self._status.show_error(error, target.revert_command)
        else:
            warnings = render_revert_warnings(answer.get("warnings", []))
            patch = str(answer.get("patch", ""))
            several = target.whole_action is not None and patch.count("\n@@ ") > 1
            if "turn" in target.arguments:
                numbers = _numbers(answer, "reverted")
                target = replace(target, description=f"the whole turn: {render_ranges(numbers)}")
            self._open_revert_form(target, RevertPreview(patch, warnings=warnings, has_hunks=several))

    def _open_revert_form(self, target: ReviewTarget, preview: RevertPreview) -> None:
        def submit(choice: str | None) -> None:
            match choice:
                case "revert":
                    start_task(self._queue, "review", self._revert, target)
                case "with_dependents":
                    start_task(
                        self._queue, "preview", self._preview_revert, _with_dependents(target, preview)
                    )
                case "hunks":
                    start_task(self._queue, "preview", self._open_hunk_form, target)

        form = RevertForm(self._queue.active_palette, target.description, target.revert_command, preview)
        self._queue.app.push_screen(form, submit)

    async def _open_hunk_form(self, target: ReviewTarget) -> None:
        number = target.whole_action
        assert number is not None
        try:
            hunks = await self._client.request("hunks", {"action": number}, label="listing the hunks")
        except ChorusError as error:
            self._status.show_error(error, target.revert_command)
            return
        if len(hunks) < 2:
            self._status.show(f"action {number} has only one hunk: press r to revert it", "info")
            return

        def submit(chosen: list[int] | None) -> None:
            if chosen:
                start_task(self._queue, "preview", self._preview_revert, _with_hunks(target, chosen))

        form = HunkForm(self._queue.active_palette, target.description, hunks)
        self._queue.app.push_screen(form, submit)

    async def _revert(self, target: ReviewTarget) -> None:
        command = target.revert_command
        try:
            answer = await self._client.request("revert", target.arguments, label="reverting")
        except ChorusError as error:
            self._status.show_error(error, command)
            return
        reverted = _numbers(answer, "reverted")
        self._add_done(f"revert {render_ranges(reverted)}", lambda: self._redo(reverted, undoing=True))
        of = "hunks of " if target.arguments.get("hunks") else ""
        self._status.show(f"reverted {of}{render_ranges(reverted)}; press u to undo", "done", command)

    async def _redo(self, numbers: list[int], *, undoing: bool = False) -> None:
        command = command_lines.redo(numbers)
        try:
            answer = await self._client.request("redo", {"actions": [*numbers]}, label="redoing")
        except ChorusError as error:
            self._status.show_error(error, command)
            return
        # A redo is undone by reverting the redo's own action, which may have only some hunks.
        made = _numbers(answer, "made") or numbers
        if not undoing:
            self._add_done(f"redo {render_ranges(numbers)}", lambda: self._revert_again(made, numbers))
        self._status.show(f"redone {render_ranges(numbers)}", "done", command)

    async def _revert_again(self, made: list[int], numbers: list[int]) -> None:
        command = command_lines.revert(made)
        try:
            await self._client.request("revert", {"actions": [*made]}, label="reverting")
        except ChorusError as error:
            self._status.show_error(error, command)
        else:
            self._status.show(f"reverted {render_ranges(numbers)}", "done", command)

    async def _note(self, arguments: NoteArguments, place: str) -> None:
        command = command_lines.note(place, arguments["text"])
        try:
            note = await self._client.request("note", arguments, label="writing the note")
        except ChorusError as error:
            self._status.show_error(error, command)
            return
        number = note["n"]
        self._add_done(f"note {number}", lambda: self._drop_note(number))
        self._status.show(f"note {number} is a draft; press C to send all drafts", "done", command)

    async def _drop_note(self, number: int) -> None:
        command = command_lines.drop_notes([number])
        try:
            await self._client.request("drop_notes", {"notes": [number]}, label="dropping the note")
        except ChorusError as error:
            self._status.show_error(error, command)
        else:
            self._status.show(f"dropped note {number}", "done", command)

    async def _send_notes(self) -> None:
        command = command_lines.send_notes(here=self._here)
        try:
            answer = await self._client.request("send_notes", {"here": self._here}, label="sending the notes")
        except ChorusError as error:
            self._status.show_error(error, command)
            return
        later = "; the session gets them at its next step" if answer["queued"] else ""
        self._add_done("sent notes cannot be recalled", None)
        self._status.show(f"sent {count_of(answer['sent'], 'note')}{later}", "done", command)

    async def _undo(self) -> None:
        step = self._done.pop()
        if step.undo is None:
            self._status.show(step.what, "warning")
        else:
            await step.undo()

    def _add_done(self, what: str, undo: Callable[[], Awaitable[None]] | None) -> None:
        self._done = [*self._done, DoneStep(what, undo)][-MAX_DONE_STEPS:]

    async def _plan_landing(self, choices: LandArguments) -> LandJson:
        return await self._client.request("land", {**choices, "dry_run": True}, label="previewing")

    async def _land(self, choices: LandArguments) -> None:
        lane = choices["lane"]
        command = command_lines.land(
            lane, choices["by"], onto=choices.get("onto"), message=choices.get("message")
        )
        try:
            answer = await self._client.request("land", choices, label=f"landing {lane}")
        except ChorusError as error:
            self._status.show_error(error, command)
        else:
            commits = count_of(answer.get("commits", []), "commit")
            left = len({place.get("n") for place in answer.get("left", [])})
            rest = f"; {left} left open" if left else ""
            self._add_done("the landing cannot be undone from here: undo it with git (reset or revert)", None)
            self._status.show(f"landed {commits} on {answer.get('onto', '')}{rest}", "done", command)

    def _lane(self) -> str | None:
        """Return the lane to land; None if there is none.

        This is the lane of the action under the cursor, else the lane of the session, else the only lane.
        """
        if (entry := self._queue.entry) and entry.lane:
            return entry.lane
        session = self._queue.view.session or (self._queue.group[0] if self._queue.group else None)
        if session and (lane := self._model.lane_of(session)):
            return lane
        return next(iter(self._model.lanes)) if len(self._model.lanes) == 1 else None


def _blocked_preview(error: WatcherError) -> RevertPreview:
    """Return the preview of a revert that is blocked.

    If an outside change blocks it, no dependents are offered: their revert would be blocked too.
    """
    details = error.details or {}
    conflicts = details.get("conflicts")
    outside = isinstance(conflicts, list) and any(one["by"] is None for one in conflicts)
    return RevertPreview("", error, () if outside else _numbers(details, "dependents"))


def _with_dependents(target: ReviewTarget, preview: RevertPreview) -> ReviewTarget:
    return replace(
        target,
        description=f"{target.description} with {render_ranges(preview.dependents)}",
        arguments={**target.arguments, "with_dependents": True},
        revert_command=command_lines.with_dependents(target.revert_command),
    )


def _with_hunks(target: ReviewTarget, chosen: list[int]) -> ReviewTarget:
    return replace(
        target,
        description=f"{count_of(chosen, 'hunk')} of {target.description}",
        arguments={**target.arguments, "hunks": chosen},
        revert_command=command_lines.with_hunks(target.revert_command, chosen),
    )


def _numbers(answer: Mapping[str, Any], name: str) -> list[int]:
    values = answer.get(name)
    return [int(value) for value in values if isinstance(value, int)] if isinstance(values, list) else []
