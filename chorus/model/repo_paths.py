"""Paths inside a repository, compared by their text."""

from collections.abc import Iterable


def is_at_or_below(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in roots)
