"""Terminal bytes in, whole JSON objects out: see `Reassembler`."""

from chorus.core.reassembly.reassembler import Document, Reassembler

__all__ = ["Document", "Reassembler"]
