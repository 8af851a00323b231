"""Everything a client says, typed: stream, control protocol, transcripts, hooks, and older notes on them."""

from chorus.core.events.base import Known, Malformed, Source, Unknown
from chorus.core.events.parsing import Event, parse_event

__all__ = ["Event", "Known", "Malformed", "Source", "Unknown", "parse_event"]
