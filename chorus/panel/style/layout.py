"""The arrangement of the panel's widgets on the screen, for every size of the terminal."""

from dataclasses import dataclass

# From this width on, queue and diff are side by side, because both are then wide enough for code.
MIN_SIDE_WIDTH = 100
# With fewer rows, a panel too narrow for both side by side shows either the queue or the diff.
MIN_STACKED_ROWS = 14
# On a shorter screen, a pending prompt takes the space of the queue and the diff.
MIN_BOTH_HEIGHT = 18
# On a shorter screen there are no margins, and the keys are not shown twice.
MIN_TALL_HEIGHT = 24
# The rows of the queue that stay visible below a long prompt, besides the heading.
QUEUE_ROWS_BESIDE_PROMPT = 4
MAX_SESSION_ROWS = 4


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The division of the panel's space. `sessions`, `prompt`: how many rows these parts get."""

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
    """Plan the arrangement for a panel of this size.

    `prompt_rows`: rows that the pending prompt needs, 0 without a prompt. `queue_rows`: rows of the whole
    queue.
    """
    short = height < MIN_TALL_HEIGHT
    session_rows = 1 if short else max(min(sessions, MAX_SESSION_ROWS), 1)
    rows = height - session_rows - 2
    if zoomed:
        return Arrangement(
            "-diff", session_rows, min(prompt_rows, 1), prompt_small=prompt_rows > 0, short=short
        )
    alone = prompt_rows > 0 and height < MIN_BOTH_HEIGHT
    if alone and not prompt_folded:
        return Arrangement("-none", session_rows, rows, prompt_small=False, short=short)
    small = alone and prompt_folded
    margin = 0 if short else 2
    # The session waits for an answer, so the prompt gets the rows that it needs.
    room = 1 if small else rows - margin - 1 - min(max(queue_rows, 1), QUEUE_ROWS_BESIDE_PROMPT)
    prompt = min(prompt_rows, room) if prompt_rows else 0
    left = rows - prompt - (margin if prompt else 0)
    return Arrangement(_plan_body(width, left, diff_open), session_rows, prompt, small, short)


def _plan_body(width: int, rows: int, diff_open: bool) -> str:
    if width >= MIN_SIDE_WIDTH and rows >= 5:
        return "-diff" if diff_open and rows < MIN_STACKED_ROWS // 2 else "-side"
    if rows >= MIN_STACKED_ROWS:
        return "-stacked"
    return "-diff" if diff_open else "-queue"
