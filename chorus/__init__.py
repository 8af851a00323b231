"""Chorus: one commit per tool action of a Claude Code session, and any single one reverted later."""

__version__ = "0.2.0"
