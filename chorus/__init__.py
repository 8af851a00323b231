"""Chorus: one commit per tool action of a Claude Code session, and any one of them taken back."""

__version__ = "0.1.0"
