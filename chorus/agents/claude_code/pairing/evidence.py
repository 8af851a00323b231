"""What is known of a call's fate, as a set that only grows, and the status that follows from it.

Sources come late, repeat each other and disagree in detail. Because evidence is only ever added and the
status is a pure function of all of it, the order of arrival does not matter in the end.
"""

import re
from typing import Final

from chorus.model.action import Status


class Evidence:
    """Bits of what is known. Plain integers: every event is looked at, and flag classes are slow."""

    NONE: Final = 0
    SUCCEEDED: Final = 1 << 0  # a result that is no error
    FAILED: Final = 1 << 1  # a result that is an error
    DENIED: Final = 1 << 2  # somebody or some rule said no: the call did not run
    REJECTED: Final = 1 << 3  # the client's word for "no" and for "stop" alike: see `status_of`
    INTERRUPTED: Final = 1 << 4  # it ran and was stopped
    HOOKED: Final = 1 << 5  # PreToolUse fired: the call passed validation
    ASKED: Final = 1 << 6  # a person was asked
    BATCHED: Final = 1 << 7  # a batch shows it among the calls of a message that are all over
    UNLISTED: Final = 1 << 8  # its turn's result lists the denials, and it is not among them
    TURN_OVER: Final = 1 << 9  # its turn ended without a result for it


# Any of these: the call is over.
SETTLING: Final = (
    Evidence.SUCCEEDED
    | Evidence.FAILED
    | Evidence.REJECTED
    | Evidence.INTERRUPTED
    | Evidence.BATCHED
    | Evidence.TURN_OVER
)


def status_of(evidence: int) -> Status:
    if evidence & Evidence.SUCCEEDED:
        return "succeeded"
    if evidence & Evidence.DENIED:
        return "denied"
    if evidence & Evidence.INTERRUPTED:
        return "unfinished"
    if evidence & Evidence.REJECTED:
        return "unfinished" if _was_running(evidence) else "denied"
    if evidence & Evidence.FAILED:
        return "failed"
    if evidence & Evidence.BATCHED:
        # A call that runs fires PostToolUse or PostToolUseFailure before its batch is shown. One that
        # came to PreToolUse and fired neither was stopped there.
        return "denied" if evidence & Evidence.HOOKED else "succeeded"
    # A question that was on screen when the turn ended was answered, and not with yes.
    asked, over = evidence & Evidence.ASKED, evidence & Evidence.TURN_OVER
    return "denied" if asked and over else "unfinished"


def _was_running(evidence: int) -> bool:
    """Interrupting a running call gives the same result text as refusing one that never ran.

    It ran if nobody was asked although it came as far as the permission check, or if the turn's result
    lists the denials without it.
    """
    if evidence & Evidence.ASKED:
        return False
    return bool(evidence & (Evidence.HOOKED | Evidence.UNLISTED))


# What the client writes into the result of a call it did not run. Prefixes, at the start of the text.
_DENIALS = re.compile(
    r"Claude requested permissions? to "
    r"|Permission (to|for) .{1,4000}?has been denied"
    r"|<tool_use_error>File is in a directory that is denied by your permission settings\."
    r"|Cannot write to .{1,4000}? while in plan mode"
    r"|This command requires approval"
    r"|This Bash command contains multiple operations\. The following parts? requires? approval"
    r"|\S+ in '.{1,4000}?' was blocked\. For security, Claude Code may only "
    r"|Tool permission request failed: "
    r"|Auto mode is unavailable: "
    r"|PreToolUse:\S+ hook error: "
    r"|Answer questions\?$",
    re.DOTALL,
)
_REJECTIONS = re.compile(
    r"The user doesn't want to (proceed with this tool use|take this action right now)"
    r"|\[Request interrupted by user"
)
_FAULT = "<tool_use_error>"
_FAULT_END = "</tool_use_error>"
# A reason is one short line; an error may carry a whole log.
LONGEST_REASON = 1000

# Why a call did not run, in newer clients' own words. "user-rejected" is also said of an interrupted one.
_KINDS = {
    "user-rejected": Evidence.REJECTED,
    "permission-rule": Evidence.DENIED,
    "automode-blocked": Evidence.DENIED,
    "automode-unavailable": Evidence.DENIED,
    "automode-parsing-error": Evidence.DENIED,
    "interrupted": Evidence.INTERRUPTED,
}


def read_result(is_error: bool | None, content: object) -> int:
    """What a tool result says. Only an explicit error is one: success leaves the mark out."""
    if not is_error:
        return Evidence.SUCCEEDED
    refusal = _read_refusal(text_of(content))
    # Unlike a notice of a denial, which comes before it, a result says that the call is over.
    return refusal if refusal & Evidence.REJECTED else refusal | Evidence.FAILED


def read_batched(response: object) -> int:
    """What the text says that a batch shows of a call which fired no hook of its own."""
    text = text_of(response)
    refusal = _read_refusal(text)
    if refusal or text.startswith(_FAULT):
        return refusal or Evidence.FAILED
    return Evidence.NONE


def read_reason(evidence: int, content: object) -> str | None:
    """The client's own words for a failure: the first line that has any, without its marks."""
    if not evidence & Evidence.FAILED:
        return None
    text = text_of(content)[:LONGEST_REASON].replace(_FAULT, "").replace(_FAULT_END, "").strip()
    return text.removeprefix("Error:").strip().split("\n", 1)[0] or None


def read_denial(kind: object, decision: object) -> int:
    """Newer clients say beside a result why its call did not run."""
    evidence = _KINDS.get(kind, Evidence.NONE) if isinstance(kind, str) else Evidence.NONE
    return evidence | Evidence.DENIED if decision == "reject" else evidence


def text_of(content: object) -> str:
    """The text of a tool result: as it is, or the first text block of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and isinstance(text := block.get("text"), str):
                return text
    return ""


def _read_refusal(text: str) -> int:
    if _REJECTIONS.match(text):
        return Evidence.REJECTED
    return Evidence.DENIED if _DENIALS.match(text) else Evidence.NONE
