"""Evidence about how a call ended, and the status that follows from it.

Evidence is only added, and the status depends on all of it, so the order of events does not matter in the
end.
"""

import re
from typing import Final

from chorus.model.action import Status


class Evidence:
    """Flags, combined with `|`. Plain integers, because every event uses them and Flag is slow."""

    NONE: Final = 0
    SUCCEEDED: Final = 1 << 0  # a result that is not an error
    FAILED: Final = 1 << 1  # a result that is an error
    DENIED: Final = 1 << 2  # the user or a rule denied it: the call did not run
    REJECTED: Final = 1 << 3  # denied or interrupted: the client has one text for both (see `call_status`)
    INTERRUPTED: Final = 1 << 4  # it ran and was stopped
    HOOKED: Final = 1 << 5  # PreToolUse fired, so the call passed validation
    ASKED: Final = 1 << 6  # the user was asked
    BATCHED: Final = 1 << 7  # listed in a PostToolBatch: all calls of its message are over
    UNLISTED: Final = 1 << 8  # the result of its turn lists denials, and the call is not among them
    TURN_OVER: Final = 1 << 9  # its turn ended, and the call has no result


# With any of these the call is over.
CLOSING: Final = (
    Evidence.SUCCEEDED
    | Evidence.FAILED
    | Evidence.REJECTED
    | Evidence.INTERRUPTED
    | Evidence.BATCHED
    | Evidence.TURN_OVER
)


def call_status(evidence: int) -> Status:
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
        # A call that runs fires PostToolUse or PostToolUseFailure before its batch. A call that fired only
        # PreToolUse was denied after it.
        return "denied" if evidence & Evidence.HOOKED else "succeeded"
    # If the call's prompt was open when the turn ended, the prompt's answer was not yes.
    prompted, over = evidence & Evidence.ASKED, evidence & Evidence.TURN_OVER
    return "denied" if prompted and over else "unfinished"


def _was_running(evidence: int) -> bool:
    """Return whether a rejected call was interrupted while it ran, rather than denied.

    The text of the result is the same for both. A call that had a prompt counts as denied.
    """
    if evidence & Evidence.ASKED:
        return False
    return bool(evidence & (Evidence.HOOKED | Evidence.UNLISTED))


# How the result text begins if the client did not run the call.
_DENIALS = re.compile(
    r"Claude requested permissions? to "
    r"|Permission (to|for) .{1,4000}?has been denied"
    r"|<tool_use_error>File is in a directory that is denied by your permission settings\."
    r"|Cannot write to .{1,4000}? while in plan mode"
    r"|This command requires approval"
    r"|This Bash command contains multiple operations\. The following parts? requires? approval"
    r"|\S+ in '.{1,4000}?' was blocked\. For security, Claude Code may only "
    r"|PreToolUse:\S+ hook error: "
    r"|Answer questions\?$",
    re.DOTALL,
)
_REJECTIONS = re.compile(
    r"The user doesn't want to (proceed with this tool use|take this action right now)"
    r"|\[Request interrupted by user"
)
# A client that resumes a session writes this for each call without a result. Another client may still run the
# call.
_LOST_RESULT = "[Tool call interrupted: the session ended before"
_ERROR_START = "<tool_use_error>"
_ERROR_END = "</tool_use_error>"
# A failure is shown as one short line; the error may hold a whole log.
MAX_FAILURE_LENGTH = 1000

# Newer clients name the kind of denial. "user-rejected" may also be an interrupted call.
_DENIAL_KINDS = {
    "user-rejected": Evidence.REJECTED,
    "permission-rule": Evidence.DENIED,
    "automode-blocked": Evidence.DENIED,
    # Nobody denied these: the client could not decide, and did not run them.
    "automode-unavailable": Evidence.FAILED,
    "automode-parsing-error": Evidence.FAILED,
    "interrupted": Evidence.INTERRUPTED,
}


def read_result(is_error: bool | None, content: object) -> int:
    """Return the evidence in a tool result. The result is an error only if `is_error` is true."""
    if not is_error:
        return Evidence.SUCCEEDED
    text = text_of(content)
    if text.startswith(_LOST_RESULT):
        return Evidence.NONE
    refusal = _read_refusal(text)
    # A result ends its call. DENIED alone would not, because the event of a denial comes before the result.
    return refusal if refusal & Evidence.REJECTED else refusal | Evidence.FAILED


def read_batched(response: object) -> int:
    text = text_of(response)
    refusal = _read_refusal(text)
    if refusal or text.startswith(_ERROR_START):
        return refusal or Evidence.FAILED
    return Evidence.NONE


def read_failure(evidence: int, content: object) -> str | None:
    """Return the first line of a failed call's result; None if the call did not fail or left no text."""
    if not evidence & Evidence.FAILED:
        return None
    text = text_of(content)[:MAX_FAILURE_LENGTH].replace(_ERROR_START, "").replace(_ERROR_END, "").strip()
    return text.removeprefix("Error:").strip().split("\n", 1)[0] or None


def read_denial(kind: object, decision: object) -> int:
    evidence = _DENIAL_KINDS.get(kind, Evidence.NONE) if isinstance(kind, str) else Evidence.NONE
    return evidence | Evidence.DENIED if decision == "reject" else evidence


def text_of(content: object) -> str:
    """Return the text of a tool result; of a list of blocks, the first text. Empty if there is no text."""
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
