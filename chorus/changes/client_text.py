"""Convert file contents to text as the client reads them, and back where that is exact.

The client decodes UTF-16 by its byte order mark and everything else as UTF-8, with U+FFFD for invalid bytes.
It reads CRLF as LF.
"""

from dataclasses import dataclass

UTF16_BYTE_ORDER_MARK = b"\xff\xfe"


@dataclass(frozen=True, slots=True)
class TextFormat:
    """The encoding and line end of a file; `line_end` is None if the file has no line end."""

    encoding: str
    line_end: str | None

    def encode(self, text: str) -> bytes | None:
        try:
            return text.replace("\n", self.line_end or "\n").encode(self.encoding)
        except UnicodeEncodeError:
            return None


PLAIN = TextFormat("utf-8", None)


def decode_text(data: bytes) -> str:
    return plain_lines(data.decode(_encoding(data), "replace"))


def plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def normalise_text(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def is_same_text(one: str, other: str | None) -> bool:
    return other is not None and normalise_text(one) == normalise_text(other)


def find_format(*contents: bytes | None) -> TextFormat | None:
    """Return the one format that converts all these contents exactly; None if there is no such format."""
    found = PLAIN
    known = [content for content in contents if content]
    for index, content in enumerate(known):
        format_ = TextFormat(_encoding(content), _line_end(content))
        if format_.encode(decode_text(content)) != content:
            return None
        if index and (format_.encoding != found.encoding or _differ(format_.line_end, found.line_end)):
            return None
        found = TextFormat(format_.encoding, format_.line_end or found.line_end)
    return found


def _encoding(data: bytes) -> str:
    return "utf-16-le" if data.startswith(UTF16_BYTE_ORDER_MARK) else "utf-8"


def _line_end(data: bytes) -> str | None:
    text = data.decode(_encoding(data), "replace")
    if "\n" not in text:
        return None
    return "\r\n" if "\r\n" in text else "\n"


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other
