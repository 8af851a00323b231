"""The subject of a commit, made from the user's message or from what the agent said it did.

Users write requests, not subjects: "Please could you rename old() to new()? Thanks!" becomes
"Rename old() to new()". A subject is never cut in the middle of a phrase.
"""

import re

from chorus.model.commit_message import SUBJECT_LENGTH

# A subject of fewer words says nothing by itself: "go on", "yes please".
MIN_WORDS = 3

_POLITE = re.compile(
    r"(?:(?:please|pls|now|ok(?:ay)?|hi|hello|hey|thanks|great|good|nice|and|so|well|then)\b[,!.]?\s+"
    r"|(?:can|could|would|will) (?:you|we)(?: please)?\s+"
    r"|(?:i|we)(?:'d| would) like (?:you )?to\s+"
    r"|(?:i|we) (?:want|need) (?:you )?to\s+"
    r"|let'?s\s+|let us\s+|help me (?:to )?\s*)+",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
# Where a request may end and still be a whole phrase, the best places first.
_CLAUSES = (
    re.compile(r"[;:](?=\s)"),
    re.compile(r",(?=\s)"),
    re.compile(r"\s+(?=(?:so that|that|because|since|which|while|when|where|if|but|and then|and)\b)"),
    re.compile(r"\s+(?=(?:to|for|with|in|on|from|by|using|as|of)\b)"),
)
# What the agent says before it acts, and is not what it does.
_CHATTER = re.compile(
    r"(?:i (?:see|think|found|notice|understand|believe|need|should|will|can|now|also|'ll|'ve|am|have)\b"
    r"|i'(?:ll|ve|m|d)\b|let me\b|let's\b|now\b|next\b|first\b|finally\b|great\b|good\b|perfect\b|ok(?:ay)?\b"
    r"|sure\b|yes\b|looks? like\b|the (?:problem|issue|bug|error|test|tests|file)\b|there (?:is|are)\b"
    r"|this\b|that\b|it\b|here\b|done\b|we\b|you\b|actually\b|hmm\b|wait\b|so\b|and\b|but\b|oops\b|thanks\b)",
    re.IGNORECASE,
)


def subject_of(request: str) -> str | None:
    """A subject of at most SUBJECT_LENGTH characters, a whole phrase; None if the request gives none."""
    for line in request.splitlines():
        text = _clean(line)
        if len(text.split()) >= MIN_WORDS:
            return _fit(text)
    return None


def is_chatter(summary: str) -> bool:
    """Whether a sentence of the agent is about itself or the problem, not about the change."""
    return _CHATTER.match(summary) is not None


def _clean(line: str) -> str:
    text = " ".join("".join(char if char.isprintable() else " " for char in line).split())
    text = text.lstrip("#>*-+ ").strip()
    text = text[_end_of_politeness(text) :]
    first = _SENTENCE_END.search(text)
    if first is not None and len(text[: first.start()].split()) >= MIN_WORDS:
        text = text[: first.start()]
    text = text.strip(" .!?,;:")
    return text[:1].upper() + text[1:]


def _end_of_politeness(text: str) -> int:
    found = _POLITE.match(text)
    return found.end() if found else 0


def _fit(text: str) -> str:
    """The longest beginning of the text that is a phrase and fits."""
    if len(text) <= SUBJECT_LENGTH:
        return text
    for clause in _CLAUSES:
        ends = [found.start() for found in clause.finditer(text, 0, SUBJECT_LENGTH + 2)]
        fitting = [end for end in ends if SUBJECT_LENGTH // 3 <= end <= SUBJECT_LENGTH]
        if fitting:
            return text[: fitting[-1]].rstrip(" ,;:")
    kept = text[: SUBJECT_LENGTH + 1].rsplit(" ", 1)[0]
    return kept if len(kept) <= SUBJECT_LENGTH else text[:SUBJECT_LENGTH]
