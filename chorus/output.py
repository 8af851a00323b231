"""The only module that writes to stdout and stderr.

stdout carries the result, stderr everything about it.
"""

import sys

from chorus.text.sanitize import printable


def print_out(text: str) -> None:
    """Write one line or block of the result to stdout."""
    sys.stdout.write(text + "\n")


def print_json(value: object) -> None:
    """Write the result as JSON, in ASCII: a file name that is not UTF-8 survives as an escape."""
    import json  # noqa: PLC0415  most output is not JSON

    sys.stdout.write(json.dumps(value, indent=2 if sys.stdout.isatty() else None) + "\n")


def print_err(text: str) -> None:
    """Write one line to stderr. It may quote a file name, so control characters are replaced."""
    sys.stderr.write(printable(text, keep="\n\t") + "\n")


def ask_user(question: str) -> str | None:
    """Ask on the terminal and return the line that was typed; None at the end of input."""
    sys.stdout.flush()
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    return line if line else None
