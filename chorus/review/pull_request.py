"""A pull request of a lane in Markdown: the request, what was done and where, reverts, notes and tests."""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from chorus.history.log.entry import LogEntry
from chorus.history.log.lookup import refuse_unknown_lane
from chorus.history.recorder import Recorder
from chorus.model.api.json_api import NoteJson, PullRequestJson
from chorus.model.commits.commit_subject import subject_of
from chorus.model.lane_name import lane_spellings
from chorus.model.review_state import REVERT_TOOL
from chorus.review.landing.messages import describe_action
from chorus.review.notes.notes import changed_ranges
from chorus.text.sanitize import printable

# The most places shown for one action: more would hide the other actions.
MAX_PLACES = 4
MAX_TESTS = 20
_REMOTE = re.compile(
    r"(?:https?://(?:[^@/]+@)?|ssh://(?:[^@/]+@)?|[^@/\s]+@)([^/:]+)(?::\d+)?[/:](.+?)(?:\.git)?/?$"
)
# Programs that do nothing but run tests. `_TEST` also finds other programs with a word such as `test`.
_RUNNERS = r"pytest|py\.test|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|behave|playwright"
_TEST = re.compile(
    rf"(?:^|[\s;&|/])(?:{_RUNNERS})(?=\s|$)"
    r"|\b(?:make|just|npm|pnpm|yarn|bun|deno|go|cargo|mvn|gradle|gradlew|dotnet|mix|sbt|bazel|swift|rake)"
    r"(?:\s+\S+){0,3}?\s+(?:run\s+)?(?:test|tests|check|verify)(?=[\s:;&|-]|$)"
)
# Characters that Markdown acts on: emphasis, links, HTML, tables.
_ACTIVE = re.compile(r"([\\`*_\[\]<>|~])")

# The parts of a request that matter for escaping: code, which is left alone, and characters to escape.
_IN_PROSE = re.compile(r"`+[^`]*`+|[<@]")
_ENTITIES = {"<": "&lt;", "@": "&#64;"}


def describe_pull_request(recorder: Recorder, lane: str, notes: Sequence[NoteJson]) -> PullRequestJson:
    """Describe the lane as a pull request. `notes` may include notes on other lanes."""
    names = lane_spellings(lane)
    entries = recorder.entries()
    refuse_unknown_lane(entries, lane)
    session = next((entry.session for entry in entries if entry.lane in names), None)
    mine = [entry for entry in entries if entry.lane in names and entry.n is not None]
    done = [e for e in mine if e.status in ("committed", "kept", "landed") and e.tool != REVERT_TOOL]
    requests = [request for request in dict.fromkeys(e.message for e in done) if request]
    title = next((found for found in map(subject_of, requests) if found), None)
    title = title or (describe_action(done[0]) if done else lane)
    ids = {entry.id: entry for entry in mine}
    own_notes = [note for note in notes if note["id"] in ids]
    base = _base_url(recorder)
    parts = [
        *_render_turns(recorder, done, base),
        *_render_reverts([e for e in mine if e.status == "reverted" and e.tool != REVERT_TOOL], own_notes),
        *_render_notes(own_notes, base),
        *_render_tests([e for e in entries if session is not None and e.session == session]),
    ]
    return {"lane": names[0], "title": title, "body": "\n".join(parts).strip("\n") + "\n"}


def escape(text: str) -> str:
    """Escape text of an agent or a file, so that Markdown shows it literally."""
    shown = _ACTIVE.sub(r"\\\1", printable(" ".join(text.split())))
    return shown.translate({ord("@"): "&#64;", ord("#"): "&#35;"})


