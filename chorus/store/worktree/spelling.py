"""The spelling of names where the file system treats several spellings (case, accents) as one name.

macOS ignores case, and an accented letter may be one character (NFC) or two (NFD). git uses the name on disk,
in NFC.
"""

import os
import unicodedata
from dataclasses import dataclass

from chorus.system.files.file_systems import COMPOSES_NAMES


@dataclass(frozen=True, slots=True)
class Spelling:
    ignores_case: bool = False
    composes: bool = False  # names on disk may be in NFD, those of git are in NFC

    @classmethod
    def of(cls, *, ignores_case: bool, composes: bool) -> "Spelling":
        """Return the spelling for these settings of git.

        `ignores_case`: `core.ignoreCase`. `composes`: `core.precomposeUnicode`, ignored except on macOS.
        """
        return cls(ignores_case, composes and COMPOSES_NAMES)

    @property
    def is_exact(self) -> bool:
        return not self.ignores_case and not self.composes

    def as_in_git(self, name: str) -> str:
        """The name that git uses for a name on disk."""
        return unicodedata.normalize("NFC", name) if self.composes else name

    def as_on_disk(self, root: str, path: str, listings: dict[str, list[str]] | None = None) -> str:
        """Return `path` with each name spelled as on disk, in git's form. `path` is relative to `root`.

        A name that is not on disk keeps its spelling. `listings`: a cache of directory listings.
        """
        if self.is_exact:
            return path
        listings = {} if listings is None else listings
        spelled: list[str] = []
        for part in path.split("/"):
            directory = os.path.join(root, *spelled)  # noqa: PTH118  text
            if directory not in listings:
                listings[directory] = self._list(directory)
            spelled.append(self._find(listings[directory], part))
        return "/".join(spelled)

    def is_stored(self, root: str, path: str) -> bool:
        """True if the path is spelled like this on disk, or if a directory on the way cannot be listed."""
        here = root
        for part in path.split("/"):
            try:
                names = os.listdir(here)  # noqa: PTH208  names alone
            except OSError:
                return True
            if part not in map(self.as_in_git, names):
                return False
            here = f"{here}/{part}"
        return True

    def is_same(self, name: str, other: str) -> bool:
        return self._fold(name) == self._fold(other)

    def _list(self, directory: str) -> list[str]:
        try:
            return [self.as_in_git(each) for each in os.listdir(directory)]  # noqa: PTH208  names alone
        except OSError:
            return []

    def _find(self, names: list[str], name: str) -> str:
        name = self.as_in_git(name)
        if name in names:
            return name
        return next((each for each in names if self.is_same(each, name)), name)

    def _fold(self, name: str) -> str:
        name = self.as_in_git(name)
        return name.casefold() if self.ignores_case else name
