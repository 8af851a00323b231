"""The interface to a coding agent: the other rooms use an agent's adapter only through it.

An adapter has four parts. `Clients` and `Setup` must load fast, because commands use them. `Events` and
`Prompts` may load pydantic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:  # `chorus claude` loads this module before the client starts
    from chorus.model.answer import Answer, PromptAnswer
    from chorus.model.ids import PaneId, SessionId
    from chorus.model.outcomes import Outcome, PromptOpened
    from chorus.model.prompt import NoPrompt, Prompt, UnknownPrompt
    from chorus.system.processes.processes import Process


class Source(StrEnum):
    """Where an event was seen."""

    STREAM = "stream"  # what the client prints, in a pane or a pipe
    CONTROL_IN = "control-in"  # what was written to the client's stdin
    CONTROL_OUT = "control-out"  # what the client printed, in a recording that also has its stdin
    HOOK = "hook"
    MOD = "mod"  # a part of Chorus inside the client
    TRANSCRIPT = "transcript"


class Document(NamedTuple):
    """One whole top-level JSON object of a stream. A tuple, because one is made for every event."""

    text: bytes
    value: dict[str, Any]
    exact: bool = True  # False: strings may have too many or too few blanks; returned only on request


class RecordedEvent(NamedTuple):
    value: dict[str, Any]
    source: Source
    channel: str  # the pane; empty if the recording does not distinguish panes


class UnusedRow(NamedTuple):
    """A row of a recording that no event was read from."""

    number: int  # from 1
    text: str


@dataclass(frozen=True, slots=True)
class RunningClient:
    """A running client, with the facts in its own files."""

    process: Process
    cwd: str
    headless: bool
    session: SessionId | None  # None: not known yet
    transcript: Path | None
    version: str | None = None
    loads_mod: bool = False  # it was started with Chorus's mod


class StreamReader(Protocol):
    """Reads the events in the text that one pane or pipe prints."""

    problems: Counter[str]  # text that was skipped, by kind

    def feed(self, chunk: bytes | str) -> list[Document]:
        """Take the next chunk, which may end anywhere. Return the objects that end in it."""
        ...

    def close(self) -> list[Document]:
        """End the text. Return the objects that are known to be complete only now."""
        ...


class RecordingReader(Protocol):
    """Reads the events of a recording, such as a stream, a pane capture or a transcript."""

    @property
    def problems(self) -> Counter[str]:
        """Text that was skipped, by kind."""
        ...

    def feed(self, chunk: bytes) -> list[RecordedEvent]: ...

    def close(self) -> list[RecordedEvent]: ...

    def guess_widths(self) -> list[int]:
        """Return the widths at which a recording may be wrapped, likeliest first; empty if it is too long."""
        ...

    def unused_rows(self) -> list[UnusedRow]:
        """Return the rows with text that no event was read from. Call `close` first.

        The list is empty if the recording is too long, or of a kind whose rows cannot be assigned to events.
        """
        ...


class DocumentFilter(Protocol):
    """Recognises documents that were already seen in another capture of the same output."""

    def is_new(self, document: Document) -> bool: ...


class OutcomeReader(Protocol):
    """Turns events from any number of sources, with repeats and in any order, into outcomes."""

    unknown: Counter[str]  # events of unknown types, by type
    problems: Counter[str]  # events that were not understood, by kind

    def feed_value(
        self, value: dict[str, Any], *, source: Source, channel: str = "", client: str = ""
    ) -> list[Outcome]:
        """Take the next event, and return its outcomes.

        `channel` is the pane or pipe that the event came through, `client` the client that ran the hook.
        """
        ...

    def close(self, session: SessionId | None = None) -> list[Outcome]:
        """Close the open calls of a session that has ended (None: of all sessions)."""
        ...

    def set_shared_sessions(self, shared: Set[SessionId]) -> None:
        """Set which sessions several clients share. The set is not copied, so later changes take effect."""
        ...

    def close_client(self, session: SessionId, client: str) -> list[Outcome]:
        """Close the open calls of a client that has ended, while another client is still in the session."""
        ...


class TranscriptReader(Protocol):
    """Follows one transcript.

    `position` is the offset in bytes up to which lines were read. `problem` says why no line can be read.
    `has_more` is true if the last call did not read to the end of the file.
    """

    position: int
    problem: str | None
    has_more: bool

    def read_lines(self) -> Iterator[bytes]:
        """Return the lines that were completed since the last call, up to the limit for one call."""
        ...


class Clients(Protocol):
    """Finds the agent's running clients and their transcripts."""

    def is_client(self, process: Process) -> bool: ...

    def read_client(self, process: Process) -> RunningClient | None:
        """Read the files of a running client; None if it is gone or is another user's."""
        ...

    def find_client(self, session: SessionId) -> Process | None:
        """Return the user's running client in this session; None if none is found."""
        ...

    def read_transcript(self, path: Path) -> TranscriptReader: ...

    def subagent_transcripts(self, transcript: Path) -> list[Path]:
        """Return the transcripts of the session's sub-agents."""
        ...

    def transcript_directories(self, transcript: Path) -> list[Path]:
        """Return the directories of this transcript and of its sub-agents' transcripts, existing or not."""
        ...

    def is_rewinding(self, transcript: Path, path: Path, moment: float) -> bool:
        """Return whether the session may have set the file back to an earlier turn at that moment."""
        ...

    def began_after(self, transcript: Path, moment: float) -> bool:
        """Return whether the first timestamp in the transcript is at or after this moment.

        Return True if the transcript is empty or cannot be read; return False if it has no timestamp.
        """
        ...


