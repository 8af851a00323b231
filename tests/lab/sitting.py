"""A `terminal` fixture of the size a test's dialogs are drawn for."""

import shutil
from collections.abc import Iterator

import pytest

from tests.lab.terminal import Terminal


def terminal_of(*, width: int = 120, height: int = 40) -> object:
    """To be bound to the name `terminal` where it is wanted."""

    @pytest.fixture(name="terminal")
    def sit_down() -> Iterator[Terminal]:
        if shutil.which("tmux") is None:
            pytest.skip("no tmux on this machine")
        with Terminal(width=width, height=height) as terminal:
            yield terminal

    return sit_down
