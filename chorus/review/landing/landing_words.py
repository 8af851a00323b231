"""What a landed commit says: the user's words, what was done for them, and the actions it holds.

Receives the actions of one commit, gives its message. The trailers lead from a line back to its action, also
after the commit was rebased or squashed.
"""

from collections.abc import Iterable, Sequence

from chorus.history.log.entries import LogEntry
from chorus.model import commit_message as message
from chorus.model.commit_message import Text, render_message, shorten


def render_landed(entries: Sequence[LogEntry], names: Iterable[str], by: str, words: str | None) -> str:
    trailers = (
        *((message.ACTION, name) for name in names),
        *((message.SESSION, name) for name in dict.fromkeys(e.session for e in entries) if name),
        *((message.TURN, name) for name in dict.fromkeys(e.turn for e in entries) if name),
    )
    if words and words.strip():
        subject, _, body = words.strip().partition("\n")
        text = render_message(Text(subject, trailers=trailers))
        _, _, rest = text.partition("\n\n")
        return "\n\n".join(filter(None, (subject.strip(), body.strip(), rest)))
    asked = list(dict.fromkeys(shorten(e.message) for e in entries if e.message and shorten(e.message)))
    if by == "action" or not asked:
        notes = [f"For: {line}" for line in asked]
        return render_message(Text(shorten(entries[0].summary), notes=tuple(notes), trailers=trailers))
    more = [f"Also: {line}" for line in asked[1:]]
    done = [f"- {shorten(entry.summary)}" for entry in entries]
    return render_message(Text(shorten_first(entries, asked[0]), notes=(*more, *done), trailers=trailers))


def shorten_first(entries: Sequence[LogEntry], fallback: str) -> str:
    """The first line of the first message there is."""
    for entry in entries:
        for line in (entry.message or "").splitlines():
            if shorten(line):
                return shorten(line)
    return fallback
