"""Write notes on actions, find their lines as they are now, and render them for the agent."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from chorus.changes.diff import hunks, split_lines
from chorus.changes.line_anchor import follow_lines
from chorus.errors import NotFound, UsageError
from chorus.history.log.entry import LogEntry
from chorus.history.log.lookup import find_entry
from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.api.json_api import NoteJson
from chorus.model.commits.commit_message import shorten
from chorus.model.ids import RepoPath
from chorus.review.notes.note_log import Note, NoteLog
from chorus.review.revert.file_content import UnreadableFile, read_disk, read_stored
from chorus.text.sanitize import printable

# Limits of the lines that a note on a whole action quotes: enough to recognise the change.
MAX_QUOTED_LINES = 12
MAX_QUOTED_CHARACTERS = 200
# If a file has changed more often since the action, the remaining changes are followed in one step.
MAX_VERSIONS = 200
# Far longer than any note; more would crowd out the agent's own context.
MAX_TEXT_CHARACTERS = 4000


class NoSuchNote(NotFound):
    hint = "Run `chorus notes` to list the notes."


class NoSuchLine(UsageError):
    """The line is not in the file, or it is not clear which file of the action is meant."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The lines of a note as they are now, in the file under its current name.

    `at`: the number of the first line, counted from 1; None: the lines are gone.
    """

    path: str | None
    at: int | None
    lines: list[str]


def note_log(recorder: Recorder) -> NoteLog:
    return NoteLog(recorder.workspace.repository.own_dir)


def write_note(
    recorder: Recorder, name: str, text: str, *, number: int, time: str, path: str | None, line: int | None
) -> Note:
    text = text.strip()
    if not text:
        raise UsageError("the note is empty")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise UsageError(f"the note has {len(text):,} characters; the limit is {MAX_TEXT_CHARACTERS:,}")
    entry = find_entry(recorder.entries(), name)
    edits = _edits(recorder, entry)
    if not edits or entry.id is None:
        raise NotFound(f"action {entry.n} changed nothing", hint="Choose an action that changed a file.")
    edit = _choose_edit(recorder, entry, edits, path, line)
    span = _span(recorder, entry, edit, line)
    note = Note(number, entry.id, edit.path, line, (span.start, span.stop), text, [], time)
    note.written = find_anchor(recorder, note).lines
    note_log(recorder).add(note)
    return note


def find_anchor(recorder: Recorder, note: Note) -> Anchor:
    recorded = recorder.timeline.find_action(note.action)
    if recorded is None or note.path is None:
        return Anchor(note.path, None, [])
    path, data, lines = _follow(recorder, recorded, RepoPath(note.path), range(*note.span))
    if data is None:
        return Anchor(path, None, [])
    texts = [_text(line) for line in split_lines(data)[lines.start : lines.stop]]
    return Anchor(path, lines.start + 1 if texts else None, texts[:MAX_QUOTED_LINES])


def changed_ranges(recorder: Recorder, entry: LogEntry) -> Iterator[tuple[str, range | None]]:
    """Yield each file that an action changed, and the range from its first to its last changed line.

    The range is where these lines are now, counted from 0. It is None if the file is
    gone, and empty if none of the lines are left.
    """
    recorded = recorder.timeline.find_action(entry.within or entry.id or "")
    for edit in recorder.timeline.edits(recorded) if recorded is not None else ():
        before, after = read_stored(recorder, edit.before), read_stored(recorder, edit.after)
        old, new = before.data if before else b"", after.data if after else b""
        found = [] if b"\0" in old or b"\0" in new else hunks(old, new)
        span = range(found[0].after_start, found[-1].after_end) if found else range(0)
        assert recorded is not None
        path, data, lines = _follow(recorder, recorded, edit.path, span)
        yield path, lines if data is not None else None


def _follow(
    recorder: Recorder, recorded: TimelineCommit, path: RepoPath, lines: range
) -> tuple[RepoPath, bytes | None, range]:
    """Follow lines through the later versions of a file, across renames.

    Return the file's current name and content, and where the lines are. If two versions have the same
    content, the lines are at the same place in both.
    """
    path, versions = _versions(recorder, recorded, path)
    there = [version for version in versions if version is not None]
    known = dict.fromkeys(there[:1], lines)
    for before, after in pairwise(there):
        lines = known.setdefault(after, follow_lines(before, after, lines)[0])
    return path, versions[-1], lines


def _versions(
    recorder: Recorder, recorded: TimelineCommit, path: RepoPath
) -> tuple[RepoPath, list[bytes | None]]:
    """The current name of a file, and its content after an action, after later changes, and on disk."""
    edits = [edit for edit in recorder.timeline.edits(recorded) if edit.path == path]
    at: TimelineCommit | None = recorded
    while at is not None and len(edits) < MAX_VERSIONS:
        later = reversed(list(takewhile(_is_not(at), recorder.timeline.touching(path))))
        at = None
        for each in later:
            changes = recorder.timeline.edits(each)
            edit = next(edit for edit in changes if edit.path == path)
            moved = _find_moved(changes, edit)
            edits.append(moved or edit)
            if moved is not None:
                path, at = moved.path, each
                break
    states = [read_stored(recorder, edit.after) for edit in edits[:MAX_VERSIONS]]
    try:
        _, now = read_disk(recorder, path)
    except UnreadableFile:
        now = None
    return path, [state.data if state is not None else None for state in (*states, now)]


def _is_not(recorded: TimelineCommit) -> Callable[[TimelineCommit], bool]:
    return lambda each: each.oid != recorded.oid


def _find_moved(changes: Sequence[Edit], removed: Edit) -> Edit | None:
    """The edit that created a file with the same bytes as the removed one: a rename."""
    if removed.after is not None or removed.before is None:
        return None
    oid = removed.before.oid
    return next((e for e in changes if e.before is None and e.after is not None and e.after.oid == oid), None)


def note_json(recorder: Recorder, note: Note) -> NoteJson:
    entry = _find(recorder, note)
    anchor = find_anchor(recorder, note)
    return {
        "n": note.n,
        "action": entry.n if entry else None,
        "id": note.action,
        "session": entry.session if entry else None,
        "lane": entry.lane if entry else None,
        "path": anchor.path,
        "line": note.line,
        "text": note.text,
        "state": "addressed" if _is_addressed(recorder, note, entry, anchor) else note.state,
        "created": note.created,
        "sent": note.sent,
        "changed": anchor.lines != note.written,
        "at": anchor.at,
        "quote": anchor.lines,
        "worktree": recorder.workspace.label,
    }


def render_notes(notes: Sequence[NoteJson], summaries: Sequence[str]) -> str:
    """Render notes as one text for the agent. `summaries`: the summary of each note's action."""
    count = "a note" if len(notes) == 1 else f"{len(notes)} notes"
    lines = [
        f"The user reviewed changes of yours with Chorus and left {count}. Address "
        f"{'it' if len(notes) == 1 else 'each of them'}. Quoted lines are as they are on disk now."
    ]
    for note, summary in zip(notes, summaries, strict=True):
        path = printable(note["path"] or "")
        where = f"{path}, line {note['at']}" if note["at"] is not None else path
        lines += ["", f"Note {note['n']} on action {note['action']} ({shorten(summary)}), {where}:"]
        first = note["at"] or 0
        lines += [f"> {first + offset}: {line}" for offset, line in enumerate(note["quote"])]
        if not note["quote"]:
            lines.append("(these lines are gone)" if note["changed"] else "(the action removed its lines)")
        elif note["changed"]:
            lines.append("(these lines have changed since the note was written)")
        lines.append(note["text"])
    return "\n".join(lines)


