"""Bytes as the client reads them, and back where that is exact.

Receives bytes, gives the text the client shows for them: UTF-16 by its signature, else UTF-8 with U+FFFD
for what is not, CRLF as LF. Gives bytes for a text only in a form in which no other bytes are possible.
Never looks at names or attributes: the client does not either.
"""

from dataclasses import dataclass

UTF16_SIGNATURE = b"\xff\xfe"


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a text is written: its encoding and its line end (None: no line ends, so either fits)."""

    encoding: str
    line_end: str | None

    def encode(self, text: str) -> bytes | None:
        try:
            return text.replace("\n", self.line_end or "\n").encode(self.encoding)
        except UnicodeEncodeError:
            return None


PLAIN = TextFormat("utf-8", None)


def read_text(data: bytes) -> str:
    return plain_lines(data.decode(_encoding(data), "replace"))


def plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def loosely(text: str) -> str:
    """The text without what another reader may show otherwise: line ends of any kind, a signature."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def is_alike(one: str, other: str | None) -> bool:
    return other is not None and loosely(one) == loosely(other)


def find_format(*contents: bytes | None) -> TextFormat | None:
    """The one form all these contents have; None where they differ or are not exact in any."""
    found = PLAIN
    known = [content for content in contents if content]
    for place, content in enumerate(known):
        form = TextFormat(_encoding(content), _line_end(content))
        if form.encode(read_text(content)) != content:
            return None
        if place and (form.encoding != found.encoding or _clash(form.line_end, found.line_end)):
            return None
        found = TextFormat(form.encoding, form.line_end or found.line_end)
    return found


def _encoding(data: bytes) -> str:
    return "utf-16-le" if data.startswith(UTF16_SIGNATURE) else "utf-8"


def _line_end(data: bytes) -> str | None:
    text = data.decode(_encoding(data), "replace")
    if "\n" not in text:
        return None
    return "\r\n" if "\r\n" in text else "\n"


def _clash(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other
