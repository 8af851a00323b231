"""Decide what to record when calls open and close.

Takes the outcomes that an agent's adapter reports, in order, and returns what to record: before a call that
names its paths, the outside changes at these paths; before a call that may write anywhere, all outside
changes so far; after a call, its own changes. Every change between calls is an outside change. But before a
call that starts while another call may be writing anywhere, nothing is recorded. Never reads a file.

A call is open once it may run, not once it is announced: the client announces all calls of a message before
it runs the first of them. Only a call that may write anywhere has a window: the time in which it may write.
The window usually ends with the call. The window of a background task stays open until the client reports the
task's end, or until the session ends. A call that starts a sub-agent has no window and is not recorded: the
sub-agent's own calls are reported one by one.
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
    """Record the changes at these paths until now as `outside`: a call is about to write there."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordOutsideEverywhere:
    """Record every change as `outside`, except at the paths that open calls name.

    `until` is the time at which the call that starts now was made. Later changes are left alone: if the call
    is reported late, it may have made them.
    """

    exclude: frozenset[str]
    until: str | None = None


@dataclass(frozen=True, slots=True)
class RecordNamedPaths:
    """Record what the action changed at the paths it names.

    `ended` is the time at which its call ended, if the client reports it.
    """

    action: Action
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class RecordCallWindow:
    """Record the changes during the action's window as the action's.

    `shared`: other windows are open too. Then, if the client's report is complete, only changes at the paths
    in the report are the action's. `ended` is the time at which the window ended, if the client reports it.
    `began` is the time at which the call moved to the background; None if it never did, or if the time is
    unknown.
    """

    action: Action
    shared: bool
    ended: str | None = None
    began: str | None = None


@dataclass(frozen=True, slots=True)
class RecordUnchanged:
    """Write a mark for a call that changed nothing; the mark says how the call ended."""

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
        """The paths that open calls name: changes there are not recorded as outside."""
        return frozenset(path for call in self._named.values() for path in call.paths)

    @property
    def open(self) -> bool:
        """True if the window of any call is open."""
        return bool(self._windows or self._background)

    @property
    def only(self) -> Call | None:
        """The call whose window is the only open one. None if no or several windows are open.

        Also None if the only window is that of a background task.
        """
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
