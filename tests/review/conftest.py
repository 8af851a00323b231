"""Fixtures shared with the tests of the history: a recorder on a user's repository and an agent at work."""

from tests.history.conftest import agent, memory_path, recorder

__all__ = ["agent", "memory_path", "recorder"]
