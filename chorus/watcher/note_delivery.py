"""Deliver the notes of all work trees to the sessions that made the changes.

A headless session that Chorus started gets its notes at once, as a message. Other sessions get them in the
reply to one of their next events. Drafts are also sent with the user's next message to the session. Notes are
never typed into a pane.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from chorus.errors import ChorusError, ExitCode
from chorus.history.log.joint_log import find_action
from chorus.history.log.lookup import find_entry
from chorus.history.recorder import Recorder
from chorus.model.api.json_api import EventJson, NoteJson, NotesEvent, NoteStateJson, SentNotesJson
from chorus.model.ids import SessionId
from chorus.model.session import SessionTable
from chorus.review.notes.note_log import Note
from chorus.review.notes.notes import NoSuchNote, note_json, note_log, render_notes, write_note
from chorus.review.revert.notice_text import Notice
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.panes.headless_runs import HeadlessRuns
from chorus.watcher.sources.pipeline import now

Readers = Mapping[str, Recorder]


class NotDeliverable(ChorusError):
    """The session cannot receive notes: it has ended, or reports through neither hooks nor the mod."""

    exit_code = ExitCode.REFUSED
    hint = (
        "Add hooks with `chorus attach --hooks`, or with `chorus hooks install` if the session is not in"
        " tmux; the notes stay drafts until then."
    )


@dataclass(slots=True)
class NoteDelivery:
    readers: Callable[[], Readers]
    notices: NoticeQueue
    runs: HeadlessRuns
    roster: SessionTable
    publish: Callable[[EventJson], None]
    # The sessions that have drafts; None: not known yet.
    _with_drafts: set[str] | None = field(default=None)
    _being_sent: set[int] = field(default_factory=set)

    def write(
        self, readers: Readers, here: str, name: str, text: str, *, path: str | None, line: int | None
    ) -> NoteJson:
        number = max((note_log(recorder).last_number() for recorder in readers.values()), default=0) + 1

        def look(recorder: Recorder, found: str) -> tuple[Recorder, str]:
            find_entry(recorder.entries(), found)
            return recorder, found

        recorder, action = find_action(name, readers, here, look)
        note = write_note(recorder, action, text, number=number, time=now(), path=path, line=line)
        self._changed()
        return note_json(recorder, note)

    def any(self, readers: Readers) -> bool:
        """True if any note was ever written. Cheaper than `all`, which also locates each note."""
        return any(note_log(recorder).last_number() for recorder in readers.values())

    def all(self, readers: Readers) -> list[NoteJson]:
        notes = [note_json(recorder, note) for recorder, note in _each(readers)]
        return sorted(notes, key=lambda note: note["n"])

    def states(self, readers: Readers) -> dict[str, list[NoteStateJson]]:
        """Return the number and state of each note, by the id of its action."""
        found: dict[str, list[NoteStateJson]] = defaultdict(list)
        for note in self.all(readers):
            found[note["id"]].append({"n": note["n"], "state": note["state"]})
        return found

    def mark(self, readers: Readers, numbers: Iterable[int], kind: str) -> list[NoteJson]:
        """Drop notes (`kind` is `drop`), or mark them as addressed."""
        found = {note.n: (recorder, note) for recorder, note in _each(readers)}
        chosen = [found.get(number) or _raise_unknown(number) for number in numbers]
        for recorder, note in chosen:
            if kind == "drop":
                note_log(recorder).drop(note.n)
            else:
                note_log(recorder).mark_addressed(note.n)
                note.state = "addressed"
        self._changed()
        return [note_json(recorder, note) for recorder, note in chosen]

    async def send(self, readers: Readers, numbers: Iterable[int] = ()) -> SentNotesJson:
        """Send these notes, or all drafts, grouped by session."""
        wanted = set(numbers)
        chosen = [
            (recorder, note)
            for recorder, note in _each(readers)
            if (note.n in wanted if wanted else self._is_unsent(note))
        ]
        if missing := sorted(wanted - {note.n for _, note in chosen}):
            _raise_unknown(missing[0])
        if not chosen:
            raise NoSuchNote("there is no draft to send", hint="Write one: `chorus note ACTION TEXT`.")
        by_session: dict[str, list[tuple[Recorder, Note]]] = defaultdict(list)
        for recorder, note in chosen:
            by_session[note_json(recorder, note)["session"] or ""].append((recorder, note))
        for session in by_session:
            self._refuse_unreachable(session)
        now_sent, queued = [], []
        for session, notes in by_session.items():
            run = self.runs.in_session(session)
            if run is not None and not run.ending:
                with self._deliver(notes) as text:
                    await self.runs.send_message(run, text)
                now_sent.append(session)
            else:
                self._queue(session, notes)
                queued.append(session)
        return {"sent": sorted(note.n for _, note in chosen), "now": now_sent, "queued": queued}

    def send_with_message(self, session: SessionId) -> None:
        """Queue a session's drafts, to be read with the message that the user has just sent."""
        if mine := self._drafts_of(session):
            self._queue(session, mine)

    @contextmanager
    def deliver_with_message(self, session: SessionId) -> Iterator[str | None]:
        """Yield a session's drafts as text, or None. Mark them as sent if the block succeeds."""
        mine = self._drafts_of(session)
        if not mine:
            yield None
            return
        with self._deliver(mine) as text:
            yield text

    def _drafts_of(self, session: str) -> list[tuple[Recorder, Note]]:
        if self._with_drafts is not None and session not in self._with_drafts:
            return []
        drafts = [(recorder, note) for recorder, note in _each(self.readers()) if self._is_unsent(note)]
        sessions = [note_json(recorder, note)["session"] or "" for recorder, note in drafts]
        self._with_drafts = set(sessions)
        return [draft for draft, of in zip(drafts, sessions, strict=True) if of == session]

    def _refuse_unreachable(self, session: str) -> None:
        known = self.roster.sessions.get(SessionId(session))
        if known is None or known.state == "gone":
            raise NotDeliverable(
                f"session {session or 'unknown'} has ended",
                hint="Its notes stay drafts and are sent with your first message once it is resumed.",
            )
        if not known.is_live and self.runs.in_session(session) is None:
            raise NotDeliverable(f"session {session} reports through neither hooks nor the mod")

    def _queue(self, session: str, notes: list[tuple[Recorder, Note]]) -> None:
        with self._deliver(notes) as text:
            self.notices.add([Notice(SessionId(session), text)], self.roster.sessions.values())

    def _is_unsent(self, note: Note) -> bool:
        return note.state == "draft" and note.n not in self._being_sent

    @contextmanager
    def _deliver(self, notes: list[tuple[Recorder, Note]]) -> Iterator[str]:
        """Yield these notes as text. Mark them as sent if the block succeeds."""
        notes = sorted(notes, key=lambda each: each[1].n)
        numbers = {note.n for _, note in notes}
        described = [note_json(recorder, note) for recorder, note in notes]
        lasts = [_last_action(recorder) for recorder, _ in notes]
        self._being_sent |= numbers
        try:
            yield render_notes(described, [_summary(recorder, note) for recorder, note in notes])
            for (recorder, note), shown, last in zip(notes, described, lasts, strict=True):
                note_log(recorder).mark_sent(note.n, time=now(), after=last, lines=shown["quote"])
        finally:
            self._being_sent -= numbers
            self._changed()

    def _changed(self) -> None:
        self._with_drafts = None
        self.publish(NotesEvent(event="notes", notes=self.all(self.readers())))


def _last_action(recorder: Recorder) -> int:
    return max((entry.n for entry in recorder.entries() if entry.n is not None), default=0)


def _each(readers: Readers) -> list[tuple[Recorder, Note]]:
    return [(recorder, note) for recorder in readers.values() for note in note_log(recorder).read().values()]


def _summary(recorder: Recorder, note: Note) -> str:
    return find_entry(recorder.entries(), note.action).summary


def _raise_unknown(number: int) -> tuple[Recorder, Note]:
    raise NoSuchNote(f"there is no note {number}")
