"""Read the events of any recording, with the source of each.

A recording is a stream, a capture of a pane, a log of tmux control mode, a transcript, hook events, or both
directions of the control protocol.
"""

import json
import re
from collections import Counter
from typing import Any

from chorus.agents.claude_code.events.names import BOOKKEEPING
from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.capture_rows import find_unused_rows, guess_widths
from chorus.agents.claude_code.terminal.control_mode import ControlMode, is_control_mode
from chorus.agents.claude_code.terminal.reassembler import DEFAULT_MAX_SIZE
from chorus.agents.interface import Document, RecordedEvent, Source, UnusedRow
from chorus.model.ids import PaneId

# Enough bytes to tell what a recording is.
BEGINNING = 4096
# A longer recording is a stream, not a capture: its width is not guessed, and its unused rows are not listed.
MAX_KEPT = 64 * 2**20

_TRANSCRIPT_TYPES = frozenset({*BOOKKEEPING, "attachment", "cost-state", "queue-operation", "summary"})
_SIGNATURE = b"\xef\xbb\xbf"
_NOTIFICATION = re.compile(rb"%(extended-)?output %\d+ ")
# Indented JSON: an opening bracket alone on its line.
_PRETTY = re.compile(rb"\s*[{\[]\s*\n")


class Recording:
    def __init__(self, *, width: int | None = None) -> None:
        self._width = width
        self._held: bytearray | None = bytearray()  # until it is clear what kind of recording this is
        self._pretty = False
        self._control: ControlMode | None = None
        self._panes: dict[str, Reassembler] = {}
        self._kept = bytearray()  # the whole recording, unless it is too long
        self._texts: list[bytes] = []  # the texts of the events, in order

    @property
    def problems(self) -> Counter[str]:
        return sum((pane.problems for pane in self._panes.values()), Counter())

    def guess_widths(self) -> list[int]:
        return guess_widths(bytes(self._kept)) if self._is_whole else []

    def unused_rows(self) -> list[UnusedRow]:
        # Control mode has many panes in one text, and indented JSON has many rows for one event.
        if not self._is_whole or self._control is not None or self._pretty:
            return []
        return find_unused_rows(bytes(self._kept), self._texts)

    @property
    def _is_whole(self) -> bool:
        return len(self._kept) <= MAX_KEPT

    def feed(self, chunk: bytes) -> list[RecordedEvent]:
        if self._is_whole:
            self._kept += chunk
        if self._held is None:
            return self._read(chunk)
        self._held += chunk
        if len(self._held) < (DEFAULT_MAX_SIZE if self._pretty else BEGINNING):
            return []
        if not self._pretty and self._decide():
            return []
        return self._release()

    def close(self) -> list[RecordedEvent]:
        if self._held is not None:
            if not self._pretty:
                self._decide()
            values = _parse_pretty(bytes(self._held)) if self._pretty else None
            if values is not None:
                return [_observed(value, "") for value in values]
            events = self._release()
        else:
            events = []
        for channel, pane in self._panes.items():
            events += self._all_observed(pane.close(), channel)
        return events

    def _all_observed(self, documents: list[Document], channel: str) -> list[RecordedEvent]:
        if self._is_whole:
            self._texts += [document.text for document in documents]
        return [_observed(document.value, channel) for document in documents]

    def _decide(self) -> bool:
        """Decide what kind of recording it is; return whether it must be read as a whole."""
        beginning = bytes(self._held or b"").removeprefix(_SIGNATURE)
        self._held = bytearray(beginning)
        if is_control_mode(beginning) or _NOTIFICATION.match(beginning):
            self._control = ControlMode()
        self._pretty = _PRETTY.match(beginning) is not None
        return self._pretty

    def _release(self) -> list[RecordedEvent]:
        held, self._held = bytes(self._held or b""), None
        return self._read(held)

    def _read(self, chunk: bytes) -> list[RecordedEvent]:
        if self._control is None:
            return self._all_observed(self._pane(PaneId("")).feed(chunk), "")
        events: list[RecordedEvent] = []
        for output in self._control.feed(chunk):
            events += self._all_observed(self._pane(output.pane).feed(output.data), output.pane)
        return events

    def _pane(self, channel: PaneId) -> Reassembler:
        pane = self._panes.get(channel)
        if pane is None:
            # Control mode does not wrap: the width is for captures only.
            width = None if self._control else self._width
            unwrapped = self._control is not None
            pane = Reassembler(width=width, unwrapped=unwrapped, allow_inexact=True)
            self._panes[channel] = pane
        return pane


def unwrap(value: dict[str, Any]) -> tuple[dict[str, Any], Source]:
    """Return the event in an object of a recording, without the recorder's wrapper, and its source."""
    inner = value.get("msg")
    if isinstance(inner, dict) and value.get("dir") in ("in", "out"):
        return inner, Source.CONTROL_IN if value["dir"] == "in" else Source.CONTROL_OUT
    inner = value.get("stdin")
    if isinstance(inner, dict) and "hook_event_name" in inner:
        return inner, Source.HOOK
    return value, _source_of(value)


def _source_of(value: dict[str, Any]) -> Source:
    kind = value.get("type")
    if "hook_event_name" in value and kind is None:
        return Source.HOOK
    in_transcript = "isSidechain" in value or (isinstance(kind, str) and kind in _TRANSCRIPT_TYPES)
    return Source.TRANSCRIPT if in_transcript else Source.STREAM


def _observed(value: dict[str, Any], channel: str) -> RecordedEvent:
    return RecordedEvent(*unwrap(value), channel)


def _parse_pretty(data: bytes) -> list[dict[str, Any]] | None:
    """Return the objects of indented JSON, one after another or in a list; None if `data` is not JSON."""
    decoder, values, position = json.JSONDecoder(), list[dict[str, Any]](), 0
    try:
        text = data.decode()
        while text[position:].strip():
            position += len(text[position:]) - len(text[position:].lstrip())
            value, position = decoder.raw_decode(text, position)
            found = value if isinstance(value, list) else [value]
            values += [item for item in found if isinstance(item, dict)]
    except (ValueError, RecursionError):
        return None
    return values
