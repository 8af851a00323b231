"""What can go wrong that a person can act on.

Every class names its exit code and a hint: one sentence that says what to do. Anything that is not
a `ChorusError` is a bug and leaves with exit code 1.
"""

from collections.abc import Mapping
from enum import IntEnum


class ExitCode(IntEnum):
    DONE = 0
    BUG = 1
    USAGE = 2
    NOTHING = 3
    REFUSED_BY_SYSTEM = 4
    CONFLICT = 5
    REFUSED = 6
    INTERRUPTED = 130


class ChorusError(Exception):
    """A failure with a way out. `hint` is an imperative sentence, or None where there is none."""

    exit_code: ExitCode = ExitCode.REFUSED_BY_SYSTEM
    hint: str | None = None
    # What a program needs to know of the failure beyond its message.
    details: Mapping[str, object] | None = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint


class UsageError(ChorusError):
    """The command line asks for something that makes no sense."""

    exit_code = ExitCode.USAGE


class NothingThere(ChorusError):
    """What the command should act on does not exist."""

    exit_code = ExitCode.NOTHING
