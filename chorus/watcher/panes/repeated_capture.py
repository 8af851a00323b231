"""Feed the events in a capture that is read again and again, each event once, and count the gaps.

A capture is the text of a pane or a file at one moment. The text may grow, scroll, be wrapped at another
width, or be replaced. There is a gap if a capture contains nothing that was read before: output may have been
missed.
"""

from collections.abc import Sequence

from chorus.watcher.panes.printed_events import PrintedEvents


class RepeatedCapture:
    def __init__(self, printed: PrintedEvents, *, continued: bool = False) -> None:
        """`continued`: True if events of this output were already fed from another source."""
        self.gaps = 0
        self._printed = printed
        self._started = continued
        self._last: bytes | None = None  # the event that was read last; None after the capture was emptied

    async def feed(self, text: bytes, widths: Sequence[int]) -> bool:
        """Feed the new events in the capture. Return whether there is a gap before them."""
        end = -1
        if self._last is not None and (start := text.rfind(self._last)) >= 0:
            end = start + len(self._last)
        documents = self._printed.events.read_capture(text[max(end, 0) :], widths)
        missed = False
        if self._started:
            new = await self._printed.feed_printed(documents)
            missed = self._last is not None and end < 0 and new == len(documents)
        else:
            self._started = True
            await self._printed.feed_first(documents)
        if missed:
            self.gaps += 1
            self._last = None
        if documents:
            self._last = documents[-1].text
        return missed
