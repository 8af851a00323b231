"""The pictures of the guide: the panel's main states at three sizes. `python -m tests.panel.pictures`.

Each scene is played by the real panel beside a scripted agent. A test plays them again and compares
what they say with what the kept pictures say.
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

from chorus.panel.revert_form import RevertForm
from tests.panel.running import Running, running
from tests.panel.story import prompt, scripted

DIRECTORY = Path(__file__).parent.parent.parent / "docs" / "pictures"
WIDE, MIDDLE, NARROW = (140, 40), (80, 24), (40, 12)


async def asked(one: Running) -> None:
    await one.prompt_ready("p1")
    await diff_read(one)


async def nothing_asked(one: Running) -> None:
    one.agent.withdraw("p1")
    await one.until(lambda: one.panel.card.shown is None)
    await diff_read(one)


async def in_the_diff(one: Running) -> None:
    await nothing_asked(one)
    await one.on_row(44)
    await one.press("enter")
    await one.until(lambda: one.panel.right.display, "the side of the diff")
    await diff_read(one)


async def taking_back(one: Running) -> None:
    await nothing_asked(one)
    await one.on_row(38)
    await one.press("r")
    await one.until(lambda: isinstance(one.panel.screen, RevertForm))
    await one.shows("width = 0")


async def in_the_way(one: Running) -> None:
    one.agent.dependents[38] = [42, 44]
    await nothing_asked(one)
    await one.on_row(38)
    await one.press("r")
    await one.shows("Cannot take back")


async def landing(one: Running) -> None:
    await nothing_asked(one)
    await one.press("l")
    await one.shows("2 commits on main")


async def helped(one: Running) -> None:
    await nothing_asked(one)
    await one.press("question_mark")
    await one.shows("chorus approve ID")


async def kept(one: Running) -> None:
    await nothing_asked(one)
    await one.on_row(38)
    await one.press("k")
    await one.says("kept 38")


async def diff_read(one: Running) -> None:
    if one.panel.right.display:
        await one.until(lambda: one.panel.diff.document.patch.lines, "the diff")
        if not one.panel.look.palette.plain:
            await one.until(lambda: one.panel.diff.document.spans, "its colours")


Scene = tuple[Callable[[Running], Awaitable[None]], tuple[int, int], dict[str, Any]]
SCENES: dict[str, Scene] = {
    "panel-prompt-wide": (asked, WIDE, {}),
    "panel-prompt": (asked, MIDDLE, {}),
    "panel-prompt-narrow": (asked, NARROW, {}),
    "panel-queue-wide": (nothing_asked, WIDE, {}),
    "panel-queue": (nothing_asked, MIDDLE, {}),
    "panel-queue-narrow": (nothing_asked, NARROW, {}),
    "panel-diff-wide": (in_the_diff, (200, 40), {}),
    "panel-diff": (in_the_diff, MIDDLE, {}),
    "panel-diff-narrow": (in_the_diff, NARROW, {}),
    "panel-revert": (taking_back, (100, 34), {}),
    "panel-revert-conflict": (in_the_way, (100, 34), {}),
    "panel-land": (landing, (100, 34), {}),
    "panel-help": (helped, (110, 50), {}),
    "panel-kept": (kept, (100, 30), {}),
    "panel-light": (asked, (120, 40), {"dark": False}),
    "panel-ascii": (asked, (80, 30), {"ascii": True, "colours": 16}),
}


async def play(name: str) -> str:
    """The scene as an SVG picture."""
    scene, size, settings = SCENES[name]
    with tempfile.TemporaryDirectory() as directory:
        agent = scripted(Path(directory))
        agent.prompts["p1"] = prompt("p1")
        async with running(agent, size, **settings) as one:
            await scene(one)
            await one.settle()
            await one.pilot.pause()
            return without_web_fonts(one.panel.export_screenshot(title="chorus panel"))


def without_web_fonts(picture: str) -> str:
    """A picture in the guide loads nothing from elsewhere: the reader's own monospace font will do."""
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def read_words(picture: str) -> list[str]:
    """What a picture says, row by row."""
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
