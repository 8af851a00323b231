"""How a name is spelled where the file system takes several spellings for one: other case, other accents.

macOS ignores case, and takes a letter with its accent as one character (NFC) or two (NFD). git knows a file
by its name on disk, in NFC. A tool may name it otherwise, and means the same file.
"""

import os
import unicodedata
from dataclasses import dataclass

from chorus.system.file_systems import COMPOSES_NAMES


@dataclass(frozen=True, slots=True)
class Spelling:
    ignores_case: bool = False
    composes: bool = False  # names on disk may be in NFD, those of git are in NFC

    @classmethod
    def of(cls, *, ignores_case: bool, composes: bool) -> "Spelling":
        """By git's settings `core.ignoreCase` and `core.precomposeUnicode` (heeded on macOS alone)."""
        return cls(ignores_case, composes and COMPOSES_NAMES)

    @property
    def is_exact(self) -> bool:
        return not self.ignores_case and not self.composes

    def as_in_git(self, name: str) -> str:
        """A name from the disk as git has it."""
        return unicodedata.normalize("NFC", name) if self.composes else name

    def as_on_disk(self, root: str, path: str) -> str:
        """A path below `root` with the names of its existing parts as git has them."""
        if self.is_exact:
            return path
        spelled: list[str] = []
        for part in path.split("/"):
            spelled.append(self._find(os.path.join(root, *spelled), part))  # noqa: PTH118  text
        return "/".join(spelled)

    def _find(self, directory: str, name: str) -> str:
        try:
            names = [self.as_in_git(each) for each in os.listdir(directory)]  # noqa: PTH208  names alone
        except OSError:
            names = []
        name = self.as_in_git(name)
        if name in names:
            return name
        return next((each for each in names if self._fold(each) == self._fold(name)), name)

    def _fold(self, name: str) -> str:
        return name.casefold() if self.ignores_case else name