def _is_addressed(recorder: Recorder, note: Note, entry: LogEntry | None, anchor: Anchor) -> bool:
    """Whether the session has addressed a sent note.

    Since the note was sent, the lines must have changed, and the session must have changed the file. Reverts
    do not count as changes of the session.
    """
    if note.state != "sent" or entry is None or anchor.lines == note.sent_lines:
        return False
    return any(
        later.session == entry.session and anchor.path in later.paths and not later.reverts
        for later in recorder.entries()
        if later.n is not None and later.n > note.sent_after
    )


def _find(recorder: Recorder, note: Note) -> LogEntry | None:
    return next((entry for entry in recorder.entries() if entry.id == note.action), None)


def _edits(recorder: Recorder, entry: LogEntry) -> Sequence[Edit]:
    recorded = recorder.timeline.find_action(entry.within or entry.id or "")
    return recorder.timeline.edits(recorded) if recorded is not None else ()


def _choose_edit(
    recorder: Recorder, entry: LogEntry, edits: Sequence[Edit], path: str | None, line: int | None
) -> Edit:
    if path is not None:
        located = recorder.workspace.locate(path)
        found = next((edit for edit in edits if edit.path in (located, path)), None)
        if found is None:
            raise NoSuchLine(
                f"action {entry.n} did not change {path}",
                hint=f"Run `chorus show {entry.n}` to see the files it changed.",
            )
        return found
    if line is not None and len(edits) > 1:
        names = ", ".join(edit.path for edit in edits[:3])
        raise NoSuchLine(
            f"action {entry.n} changed several files", hint=f"Name one: {entry.n}:PATH:{line} ({names})."
        )
    return edits[0]


def _span(recorder: Recorder, entry: LogEntry, edit: Edit, line: int | None) -> range:
    """The lines that a note refers to: the given line or, without one, the first lines the action changed."""
    before, after = read_stored(recorder, edit.before), read_stored(recorder, edit.after)
    old, new = (before.data if before else b""), (after.data if after else b"")
    if line is not None:
        count = len(split_lines(new))
        if not 1 <= line <= count:
            raise NoSuchLine(
                f"{edit.path} has {count} lines after action {entry.n}; there is no line {line}",
                hint=f"Run `chorus show {entry.n}` to see the numbers of the lines it changed.",
            )
        return range(line - 1, line)
    found = hunks(old, new)
    return range(found[0].after_start, found[0].after_end) if found else range(0)


def _text(line: bytes) -> str:
    text = printable(line.decode("utf-8", "replace").rstrip("\r\n").expandtabs(4))
    return text if len(text) <= MAX_QUOTED_CHARACTERS else text[:MAX_QUOTED_CHARACTERS] + "…"
