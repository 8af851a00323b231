"""Make text from files, commands and models harmless in a terminal.

`chorus log` loads this module, so it imports nothing at the top.
"""

# Far wider than any terminal, but so short that even a line of a megabyte is drawn at once.
MAX_LINE_CHARACTERS = 2000
TAB_WIDTH = 4
# No writing system stacks more marks on one letter. Further marks would draw over the lines around them.
MAX_COMBINING_MARKS = 3
# Only a text made to fill the memory has more different characters than this.
MAX_CACHED_CHARACTERS = 20_000
# Characters that print as nothing although they count as letters, marks or symbols.
_INVISIBLE = (
    (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
    range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000),
)  # fmt: skip


def printable(text: str, keep: str = "") -> str:
    """Replace harmful characters with U+FFFD, except those in `keep`.

    Harmful characters control the terminal, are invisible, or draw over other characters.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if symbol == char or char in keep else "\ufffd"
        for char, symbol in zip(text, _symbols(text), strict=True)
    )


def sanitize(text: str, *, limit: int = MAX_LINE_CHARACTERS) -> str:
    """Return `text` as one line with a symbol for each harmful character: `␛`, `<U+202E>`, `\\xff`.

    Characters beyond `limit` are left out and counted at the end of the line.
    """
    if len(text) <= limit:
        return _make_visible(text)
    return f"{_make_visible(text[:limit])}… (+{len(text) - limit:,} characters)"


def sanitize_lines(text: str, *, max_lines: int) -> list[str]:
    """Sanitize each line of `text`, and expand tabs. Lines beyond the limit are left out and counted."""
    lines = text.split("\n", max_lines)
    rest = lines.pop() if len(lines) > max_lines else ""
    shown = [sanitize(expand_tabs(line)) for line in lines]
    if rest:
        shown.append(f"… (+{rest.count(chr(10)) + 1:,} lines)")
    return shown


def is_cut(text: str, *, max_lines: int) -> bool:
    """True if `sanitize_lines` leaves out a part of `text`."""
    lines = text.split("\n", max_lines)
    return len(lines) > max_lines or any(len(expand_tabs(line)) > MAX_LINE_CHARACTERS for line in lines)


def expand_tabs(line: str) -> str:
    """Replace tabs with blanks up to the next tab stop, except at the end of a very long line."""
    if "\t" not in line:
        return line
    return line[: MAX_LINE_CHARACTERS * 2].expandtabs(TAB_WIDTH) + line[MAX_LINE_CHARACTERS * 2 :]


def _make_visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(_symbols(text))


def _symbols(text: str) -> list[str]:
    shown = list(map(_SYMBOLS.__getitem__, text))
    if _SYMBOLS.marks.isdisjoint(text):
        return shown
    count = 0
    for index, char in enumerate(text):
        count = count + 1 if char in _SYMBOLS.marks else 0
        if count > MAX_COMBINING_MARKS:
            shown[index] = f"<U+{ord(char):04X}>"
    return shown


class _Symbols(dict[str, str]):
    """The symbol of each character, filled on demand: a lookup takes a tenth of the time of `_symbol`."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: set[str] = set()  # the combining characters seen so far

    def __missing__(self, char: str) -> str:
        from unicodedata import category  # noqa: PLC0415  a library of a megabyte that ASCII does not need

        if category(char) in {"Mn", "Me"}:
            self.marks.add(char)
        symbol = _symbol(char)
        if len(self) < MAX_CACHED_CHARACTERS:
            self[char] = symbol
        return symbol


_SYMBOLS = _Symbols()


def _symbol(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # a byte of a name that is not UTF-8
    # `isprintable` is False for controls, format characters, surrogates, private and unassigned code points,
    # and every separator except the blank.
    if not char.isprintable() or any(code in block for block in _INVISIBLE):
        return f"<U+{code:04X}>"
    return char
