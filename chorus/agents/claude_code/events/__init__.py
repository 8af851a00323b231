"""The client's events as types: stream, control protocol, transcripts, hooks, and older spellings of them."""

from chorus.agents.claude_code.events.base import Known, Malformed, Unknown
from chorus.agents.claude_code.events.parser import Event, parse_event

__all__ = ["Event", "Known", "Malformed", "Unknown", "parse_event"]
