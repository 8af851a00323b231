"""The messages of landed commits, fit for a pull request.

Rename old() to new()                              a phrase of the user's request

> Please rename old() to new(), and fix the        the whole request, unless the subject says it all
> callers too.

- Edit app.py: +1 −1                               what was done
- Update the callers

Chorus-Actions: toolu_01A, toolu_01B               names the actions, also after a rebase or squash
Co-Authored-By: Claude <noreply@anthropic.com>     only if the user's settings have such a line
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from chorus.config.user_config import LandingSettings
from chorus.errors import UsageError
from chorus.history.log.entry import LogEntry
from chorus.history.log.lookup import find_entry, find_turn
from chorus.model.commits import commit_message
from chorus.model.commits.commit_message import SUBJECT_LENGTH, render_actions, render_trailer, shorten
from chorus.model.commits.commit_subject import change_phrase, split_revert, subject_of
from chorus.model.review_state import REVERT_TOOL
from chorus.model.tools import SHELL_TOOL
from chorus.review.landing.target import NothingToLand
from chorus.text.sanitize import printable

# If an action changed more files, only their number is given.
MAX_NAMED_FILES = 2
# The width of a quoted line without its mark: 72 columns in all.
WIDTH = 70

# The fields of a template.
_FIELD = re.compile(r"\{(subject|request|actions)\}")

GroupBy: TypeAlias = Literal["turn", "action", "all"]


@dataclass(frozen=True, slots=True)
class CommitGroup:
    """The content of one commit: either actions, or lines by other authors that actions build on.

    `names`: the ids of calls whose whole change is in the commit. `parts`: the ids of calls with only some
    hunks in it. `contexts`: as `parse_contexts` returns them.
    """

    entries: tuple[LogEntry, ...] = ()
    names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    key: object = None
    subject: str = ""  # of a commit with lines by other authors

    @property
    def numbers(self) -> list[int]:
        return [entry.n for entry in self.entries if entry.n is not None]

    @property
    def trailer_values(self) -> tuple[str, ...]:
        return (*self.names, *self.parts, *self.contexts)


@dataclass(frozen=True, slots=True)
class CommitMessages:
    """The user's own commit messages.

    `message`: for all commits. `messages`: for the commits with these action numbers. `named`: for the commit
    of a turn or an action.
    """

    message: str | None = None
    messages: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    named: Sequence[tuple[str, str]] = ()  # a turn or an action as the user names it, and its message


NO_MESSAGES = CommitMessages()


def resolve_messages(
    entries: Sequence[LogEntry], groups: Sequence[CommitGroup], by: GroupBy, messages: CommitMessages
) -> CommitMessages:
    """Replace each name in `named` by the key of its group: a turn's id or an action's number.

    Raises NothingToLand if no group has the key.
    """
    named: list[tuple[str, str]] = []
    keys = {str(group.key) for group in groups}
    for name, message in messages.named:
        if by == "all":
            raise UsageError("--message-for cannot be used with --by all", hint="Use -m.")
        key = str(find_turn(entries, name) if by == "turn" else find_entry(entries, name).n)
        if key not in keys:
            raise NothingToLand(
                f"--message-for {name}: that {by} is not part of this landing",
                hint="Leave it out, or run `chorus land` with --dry-run to see which actions would land.",
            )
        named.append((key, message))
    return CommitMessages(messages.message, messages.messages, tuple(named))


def render_commit_message(
    group: CommitGroup, by: GroupBy, message: str | None, settings: LandingSettings
) -> str:
    """The whole message of a landed commit. `message`: the user's own subject and body."""
    trailers = _render_trailers(group, settings)
    if group.contexts:
        return f"{group.subject}\n\n{trailers}\n"
    if message and message.strip():
        subject, _, body = message.strip().partition("\n")
        return "\n\n".join(filter(None, (subject.strip(), body.strip(), trailers))) + "\n"
    requests = list(
        dict.fromkeys(e.message.strip() for e in group.entries if e.message and e.message.strip())
    )
    subjects = [found for found in map(subject_of, requests) if found and by != "action"]
    subject = subjects[0] if subjects else describe_action(group.entries[0])
    quoted = [] if [_plain(r) for r in requests] == [_plain(subject)] else map(_quote, requests)
    described = map(describe_action, _without_partial_reverts(group.entries))
    done = dict.fromkeys(f"- {line}" for line in described if line != subject)
    parts = {"subject": subject, "request": "\n>\n".join(quoted), "actions": "\n".join(done)}
    text = _FIELD.sub(lambda field: parts[field[1]], settings.template)
    paragraphs = [paragraph.strip("\n") for paragraph in text.split("\n\n")]
    return "\n\n".join((*filter(str.strip, paragraphs), trailers)) + "\n"


def describe_action(entry: LogEntry) -> str:
    """One line about what an action did, in the agent's own words if possible."""
    if entry.tool == REVERT_TOOL:
        verb, name, what = split_revert(entry.summary)
        verb += " part of" if name.startswith("part of") else ""
        return f'{verb} "{shorten(what, SUBJECT_LENGTH - len(verb) - 3)}"'  # as git words it
    said = change_phrase(entry.summary) if entry.tool is not None else None
    if said:
        return shorten(said)
    what = "Run a command that changes" if entry.tool == SHELL_TOOL else str(entry.tool or "Change")
    named = ", ".join(printable(path) for path in entry.paths[:MAX_NAMED_FILES])
    if not entry.paths or len(entry.paths) > MAX_NAMED_FILES:
        named = f"{entry.files or len(entry.paths)} files"
    amount = f": +{entry.lines[0]} −{entry.lines[1]}" if entry.lines is not None else ""
    return shorten(f"{what} {named}{amount}")


def _without_partial_reverts(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Leave out reverts of single hunks of these actions: the commit does not have those hunks."""
    names = {entry.id for entry in entries}
    return [entry for entry in entries if names.isdisjoint(entry.reverts_part)]


def _render_trailers(group: CommitGroup, settings: LandingSettings) -> str:
    lines = [render_actions(group.names)] if group.names else []
    lines += [render_trailer(commit_message.PART, name) for name in group.parts]
    lines += [render_trailer(commit_message.CONTEXT, value) for value in group.contexts]
    if settings.co_authored_by and not group.contexts:
        lines.append(f"Co-Authored-By: {settings.co_authored_by}")
    return "\n".join(lines)


def _quote(request: str) -> str:
    rows: list[str] = []
    in_code = False
    for line in request.splitlines():
        in_code ^= line.startswith("```")
        text = printable(line, keep=chr(9))
        # Only prose is wrapped. A list, a table, code or a log keeps its form.
        prose = not in_code and text[:1].isalnum()
        rows += (
            textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False) if prose else [text]
        )
    return "\n".join(f"> {row}".rstrip() for row in rows)


def _plain(text: str) -> Sequence[str]:
    return text.casefold().strip(" .!?").split()
