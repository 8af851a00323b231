"""A tmux terminal for tests in which a user drives the demo."""

from tests.lab.sitting import terminal_of

terminal = terminal_of(width=100, height=36)
