"""The pictures of the guide: the panel's main states at three sizes. `python -m tests.panel.pictures`.

Each scene is played by the real panel with a scripted watcher. A test plays them again and compares
their text with that of the kept pictures.
"""

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path
from typing import Any

from chorus.panel.forms.revert_form import RevertForm
from chorus.panel.widgets.queue_rows import key_of
from chorus.panel.widgets.syntax import find_spans
from tests.panel.harness import PanelHarness, run_panel
from tests.panel.story import prompt, story_watcher

DIRECTORY = Path(__file__).parent.parent.parent / "docs" / "pictures"
WIDE, MIDDLE, NARROW = (140, 40), (80, 24), (40, 12)


async def prompt_shown(ui: PanelHarness) -> None:
    await ui.prompt_ready("p1")
    await diff_read(ui)


async def queue_shown(ui: PanelHarness) -> None:
    ui.watcher.withdraw("p1")
    await ui.until(lambda: ui.view.card.shown is None)
    await diff_read(ui)


async def diff_opened(ui: PanelHarness) -> None:
    await queue_shown(ui)
    await ui.on_row(44)
    await ui.press("enter")
    await ui.until(lambda: ui.view.right.display, "the side of the diff")
    await diff_read(ui)


async def revert_preview(ui: PanelHarness) -> None:
    await queue_shown(ui)
    await ui.on_row(38)
    await ui.press("r")
    await ui.until(lambda: isinstance(ui.panel.screen, RevertForm))
    await ui.shows("width = 0")


async def revert_conflict(ui: PanelHarness) -> None:
    ui.watcher.dependents[38] = [42, 44]
    await queue_shown(ui)
    await ui.on_row(38)
    await ui.press("r")
    await ui.shows("Cannot revert")


async def land_form(ui: PanelHarness) -> None:
    await queue_shown(ui)
    await ui.press("l")
    await ui.shows("2 commits on main")


async def help_shown(ui: PanelHarness) -> None:
    await queue_shown(ui)
    await ui.press("question_mark")
    await ui.shows("chorus approve ID")


async def action_kept(ui: PanelHarness) -> None:
    await queue_shown(ui)
    await ui.on_row(38)
    await ui.press("x")
    await ui.status_shows("kept 38")
    await ui.until(lambda: ui.panel.model.entries[38].status == "kept", "the mark on its row")
    await ui.until(lambda: ui.view.queue.row and key_of(ui.view.queue.row) == 40, "the next open action")
    await diff_read(ui)


async def diff_read(ui: PanelHarness) -> None:
    """Wait for the diff of the row under the cursor, and for its colours."""
    await ui.settle()  # the move of the cursor
    if ui.view.right.display:
        details, diff = ui.view.details, ui.view.diff
        await ui.until(lambda: details.patch is not None and diff.document.patch is details.patch, "the diff")
        if not ui.panel.active_palette.current.plain:
            document = diff.document
            colours = find_spans(document.patch, document.text)
            await ui.until(lambda: document.spans == colours, "its colours")


Scene = tuple[Callable[[PanelHarness], Awaitable[None]], tuple[int, int], dict[str, Any]]
SCENES: dict[str, Scene] = {
    "panel-prompt-wide": (prompt_shown, WIDE, {}),
    "panel-prompt": (prompt_shown, MIDDLE, {}),
    "panel-prompt-narrow": (prompt_shown, NARROW, {}),
    "panel-queue-wide": (queue_shown, WIDE, {}),
    "panel-queue": (queue_shown, MIDDLE, {}),
    "panel-queue-narrow": (queue_shown, NARROW, {}),
    "panel-diff-wide": (diff_opened, (200, 40), {}),
    "panel-diff": (diff_opened, MIDDLE, {}),
    "panel-diff-narrow": (diff_opened, NARROW, {}),
    "panel-revert": (revert_preview, (100, 34), {}),
    "panel-revert-conflict": (revert_conflict, (100, 34), {}),
    "panel-land": (land_form, (100, 34), {}),
    "panel-help": (help_shown, (120, 54), {}),
    "panel-kept": (action_kept, (100, 30), {}),
    "panel-light": (prompt_shown, (120, 40), {"dark": False}),
    "panel-ascii": (prompt_shown, (80, 30), {"ascii": True, "colours": 16}),
}


async def play(name: str) -> str:
    """Return the scene as an SVG picture."""
    scene, size, settings = SCENES[name]
    with tempfile.TemporaryDirectory() as directory:
        watcher = story_watcher(Path(directory))
        watcher.prompts["p1"] = prompt("p1")
        async with run_panel(watcher, size, **settings) as ui:
            await scene(ui)
            await ui.settle()
            await ui.pilot.pause()
            return without_web_fonts(ui.panel.export_screenshot(title="chorus panel"))


def without_web_fonts(picture: str) -> str:
    """Remove the fonts a picture would load from the web: the reader's own monospace font will do."""
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def read_picture(picture: str) -> list[str]:
    """Return the text of a picture, row by row."""
    found = re.findall(r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', picture)
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in found:
        rows.setdefault(float(y), []).append((float(x), unescape(text).replace("\xa0", " ")))
    return ["".join(text for _, text in sorted(row)).rstrip() for _, row in sorted(rows.items())]


def main() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for name in SCENES:
        (DIRECTORY / f"{name}.svg").write_text(asyncio.run(play(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
