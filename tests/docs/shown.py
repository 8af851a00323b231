"""Find the commands in the documents: in code blocks and in inline code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# docs/commands.md is generated from the parsers, and the changelog is about the past.
DOCUMENTS = sorted(
    path
    for path in [ROOT / "README.md", ROOT / "hooks" / "README.md", *(ROOT / "docs").glob("*.md")]
    if path.name != "commands.md"
)
PROGRAMS = ("chorus ", "make ", "git ", "pipx ", "uv ")
BLOCK = re.compile(r"^(?: {4}|\$ )(?P<command>\S.*)$")
WORDS = re.compile(r"`(?P<command>(?:chorus|make) [^`]+)`")


@dataclass(frozen=True, slots=True)
class Shown:
    document: Path
    line: int
    command: str
    in_block: bool

    @property
    def words(self) -> list[str]:
        return self.command.split()


def read_shown(document: Path) -> Iterator[Shown]:
    """Yield every command of a document, in order."""
    text = document.read_text(encoding="utf-8")
    # A command in code type may be broken over two lines.
    joined = re.sub(r"`(chorus|make)\n", r"`\1 ", text)
    for number, line in enumerate(joined.splitlines(), 1):
        block = BLOCK.match(line)
        if block and block["command"].startswith(PROGRAMS):
            yield Shown(document, number, _without_comment(block["command"]), in_block=True)
        elif not block:
            for found in WORDS.finditer(line):
                yield Shown(document, number, found["command"], in_block=False)


def read_links(document: Path) -> list[str]:
    """Return the files of this checkout that a document links to."""
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8"))
    return [target for target in targets if "://" not in target]


def _without_comment(command: str) -> str:
    return re.split(r"\s+#", command)[0].strip()
