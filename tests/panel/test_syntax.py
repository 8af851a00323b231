"""The syntax colours of a diff: all of them, within a limit of processor time."""

import time

import pytest

from chorus.panel.widgets import syntax
from chorus.panel.widgets.diff import DiffDocument
from chorus.panel.widgets.patch import parse_patch
from chorus.panel.widgets.syntax import find_spans
from chorus.text.width import cell_width
from tests.panel.story import PARSER


def test_a_busy_machine_leaves_no_line_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    patch = parse_patch(PARSER)
    texts = [line.text for line in patch.lines]
    wanted = find_spans(patch, texts.__getitem__)  # which also imports what it needs
    assert wanted
    monkeypatch.setattr(syntax, "MAX_PROCESSOR_SECONDS", 0.2)
    waited: list[int] = []

    def wait_once(index: int) -> str:
        """Keep the thread from running, as other programs do, for longer than the limit."""
        if not waited:
            waited.append(index)
            time.sleep(0.3)
        return texts[index]

    assert find_spans(patch, wait_once) == wanted


def test_colours_end_with_the_processor_time_they_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    patch = parse_patch(PARSER)
    monkeypatch.setattr(syntax, "MAX_PROCESSOR_SECONDS", -1.0)
    assert find_spans(patch, [line.text for line in patch.lines].__getitem__) == {}


@pytest.mark.parametrize("code", ["    return amount.quantize(Decimal('0.01'))", "x = '日本語', '日本'"])
def test_a_coloured_line_is_marked_wherever_it_is_cut(code: str) -> None:
    patch = parse_patch(f"--- a/p.py\n+++ b/p.py\n@@ -1 +1 @@\n-{code}\n")
    document = DiffDocument(patch)
    document.spans = find_spans(patch, document.text)
    index = len(patch.lines) - 1
    whole = cell_width(code) + 2
    for width in range(4, whole + 2):
        pieces, _ = document.render_unified(index, width, 0)
        shown = "".join(text for text, _ in pieces)
        assert cell_width(shown) == width
        assert shown.rstrip().endswith("…") == (width < whole), shown
