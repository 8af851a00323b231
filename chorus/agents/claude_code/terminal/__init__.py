"""Read whole JSON objects from the text of a terminal: see `Reassembler`."""

from chorus.agents.claude_code.terminal.reassembler import Reassembler

__all__ = ["Reassembler"]
