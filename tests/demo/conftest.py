"""A tmux terminal for tests in which a user drives the demo."""

from tests.lab.terminal import terminal_fixture

terminal = terminal_fixture(width=100, height=36)
