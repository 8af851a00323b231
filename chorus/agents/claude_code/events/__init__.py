"""Types for the client's events, from all sources: stream, control protocol, transcripts and hooks."""

from chorus.agents.claude_code.events.base import Known, Malformed, Unknown
from chorus.agents.claude_code.events.parser import Event, parse_event

__all__ = ["Event", "Known", "Malformed", "Unknown", "parse_event"]
