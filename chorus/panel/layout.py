"""How the panel divides the space it has.

Receives the size of the terminal and what there is to show; gives the arrangement. Pure: every size a
terminal can have gives one, and a test goes through them.
"""

from dataclasses import dataclass

# Queue and diff beside each other: both still wide enough for code.
SIDE_FROM = 100
# Below this, queue and diff take turns.
STACKED_FROM = 14
# Below this, an open prompt takes the space of the queue.
PROMPT_ALONE_BELOW = 18
# Below this, margins and what is said twice go.
SHORT_BELOW = 24
# What the queue keeps beside a long prompt: its heading and so many rows.
QUEUE_BESIDE = 4


@dataclass(frozen=True, slots=True)
class Arrangement:
    body: str  # -side, -stacked, -queue, -diff or -none
    sessions: int
    prompt: int
    prompt_small: bool
    short: bool


def plan_arrangement(
    width: int,
    height: int,
    *,
    prompt_rows: int,
    queue_rows: int,
    sessions: int,
    diff_open: bool,
    prompt_folded: bool,
    zoomed: bool = False,
) -> Arrangement:
    """`prompt_rows`: what the open prompt would like to have, 0 without one; `queue_rows`: all there are.

    `zoomed`: the diff gets everything, an open prompt one line.
    """
    short = height < SHORT_BELOW
    session_rows = 1 if short else max(min(sessions, 4), 1)
    rows = height - session_rows - 2
    if zoomed:
        return Arrangement(
            "-diff", session_rows, min(prompt_rows, 1), prompt_small=prompt_rows > 0, short=short
        )
    alone = prompt_rows > 0 and height < PROMPT_ALONE_BELOW
    if alone and not prompt_folded:
        return Arrangement("-none", session_rows, rows, prompt_small=False, short=short)
    small = alone and prompt_folded
    margin = 0 if short else 2
    # The prompt is what holds everything up: it gets what it needs to be read.
    most = 1 if small else rows - margin - 1 - min(max(queue_rows, 1), QUEUE_BESIDE)
    prompt = min(prompt_rows, most) if prompt_rows else 0
    left = rows - prompt - (margin if prompt else 0)
    return Arrangement(_plan_body(width, left, diff_open), session_rows, prompt, small, short)


def _plan_body(width: int, rows: int, diff_open: bool) -> str:
    if width >= SIDE_FROM and rows >= 5:
        return "-diff" if diff_open and rows < STACKED_FROM // 2 else "-side"
    if rows >= STACKED_FROM:
        return "-stacked"
    return "-diff" if diff_open else "-queue"
