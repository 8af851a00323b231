"""Chorus: commit each action of a Claude Code session, and revert any single one later."""

__version__ = "0.2.0"
