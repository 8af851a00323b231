"""The only module through which commands write to stdout and stderr.

stdout carries a command's result, stderr its messages, questions and progress. Lines are made harmless for a
terminal, except `Styled` ones.
"""

import sys

from chorus.text.sanitize import printable


class Styled(str):
    """A line that is safe for a terminal: its only control characters are tabs and colours. See `style`."""

    __slots__ = ()


def style(*pieces: str, code: str | None = None) -> Styled:
    """Join pieces into one harmless line, in the colour of this SGR code."""
    line = "".join(map(harmless, pieces))
    return Styled(f"\x1b[{code}m{line}\x1b[0m" if code else line)


def harmless(line: str) -> str:
    """Replace characters that control the terminal or end the line. A `Styled` line is returned unchanged."""
    return line if isinstance(line, Styled) else printable(line, keep="\t")


def print_out(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(harmless(line) + "\n")


def print_text(text: str) -> None:
    """Write a text to stdout at once, without adding a line end."""
    sys.stdout.write("\n".join(map(harmless, text.split("\n"))))
    sys.stdout.flush()


def print_json(value: object, *, in_one_line: bool = False) -> None:
    """Write the result as JSON, in ASCII: a file name that is not UTF-8 survives as an escape."""
    import json  # noqa: PLC0415  most output is not JSON

    indent = 2 if sys.stdout.isatty() and not in_one_line else None
    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
    sys.stdout.flush()


def print_progress(text: str) -> None:
    """Show a progress line that the next call replaces. Prints only to a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" + harmless(text))
        sys.stderr.flush()


def print_err(text: str) -> None:
    """Write a message to stderr, with its later lines indented."""
    sys.stdout.flush()  # stdout and stderr may go to one terminal or file
    first, *more = text.split("\n")
    for line in (first, *(line if line.startswith(" ") else f"  {line}" for line in more)):
        sys.stderr.write(harmless(line).rstrip() + "\n")


def ask_user(question: str) -> str | None:
    """Ask on the terminal and return the line that was typed; None at the end of input."""
    sys.stdout.flush()
    sys.stderr.write(harmless(question))
    sys.stderr.flush()
    line = sys.stdin.readline()
    return line if line else None
