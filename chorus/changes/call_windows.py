"""Decide what to record when calls open and close, without reading a file.

A call is open once it may run, not once it is announced: the client announces all calls of a message before
it runs the first of them. Only a call that may write anywhere has a window. The window of a background task
stays open until the task or its session ends. A call that starts a sub-agent has no window: the sub-agent's
own calls are reported one by one.
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
    CallStarted,
    ControlAsked,
    ControlReplied,
    ErrorReported,
    LeadTextAdded,
    MessageDelivered,
    ModelAnswered,
    Outcome,
    OwnerCorrected,
    PromptClosed,
    PromptOpened,
    RateLimited,
    RequestRetried,
    SessionDescribed,
    SessionDiscovered,
    SessionEnded,
    SessionIdle,
    SessionLinked,
    StatusCorrected,
    TextWritten,
    TurnEnded,
    TurnRenamed,
    TurnReported,
    TurnStarted,
)
from chorus.model.tools import AGENT_TOOLS

# A call that goes on in the background gets a second record: its id is the first one's id with this suffix.
BACKGROUND_SUFFIX = "-background"


@dataclass(frozen=True, slots=True)
class RecordOutsideAt:
    """Record all changes so far at these paths as outside changes."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordOutsideEverywhere:
    """Record all changes so far as outside changes, except at the `exclude` paths.

    This happens when a call starts that may write anywhere. `until` is the time at which the call was made.
    Changes after `until` are not recorded: if the start is reported late, the call may have made them.
    """

    exclude: frozenset[str]
    until: str | None = None


@dataclass(frozen=True, slots=True)
class RecordNamedPaths:
    """Record the action's changes at the paths that it names."""

    action: Action
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class RecordCallWindow:
    """Record the changes made during the action's window as changes of the action.

    `shared`: other windows are open too. `began`: the time at which the call moved to the background, if
    known.
    """

    action: Action
    shared: bool
    ended: str | None = None
    began: str | None = None


@dataclass(frozen=True, slots=True)
class RecordUnchanged:
    """Write a mark for a call that changed nothing."""

    action: Action


WindowEffect = (
    RecordOutsideAt | RecordOutsideEverywhere | RecordNamedPaths | RecordCallWindow | RecordUnchanged
)


class CallWindows:
    def __init__(self) -> None:
        self._named: dict[ToolUseId, Call] = {}
        self._windows: dict[ToolUseId, Call] = {}
        self._background: dict[ToolUseId, Action] = {}
        self._moved: dict[ToolUseId, str | None] = {}  # when each call in `_background` moved there

    @property
    def open_paths(self) -> frozenset[str]:
        return frozenset(path for call in self._named.values() for path in call.paths)

    @property
    def open(self) -> bool:
        """True if the window of any call is open."""
        return bool(self._windows or self._background)

    @property
    def only(self) -> Call | None:
        """The call with an open window; None if no or several windows are open, or a background task runs."""
        return (
            next(iter(self._windows.values())) if len(self._windows) == 1 and not self._background else None
        )

    def feed(self, outcome: Outcome) -> list[WindowEffect]:
        match outcome:
            case CallOpened(call, running=True) | CallStarted(call):
                return self._start(call)
            case ActionClosed(action, ended):
                return self._close(action, ended)
            case BackgroundTaskEnded(id=identity, ended=ended) if identity is not None:
                return self._end_background([identity], ended)
            case SessionEnded(session=session):
                return self._end_background(self._background_of(session))
            case (
                CallOpened()
                | BackgroundTaskEnded()
                | SessionDiscovered()
                | SessionLinked()
                | TurnStarted()
                | TurnEnded()
                | SessionIdle()
            ):
                return []
            case StatusCorrected() | LeadTextAdded() | OwnerCorrected() | PromptOpened() | PromptClosed():
                return []
            case (
                TurnRenamed()
                | MessageDelivered()
                | ModelAnswered()
                | TextWritten()
                | RequestRetried()
                | ErrorReported()
                | TurnReported()
                | SessionDescribed()
                | RateLimited()
                | ControlAsked()
                | ControlReplied()
            ):
                return []
            case _:
                assert_never(outcome)

    def _start(self, call: Call) -> list[WindowEffect]:
        if call.write_scope is WriteScope.NAMED:
            # A path that another open call names may already hold that call's change. While a window is
            # open, its call may have changed any path. Such changes are not recorded as outside.
            own = () if self.open else tuple(path for path in call.paths if path not in self.open_paths)
            self._named[call.id] = call
            return [RecordOutsideAt(own)] if own else []
        if call.write_scope is WriteScope.ANYWHERE and call.tool not in AGENT_TOOLS:
            alone = not self.open
            self._windows[call.id] = call
            return [RecordOutsideEverywhere(self.open_paths, call.time)] if alone else []
        return []

    def _close(self, action: Action, ended: str | None) -> list[WindowEffect]:
        self._named.pop(action.id, None)
        self._windows.pop(action.id, None)
        if action.write_scope is WriteScope.NOTHING or action.tool in AGENT_TOOLS:
            return []
        if action.status == "denied":
            return [RecordUnchanged(action)]
        if action.write_scope is WriteScope.NAMED:
            # A failed edit leaves the file alone; a call cut off by a kill may have written it.
            return (
                [RecordUnchanged(action)] if action.status == "failed" else [RecordNamedPaths(action, ended)]
            )
        shared = self.open
        if action.status == "succeeded" and _runs_in_background(action):
            later = action._replace(id=ToolUseId(action.id + BACKGROUND_SUFFIX), report=None)
            self._background[action.id] = later
            self._moved[action.id] = ended
        return [RecordCallWindow(action, shared, ended)]

    def _end_background(self, ids: Iterable[ToolUseId], ended: str | None = None) -> list[WindowEffect]:
        effects: list[WindowEffect] = []
        for identity in ids:
            action = self._background.pop(identity, None)
            if action is not None:
                effects.append(RecordCallWindow(action, self.open, ended, self._moved.pop(identity, None)))
        return effects

    def _background_of(self, session: SessionId) -> list[ToolUseId]:
        return [identity for identity, action in self._background.items() if action.session == session]


def _runs_in_background(action: Action) -> bool:
    return action.background or action.input.get("run_in_background") is True