def _render_turns(recorder: Recorder, done: Sequence[LogEntry], base: str | None) -> Iterator[str]:
    turns: dict[object, list[LogEntry]] = {}
    for entry in done:
        turns.setdefault(entry.turn, []).append(entry)
    if turns:
        yield "## What was asked, and what was done"
    for entries in turns.values():
        request = next((entry.message for entry in entries if entry.message), "")
        yield ""
        yield from (f"> {line}".rstrip() for line in _render_request(request.strip()))
        yield ""
        for entry in entries:
            places = ", ".join(_render_places(recorder, entry, base))
            yield f"- {escape(describe_action(entry))}" + (f" ({places})" if places else "")
    yield ""


def _render_request(request: str) -> Iterator[str]:
    """Yield the user's own Markdown, with `<` and `@` escaped outside code.

    Otherwise a tag would vanish, and a forge would take `@src/app.py` for a mention.
    """
    in_code = False
    for line in request.splitlines():
        text = printable(line, keep=chr(9))
        is_fence = text.lstrip().startswith("```")
        in_code ^= is_fence
        as_it_is = in_code or is_fence or text.startswith("    ")
        yield text if as_it_is else _IN_PROSE.sub(lambda found: _ENTITIES.get(found[0], found[0]), text)


def _render_places(recorder: Recorder, entry: LogEntry, base: str | None) -> Iterator[str]:
    places = list(changed_ranges(recorder, entry))
    for path, lines in places[:MAX_PLACES]:
        yield _render_place(path, lines or range(0), base if lines is not None else None)
    if len(places) > MAX_PLACES:
        yield f"and {len(places) - MAX_PLACES} more"


def _render_place(path: str, lines: range, base: str | None) -> str:
    first, last = lines.start + 1, lines.stop
    name = printable(path).replace("`", "'")
    where = "" if not lines else f":{first}" if first >= last else f":{first}-{last}"
    if base is None:
        return f"`{name}{where}`"
    anchor = "" if not lines else f"#L{first}" if first >= last else f"#L{first}-L{last}"
    return f"[`{name}{where}`]({base}/{quote(path)}{anchor})"


def _render_reverts(reverted: Sequence[LogEntry], notes: Sequence[NoteJson]) -> Iterator[str]:
    if not reverted:
        return
    yield "## Tried and reverted"
    yield ""
    for entry in reverted:
        what = escape(describe_action(entry))
        why = "; ".join(escape(note["text"]) for note in notes if note["id"] == entry.id)
        yield f"- {what.removesuffix('.')}: {why}" if why else f"- {what}"
    yield ""


def _render_notes(notes: Sequence[NoteJson], base: str | None) -> Iterator[str]:
    if not notes:
        return
    yield "## Review notes"
    yield ""
    for note in notes:
        box = "x" if note["state"] == "addressed" else " "
        start = (note["at"] or 1) - 1
        lines = range(start, start + len(note["quote"])) if note["at"] is not None else range(0)
        link = base if note["at"] is not None else None  # lines that are gone cannot be linked
        yield f"- [{box}] {escape(note['text'])} ({_render_place(note['path'] or '', lines, link)})"
    yield ""


def _render_tests(entries: Iterable[LogEntry]) -> Iterator[str]:
    runs: dict[str, LogEntry] = {}
    for entry in entries:
        if entry.command and entry.call_status != "denied" and is_test_command(entry.command):
            runs.pop(entry.command, None)
            runs[entry.command] = entry
    if not runs:
        return
    yield "## Tests that were run"
    yield ""
    for command, entry in [*runs.items()][-MAX_TESTS:]:
        result = "failed" if entry.call_status in ("failed", "unfinished") else "succeeded"
        code = printable(" ".join(command.split())).replace("`", "'")
        yield f"- `{code}`: {result}"
    yield ""


def _base_url(recorder: Recorder) -> str | None:
    """The address under which a forge shows files of the current commit; None if unknown."""
    repository = recorder.workspace.repository
    remote = repository.config.get("remote.origin.url")
    head = repository.head().oid
    found = _REMOTE.match(remote or "")
    return f"https://{found[1]}/{found[2]}/blob/{head}" if found and head else None


def is_test_command(command: str) -> bool:
    return _TEST.search(command) is not None