class HookSession(NamedTuple):
    id: SessionId
    transcript: str
    cwd: str | None
    is_new: bool  # the session starts with this event, so all of its transcript is new


class Events(Protocol):
    """Reads what the agent prints, writes to its transcripts and reports through hooks."""

    report_wait_seconds: float  # how long the client waits for the answer to a report of the mod

    def read_stream(self) -> StreamReader:
        """Return a reader for text that never wraps: a pipe, or a joined capture."""
        ...

    def read_capture(self, data: bytes, widths: Sequence[int] = ()) -> list[Document]:
        """Return the events in a pane's text, wrapped or not. `widths`: the pane widths to try first."""
        ...

    def read_recording(self, *, width: int | None = None) -> RecordingReader:
        """Return a reader for a recording. `width`: the pane's width, for a wrapped capture."""
        ...

    def document_filter(self) -> DocumentFilter: ...

    def read_outcomes(self) -> OutcomeReader: ...

    def read_report(self, report: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the hook event for a report of the mod; None if the report is not understood."""
        ...

    def hook_session(self, event: Mapping[str, Any]) -> HookSession | None:
        """Return the session that a hook event belongs to; None if the event names no session."""
        ...

    def is_after_the_fact(self, event: Mapping[str, Any]) -> bool:
        """Return whether a hook event only reports something already done."""
        ...

    def asks_before_edits(self, event: Mapping[str, Any]) -> bool | None:
        """Return whether the client of this hook event may ask the user before an edit; None if unknown."""
        ...

    def agent_of(self, event: Mapping[str, Any]) -> tuple[str | None, bool]:
        """Return the id of a hook event's sub-agent, and whether the sub-agent runs after the event.

        Return (None, False) if the event is about no sub-agent. For the call that starts a sub-agent, the id
        is the id of the call.
        """
        ...

    def is_about_form(self, event: Mapping[str, Any]) -> bool:
        """Return whether a hook event is about a form in which an MCP server asks the user for something."""
        ...

    def notice_session(self, event: Mapping[str, Any]) -> SessionId | None:
        """Return the session that would read a notice in the reply to this hook event, or None."""
        ...

    def notice_reply(self, event: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Return the hook reply that gives the session a notice."""
        ...


class PromptReader(Protocol):
    """Finds the prompt on a captured screen."""

    def read(self, text: str, *, width: int | None = None) -> Prompt | UnknownPrompt | NoPrompt:
        """Read a screen. `width` is the pane's width; by default, that of the widest row."""
        ...

    def explain(self, text: str, *, width: int | None = None) -> list[str]:
        """Return one line for each rule that did not match, and one for the result."""
        ...


class CannotAnswer(Exception):
    """The answer cannot be given to this prompt; the message says why."""


@dataclass(frozen=True, slots=True)
class PaneView:
    """A pane at one moment."""

    pane: PaneId
    # The process that a key would reach; empty if that process is not the client.
    process: str
    found: Prompt | UnknownPrompt | NoPrompt
    dead: bool = False
    in_mode: bool = False  # copy mode or another tmux mode: keys would go there
    scrolled: bool = False


@dataclass(frozen=True, slots=True)
class PressKey:
    """Send one key, by its tmux name, or literal text if `literal`."""

    key: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Send nothing and look again."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer was given."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The relay ended without giving the answer. `sent`: how many keys were pressed before that."""

    reason: str
    sent: int = 0


@dataclass(frozen=True, slots=True)
class DialogStillShown:
    """The last key was pressed, and the same dialog is still shown."""


RelayEffect = PressKey | Wait | Answered | Refused


@dataclass(frozen=True, slots=True)
class PromptAppearance:
    """A prompt from the moment it is first seen until it is gone."""

    serial: int
    prompt: Prompt
    process: str
    claimed: bool = False


class AnswerRelay(Protocol):
    """Answers a prompt with keys: at most one key for each view of the pane."""

    sent: int

    def observe(self, view: PaneView) -> RelayEffect: ...

    def expire(self) -> Answered | Refused | DialogStillShown:
        """End the relay, because the caller has waited long enough."""
        ...

    def key_not_sent(self, reason: str) -> Refused:
        """End the relay, because the last key could not be sent."""
        ...

    def retry_last_key(self) -> bool:
        """Note that the last key was not sent, because the screen had changed.

        Return True if the caller should look at the pane again. If False, it must call `key_not_sent`.
        """
        ...


class PromptTracker(Protocol):
    """The prompts of one pane over time. Each appearance of a prompt is answered at most once."""

    current: PromptAppearance | None

    def observe(self, view: PaneView) -> PromptAppearance | None: ...

    def claim(self, answer: PromptAnswer, serial: int) -> AnswerRelay | Refused: ...

    def release(self, relay: AnswerRelay, serial: int) -> None:
        """Note that a relay ended. If it sent nothing, the prompt may be answered again."""
        ...

    def begin_new_appearance(self) -> None: ...

    def mark_answered(self) -> None:
        """Accept no keys for the prompt shown now: it was answered another way."""
        ...


class Prompts(Protocol):
    """Reads the agent's prompts, and turns answers into keys and replies."""

    def screen_reader(self, extra_rules: dict[str, Any] | None = None) -> PromptReader:
        """Return a reader with the shipped rules and the user's own."""
        ...

    def track_prompts(self) -> PromptTracker: ...

    def prompt_for(self, request: PromptOpened) -> Prompt:
        """Return the prompt of a permission request."""
        ...

    def may_be_about(self, prompt: Prompt, tool: str, tool_input: Mapping[str, Any]) -> bool:
        """Return whether a prompt on a screen may be about this call; True if in doubt."""
        ...

    def shows_question_of(self, prompt: Prompt, tool: str, tool_input: Mapping[str, Any]) -> bool:
        """Return whether the prompt shows one of the questions of this call."""
        ...

    def permission_reply(self, answer: Answer, prompt: Prompt, request: PromptOpened) -> dict[str, Any]:
        """Return the decision for a permission request. Raises CannotAnswer if the answer does not fit."""
        ...

    def mod_reply(self, decision: dict[str, Any]) -> dict[str, Any]:
        """Return the decision in the form that the mod expects."""
        ...

    def hook_reply(self, decision: dict[str, Any]) -> dict[str, Any]:
        """Return the output of a permission hook with this decision."""
        ...

    def form_reply(self, decision: dict[str, Any]) -> dict[str, Any]:
        """Return the hook output that replaces the user's own answer to a form."""
        ...

    def line_reply(self, decision: dict[str, Any]) -> str:
        """Return the key that answers a request printed as a line.

        Raises CannotAnswer if the decision has a message of the user.
        """
        ...

    def is_request_line(self, line: str, text: str) -> bool:
        """Return whether a printed line is the request with this text."""
        ...

    def control_reply(self, request: str, decision: dict[str, Any]) -> dict[str, Any]:
        """Return the message that answers a request of the control protocol."""
        ...


class SettingsScope(Enum):
    """The sessions that a settings file applies to.

    `USER`: the user's, in all repositories. `PROJECT`: everybody's, in this repository. `LOCAL`: the user's,
    in this repository.
    """

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class SettingsChange:
    path: Path
    changed: bool
    backup: Path | None  # a copy of the previous content; None if there was none or nothing changed


@dataclass(frozen=True, slots=True)
class HookStatus:
    scope: SettingsScope
    path: Path
    events: tuple[str, ...]  # the events with a hook of Chorus
    current: bool  # the file has exactly the hooks that this version of Chorus installs
    problem: str | None


class ClientStart(NamedTuple):
    """How a client is started: its arguments, and variables added to its environment."""

    arguments: list[str]
    environment: dict[str, str]


class Setup(Protocol):
    """Starts the agent's client with Chorus's hooks, or installs them in its settings."""

    program: str  # the client's name on PATH

    permission_modes: tuple[str, ...]

    def headless_arguments(
        self,
        resume: str | None = None,
        *,
        fork: bool = False,
        mode: str | None = None,
        servers: Sequence[str] = (),
    ) -> list[str]:
        """Return the arguments of a client that reads messages from stdin.

        With `fork`, the resumed session gets a new id. `servers` are MCP servers whose messages come over the
        control protocol.
        """
        ...

    def reads_new_settings(self, version: str) -> bool:
        """Return whether a client of this version reads a settings directory created after its start."""
        ...

    def settings_path(self, scope: SettingsScope, work_tree: Path | None) -> Path: ...

    def backup_directory(self) -> Path:
        """Return the directory for copies of settings files."""
        ...

    def install_hooks(self, scope: SettingsScope, work_tree: Path | None) -> SettingsChange: ...

    def uninstall_hooks(self, settings: Path, *, backups: Path | None = None) -> SettingsChange: ...

    def hook_status(self, scope: SettingsScope, work_tree: Path | None) -> HookStatus: ...

    def watched_start(
        self, client: str, arguments: Sequence[str], socket: Path, *, mod: bool = True
    ) -> ClientStart:
        """Return how to start a client so that it reports to the watcher behind this socket.

        The client loads Chorus's mod if it can and `mod` is true. Otherwise it runs Chorus's hooks.
        """
        ...


class Agent(Protocol):
    """The adapter of one coding agent."""

    name: str

    @property
    def clients(self) -> Clients: ...

    @property
    def events(self) -> Events: ...

    @property
    def prompts(self) -> Prompts: ...

    @property
    def setup(self) -> Setup: ...
