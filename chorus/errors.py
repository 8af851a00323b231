"""Errors the user can act on, and the exit codes."""

from collections.abc import Mapping
from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    BUG = 1
    USAGE = 2
    NOT_FOUND = 3
    SYSTEM_ERROR = 4
    CONFLICT = 5
    REFUSED = 6
    INTERRUPTED = 130


class ChorusError(Exception):
    """An error with a message and, where there is a way out, a hint."""

    exit_code: ExitCode = ExitCode.SYSTEM_ERROR
    hint: str | None = None
    # The facts of the message, as data for programs.
    details: Mapping[str, object] | None = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint


def in_one_line(error: Exception) -> str:
    """The error's message and hint as one line."""
    text = "; ".join(line.strip() for line in str(error).splitlines())
    hint = error.hint if isinstance(error, ChorusError) else None
    end = "" if text.endswith((".", "!", "?")) else "."
    return f"{text}{end} {' '.join(hint.splitlines())}" if hint else text


class UsageError(ChorusError):
    """The command line is wrong."""

    exit_code = ExitCode.USAGE


class NotFound(ChorusError):
    """The thing that the command should act on does not exist."""

    exit_code = ExitCode.NOT_FOUND
