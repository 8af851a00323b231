"""Terminal bytes in, whole JSON objects out: see `Reassembler`."""

from chorus.agents.claude_code.terminal.reassembler import Reassembler

__all__ = ["Reassembler"]
