"""tmux says its version in several ways."""

import pytest

from chorus.tmux.tmux_server import is_supported, read_version


def test_the_tmux_of_this_machine_is_new_enough() -> None:
    assert is_supported(read_version())


@pytest.mark.parametrize(
    ("version", "supported"),
    [("3.3a", True), ("3.2", True), ("3.1c", False), ("2.9", False), ("next-3.5", True), ("master", True)],
)
def test_versions_are_compared_by_their_numbers(version: str, supported: bool) -> None:
    assert is_supported(version) is supported
