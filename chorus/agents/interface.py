"""What Chorus asks of a coding agent: the one interface through which the other packages use an adapter.

An adapter is split by what its parts need and when they are loaded:

- `Clients` finds the agent's processes and transcripts. Standard library only, because commands use it.
- `Events` turns what the agent prints, writes and reports into the outcomes of `chorus.model.outcomes`.

What is true of one agent only (spelling of events, names of files, layout of dialogs) stays in its package.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from chorus.model.ids import SessionId
from chorus.model.outcomes import Outcome
from chorus.system.processes import Process


class Source(StrEnum):
    """Where an event was seen."""

    STREAM = "stream"  # what the client prints, in a pane or a pipe
    CONTROL_IN = "control-in"  # what was written to the client's stdin
    CONTROL_OUT = "control-out"  # what the client printed, recorded beside what was written
    HOOK = "hook"
    TRANSCRIPT = "transcript"


class Document(NamedTuple):
    """One whole top-level JSON object of a stream. A tuple, because one is made for every event."""

    text: bytes
    value: dict[str, Any]
    exact: bool = True  # False: a blank more or less may be in a string; given only on request


@dataclass(frozen=True, slots=True)
class RunningClient:
    """A client that is running, as far as its own files describe it."""

    process: Process
    cwd: str
    headless: bool
    session: SessionId | None  # None: not known yet
    transcript: Path | None
    version: str | None = None


class StreamReader(Protocol):
    """Reads the events out of the text that one pane or pipe prints."""

    problems: Counter[str]  # text that was skipped, by kind

    def feed(self, chunk: bytes) -> list[Document]:
        """Take the next chunk, cut anywhere; return the objects it completed."""
        ...

    def close(self) -> list[Document]:
        """Take the end of the text; return what is known to be complete only now."""
        ...


class DocumentFilter(Protocol):
    """Recognizes documents that were already seen in another capture of the same output."""

    def is_new(self, document: Document) -> bool: ...


class OutcomeReader(Protocol):
    """Turns events from any number of sources, with repeats and in any order, into outcomes."""

    unknown: Counter[str]  # events of unknown types, by type
    problems: Counter[str]  # events that were not understood, by kind

    def feed_value(self, value: dict[str, Any], *, source: Source, channel: str = "") -> list[Outcome]:
        """Take the next event. `channel` is the pane or pipe it came through."""
        ...

    def close(self, session: SessionId | None = None) -> list[Outcome]:
        """Return the outcomes of calls that stay unfinished, because the session (or every one) has ended."""
        ...


class TranscriptReader(Protocol):
    """Follows one transcript. `position` is the end of the last line returned; `problem` why none can be."""

    position: int
    problem: str | None

    def read_lines(self) -> Iterator[bytes]:
        """Return each line that was completed since the last call."""
        ...


class Clients(Protocol):
    """Finds the agent's running clients and their transcripts."""

    def is_client(self, process: Process) -> bool: ...

    def read_client(self, process: Process) -> RunningClient | None:
        """Return what the running client's own files say; None if it is gone."""
        ...

    def read_transcript(self, path: Path) -> TranscriptReader: ...

    def subagent_transcripts(self, transcript: Path) -> list[Path]:
        """Return the transcripts of the sub-agents of the session with this transcript."""
        ...

    def began_after(self, transcript: Path, moment: float) -> bool:
        """Return whether nothing in the transcript is older than the moment."""
        ...


class HookSession(NamedTuple):
    """The session a hook event is about."""

    id: SessionId
    transcript: str
    cwd: str | None
    is_new: bool  # the session starts with this event, so all of its transcript is new


class Events(Protocol):
    """Reads what the agent prints, writes to its transcripts and reports through hooks."""

    def read_stream(self) -> StreamReader:
        """Return a reader for text that never wraps: a pipe, or a joined capture."""
        ...

    def document_filter(self) -> DocumentFilter: ...

    def read_outcomes(self) -> OutcomeReader: ...

    def hook_session(self, event: Mapping[str, Any]) -> HookSession | None:
        """Return which session a hook event is about; None if it does not say."""
        ...

    def notice_session(self, event: Mapping[str, Any]) -> SessionId | None:
        """Return the session that reads a notice in the reply to this hook event; None if nobody does."""
        ...

    def notice_reply(self, event: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Return the hook reply that gives the session a notice."""
        ...


class Agent(Protocol):
    """The adapter of one coding agent. Each part is imported when it is first used."""

    name: str

    @property
    def clients(self) -> Clients: ...

    @property
    def events(self) -> Events: ...
