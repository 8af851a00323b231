"""Whose change is it? What the agent does to the timeline when calls open and close.

Receives what pairing says, in order. Gives the looks and records to perform: before a call that
names its paths, look at those; before a call that may write anywhere, sweep what moved until then as
`outside`; when a call ends, record what it changed. Between calls everything that moves is outside.
Never reads a file and never names one that nobody named.

A window is the time in which a call may write anywhere. It usually ends with the call; a background
task's goes on until the client says that the task is over, or its session ends.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from chorus.model.action import Action, Call, WriteScope
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    CallOpened,
    LeadTextAdded,
    Outcome,
    OwnerCorrected,
    PromptClosed,
    PromptOpened,
    SessionDiscovered,
    SessionEnded,
    SessionIdle,
    SessionLinked,
    StatusCorrected,
    TurnEnded,
    TurnStarted,
)
from chorus.model.tools import AGENT_TOOLS

# The second record of a call that went on in the background: its own id, made from the first.
BACKGROUND_SUFFIX = "-background"


@dataclass(frozen=True, slots=True)
class RecordOutsideAt:
    """Record how these paths differ from the timeline as `outside`: the call starts from there."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordOutsideEverywhere:
    """Record everything that moved as `outside`, except what open calls name.

    `until`: when the call was made. Who learns of it late leaves alone what moved after that.
    """

    exclude: frozenset[str]
    until: str | None = None


@dataclass(frozen=True, slots=True)
class RecordNamedPaths:
    """Record what the action changed in the paths it names."""

    action: Action


@dataclass(frozen=True, slots=True)
class RecordCallWindow:
    """Record what moved in the action's window as its change, except what open calls name.

    `shared`: other windows are open, so the client's own list of changed paths decides first.
    """

    action: Action
    exclude: frozenset[str]
    shared: bool


@dataclass(frozen=True, slots=True)
class RecordUnchanged:
    """Remember how the call ended; it changed nothing."""

    action: Action


WindowEffect = (
    RecordOutsideAt | RecordOutsideEverywhere | RecordNamedPaths | RecordCallWindow | RecordUnchanged
)


class CallWindows:
    def __init__(self) -> None:
        self._named: dict[ToolUseId, Call] = {}
        self._windows: dict[ToolUseId, Call] = {}
        self._background: dict[ToolUseId, Action] = {}

    @property
    def exclude(self) -> frozenset[str]:
        """The paths that open calls name: their change is not outside."""
        return frozenset(path for call in self._named.values() for path in call.paths)

    @property
    def open(self) -> bool:
        """Whether some call may be writing anywhere right now."""
        return bool(self._windows or self._background)

    def feed(self, outcome: Outcome) -> list[WindowEffect]:
        match outcome:
            case CallOpened(call):
                return self._open(call)
            case ActionClosed(action):
                return self._close(action)
            case BackgroundTaskEnded(id=identity) if identity is not None:
                return self._end_background([identity])
            case SessionEnded(session=session):
                return self._end_background(self._background_of(session))
            case (
                BackgroundTaskEnded()
                | SessionDiscovered()
                | SessionLinked()
                | TurnStarted()
                | TurnEnded()
                | SessionIdle()
            ):
                return []
            case StatusCorrected() | LeadTextAdded() | OwnerCorrected() | PromptOpened() | PromptClosed():
                return []
            case _:
                assert_never(outcome)

    def _open(self, call: Call) -> list[WindowEffect]:
        if call.write_scope is WriteScope.NAMED:
            # What another open call names may hold that call's change by now: it is not outside.
            own = tuple(path for path in call.paths if path not in self.exclude)
            self._named[call.id] = call
            return [RecordOutsideAt(own)] if own else []
        if call.write_scope is WriteScope.ANYWHERE and call.tool not in AGENT_TOOLS:
            alone = not self.open
            self._windows[call.id] = call
            return [RecordOutsideEverywhere(self.exclude, call.time)] if alone else []
        return []

    def _close(self, action: Action) -> list[WindowEffect]:
        self._named.pop(action.id, None)
        self._windows.pop(action.id, None)
        if action.write_scope is WriteScope.NOTHING or action.tool in AGENT_TOOLS:
            return []
        if action.status == "denied":
            return [RecordUnchanged(action)]
        if action.write_scope is WriteScope.NAMED:
            # A failed edit leaves the file alone; a call cut off by a kill may have written it.
            return [RecordUnchanged(action)] if action.status == "failed" else [RecordNamedPaths(action)]
        shared = self.open
        if action.status == "succeeded" and _runs_in_background(action):
            later = action._replace(id=ToolUseId(action.id + BACKGROUND_SUFFIX), report=None)
            self._background[action.id] = later
        return [RecordCallWindow(action, self.exclude, shared)]

    def _end_background(self, ids: Iterable[ToolUseId]) -> list[WindowEffect]:
        effects: list[WindowEffect] = []
        for identity in ids:
            action = self._background.pop(identity, None)
            if action is not None:
                effects.append(RecordCallWindow(action, self.exclude, self.open))
        return effects

    def _background_of(self, session: SessionId) -> list[ToolUseId]:
        return [identity for identity, action in self._background.items() if action.session == session]


def _runs_in_background(action: Action) -> bool:
    return action.background or action.input.get("run_in_background") is True
