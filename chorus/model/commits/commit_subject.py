"""The subject of a commit, made from the user's message or from what the agent said it did.

Users write requests, not subjects: "Please could you rename old() to new()? Thanks!" becomes "Rename old() to
new()".
"""

import re

from chorus.model.commits.commit_message import SUBJECT_LENGTH

# A request of fewer words says nothing by itself. Neither do the short requests in `_SAYS_NOTHING`.
MIN_WORDS = 2
# A sentence of fewer words is not the whole request: "Bug report. The total is wrong."
MIN_SENTENCE_WORDS = 3
_SAYS_NOTHING = re.compile(
    r"(?:go (?:on|ahead)|carry on|keep going|try again|(?:do|fix|finish|undo|change) (?:it|this|that|them|so)"
    r"|(?:yes|no|do|continue),? (?:please|do|thanks)|(?:sounds|looks|that's) (?:good|fine|right|great)"
    r"|thank you|well done|good job)",
    re.IGNORECASE,
)

_POLITE = re.compile(
    r"(?:(?:please|pls|now|ok(?:ay)?|hi|hello|hey|thanks|great|good|nice|and|so|well|then)\b[,!.]?\s+"
    r"|(?:can|could|would|will) (?:you|we)(?: please)?\s+"
    r"|(?:i|we)(?:'d| would) like (?:you )?to\s+"
    r"|(?:i|we) (?:want|need) (?:you )?to\s+"
    r"|let'?s\s+|let us\s+|help me (?:to )?\s*)+",
    re.IGNORECASE,
)
# Polite words at the end of a request.
_POLITE_END = re.compile(
    r"(?:[\s,;:.!–-]+(?:please|pls|thanks|thank you|thx|cheers))+[\s.!]*$", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
# Where a request can be cut so that a whole phrase is left, the best places first.
_CLAUSES = (
    re.compile(r"[;:](?=\s)"),
    re.compile(r",(?=\s)"),
    re.compile(r"\s+(?=(?:so that|that|because|since|which|while|when|where|if|but|and then|and)\b)"),
    re.compile(r"\s+(?=(?:to|for|with|in|on|from|by|using|as|of)\b)"),
)
# How a sentence of the agent begins if it does not describe the change itself.
_CHATTER = re.compile(
    r"(?:i (?:see|think|found|notice|understand|believe|need|should|will|can|now|also|'ll|'ve|am|have)\b"
    r"|i'(?:ll|ve|m|d)\b|let me\b|let's\b|now\b|next\b|first\b|finally\b|great\b|good\b|perfect\b|ok(?:ay)?\b"
    r"|sure\b|yes\b|excellent\b|nice\b|interesting\b|found\b|looking\b|got it\b|understood\b|of course\b"
    r"|certainly\b|absolutely\b|alright\b|right[,.!]|looks? like\b"
    r"|the (?:problem|issue|bug|error|test|tests|file)\b|there (?:is|are)\b"
    r"|this\b|that\b|it\b|here\b|done\b|we\b|you\b|actually\b|hmm\b|wait\b|so\b|and\b|but\b|oops\b|thanks\b)",
    re.IGNORECASE,
)
# Words that may precede the description of a change, and (`_INTENT`) words that announce it.
_LEAD = re.compile(
    r"(?:(?:great|good|nice|perfect|excellent|ok(?:ay)?|sure|yes|alright|now|next|first|finally|then|also|and|so"
    r"|but|actually|thanks|done)\b[,!.:;]*\s+)+",
    re.IGNORECASE,
)
_INTENT = re.compile(
    r"(?:i(?:'ll| will| am going to|'m going to| (?:also )?(?:need|want) to| should| can)"
    r"|we (?:need to|should|can)|let me|let's|let us)\s+(?:(?:now|also|first|then|just|quickly)\s+)*",
    re.IGNORECASE,
)
# How a sentence goes on after its lead words if it names a thing instead of a change: "Now the rest."
_NO_CHANGE = re.compile(rf"(?:the|an?|my|our|all|some)\b|{_CHATTER.pattern}", re.IGNORECASE)
# What the agent may announce that is not a change.
_LOOKING = re.compile(
    r"(?:look|read|check|see|understand|think|run|verify|examine|explore|investigate|search|find|take|try|test"
    r"|start|begin|do|continue|go|fix (?:it|this|that))\b",
    re.IGNORECASE,
)
# How the summary of a revert or redo begins.
_REVERTS = re.compile(r"(?:(?:Revert|Redo) (?:part of )?\d+: )+")


def subject_of(request: str) -> str | None:
    """Make a subject of at most SUBJECT_LENGTH characters from a request; None if it says nothing."""
    for line in request.splitlines():
        text = _clean(line)
        if len(text.split()) >= MIN_WORDS and not _SAYS_NOTHING.fullmatch(text):
            return _fit(text)
    return None


def change_phrase(summary: str) -> str | None:
    """Return the change that the agent's summary describes; None if the summary has only remarks.

    "Great! Now I'll add a helper." becomes "Add a helper".
    """
    if _CHATTER.match(summary) is None:
        return without_full_stop(summary)
    phrases = map(_find_change, re.split(r"(?<=[.!?])\s+", summary))
    return next((phrase for phrase in phrases if phrase is not None), None)


def split_revert(summary: str) -> tuple[str, str, str]:
    """Split `Redo 8: Revert part of 7: …` into `Redo`, `part of 7` and the action's own summary."""
    chain = _REVERTS.match(summary)
    if chain is None:
        return "Revert", "", summary
    names: list[str] = re.findall(r"(?:part of )?\d+", chain[0])
    return "Revert" if len(names) % 2 else "Redo", names[-1], summary[chain.end() :]


def without_full_stop(text: str) -> str:
    """Remove the full stop of a single sentence, as in a title."""
    end = _SENTENCE_END.search(text)
    is_one = end is not None and end.end() == len(text) and text.endswith(".") and not text.endswith("..")
    return text[:-1] if is_one else text


def _find_change(sentence: str) -> str | None:
    lead = _LEAD.match(sentence)
    text = sentence[lead.end() :] if lead else sentence
    if intent := _INTENT.match(text):
        text = text[intent.end() :]
    if (_LOOKING if intent else _NO_CHANGE).match(text):
        return None
    text = text.strip(" .!?,;:")
    return text[:1].upper() + text[1:] if len(text.split()) >= MIN_WORDS else None


def _clean(line: str) -> str:
    text = " ".join("".join(char if char.isprintable() else " " for char in line).split())
    text = text.lstrip("#>*-+ ").strip()
    text = text[_end_of_politeness(text) :]
    first = _SENTENCE_END.search(text)
    if first is not None and len(text[: first.start()].split()) >= MIN_SENTENCE_WORDS:
        text = text[: first.start()]
    text = _POLITE_END.sub("", text).strip(" .!?,;:")
    return text[:1].upper() + text[1:]


def _end_of_politeness(text: str) -> int:
    found = _POLITE.match(text)
    return found.end() if found else 0


def _fit(text: str) -> str:
    """Shorten the text to SUBJECT_LENGTH: at the end of a phrase if possible, else between words."""
    if len(text) <= SUBJECT_LENGTH:
        return text
    for clause in _CLAUSES:
        ends = [found.start() for found in clause.finditer(text, 0, SUBJECT_LENGTH + 2)]
        fitting = [end for end in ends if SUBJECT_LENGTH // 3 <= end <= SUBJECT_LENGTH]
        if fitting:
            return _POLITE_END.sub("", text[: fitting[-1]]).rstrip(" ,;:")
    kept = text[: SUBJECT_LENGTH + 1].rsplit(" ", 1)[0]
    return kept if len(kept) <= SUBJECT_LENGTH else text[:SUBJECT_LENGTH]
