"""Any terminal: narrow, short, huge, with few colours or none, ASCII, resized while the panel draws."""

import re

import pytest

from chorus.panel import app
from chorus.panel.style.labels import to_ascii, wants_ascii
from chorus.panel.style.theme import choose_palette, count_colours, is_dark
from tests.panel.harness import run_panel
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import entry, prompt

SIZES = [(40, 12), (20, 5), (1, 1), (80, 24), (120, 40), (300, 12), (300, 100), (40, 100)]


async def test_the_panel_fits_every_size_and_survives_resizing(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        for n, (width, height) in enumerate(SIZES * 2):
            await ui.pilot.resize_terminal(width, height)
            if n % 3 == 0:
                watcher.add_action(entry(100 + n, turn="t9"))
            if n % 5 == 0:
                watcher.add_prompt(prompt("p1", fingerprint=f"f{n}"))
            await ui.settle()
            lines = ui.lines()
            assert len(lines) == height
            assert max(map(len, lines)) <= width
        await ui.pilot.resize_terminal(100, 30)
        await ui.shows("Do you want to proceed?")


async def test_the_cursor_stays_visible_whatever_makes_the_queue_smaller(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (80, 24)) as ui:
        await ui.press("G")
        await ui.settle()
        queue = ui.view.queue
        queue.styles.max_height = 3
        await ui.until(lambda: queue.size.height == 3, "the smaller queue")
        await ui.until(
            lambda: queue.scroll_offset.y <= queue.cursor < queue.scroll_offset.y + 3, "the row of the cursor"
        )


async def test_the_panel_under_a_form_follows_a_resize(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (80, 24)) as ui:
        parts = (ui.view.sessions, ui.view.queue, ui.view.diff, ui.view.key_bar)
        before = [part.size for part in parts]
        assert all(size.area for size in before)
        await ui.press("question_mark")
        for size in ((40, 12), (1, 1), (80, 24)):
            await ui.pilot.resize_terminal(*size)
            await ui.settle()
        await ui.press("escape")
        await ui.until(lambda: [part.size for part in parts] == before, "the arrangement of before")


async def test_what_is_typed_on_after_the_client_has_ended_does_nothing(
    watcher: ScriptedWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pane closes; the panel gets its place and the keyboard."""
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher, (60, 24)) as ui:
        await ui.prompt_ready("p1")
        monkeypatch.setattr(app, "PAUSE_SECONDS", 30.0)
        await ui.pilot.resize_terminal(120, 24)
        await ui.press("a", "space", "x", "d", "1", "u")
        await ui.status_shows("the panel has just grown: pause for a second, then press again")
        monkeypatch.setattr(app, "PAUSE_SECONDS", 0.0)
        await ui.pilot.resize_terminal(121, 24)
        await ui.press("a")
        assert (await ui.requested("answer"))["decision"] == "allow"
        assert [watcher.requests_for(do) for do in ("keep", "revert", "undo", "redo")] == [[]] * 4
        assert len(watcher.requests_for("answer")) == 1


@pytest.mark.parametrize("size", [(40, 12), (40, 16), (80, 24), (300, 100)])
async def test_a_prompt_shows_its_command_question_and_options_at_any_size(
    watcher: ScriptedWatcher, size: tuple[int, int]
) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher, size) as ui:
        await ui.prompt_ready("p1")
        for words in ("rm -rf build", "Do you want to proceed?", "1 Yes", "3 No"):
            assert words in ui.text(), ui.text()


async def test_in_little_room_long_options_leave_room_for_the_command(watcher: ScriptedWatcher) -> None:
    asked = prompt("p1", body="╌\n python3 -m pytest -q tests\n╌\n description: Run the tests")
    asked["options"][1]["label"] = "Yes, and allow Bash(python3 -m pytest -q tests) always in this project"
    watcher.prompts["p1"] = asked
    async with run_panel(watcher, (40, 11)) as ui:
        await ui.prompt_ready("p1")
        for words in ("python3 -m pytest -q tests", "Run the tests", "Do you want to proceed?", "3 No"):
            assert words in ui.text(), ui.text()
        await ui.press("a")
        await ui.until(lambda: ui.view.status.current.level == "done")


async def test_the_key_bar_offers_only_answers_the_prompt_takes(watcher: ScriptedWatcher) -> None:
    asked = prompt("p1")
    del asked["options"][1]
    watcher.prompts["p1"] = asked
    async with run_panel(watcher, (60, 14)) as ui:
        await ui.prompt_ready("p1")
        await ui.shows("a approve  d deny")
        assert "always" not in ui.text()


async def test_beside_a_client_in_80_columns_nothing_is_cut_in_half(watcher: ScriptedWatcher) -> None:
    """The panel has about thirty columns there: what does not fit is left out."""
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher, (32, 23)) as ui:
        await ui.prompt_ready("p1")
        assert "Bash command" in ui.text()
        assert not re.search(r"\d…", ui.text()), "half a time"
        await ui.press("A")
        await ui.until(lambda: ui.view.status.current.level == "done")
        await ui.shows("✓ approved: Yes, and don't ask")
        assert "README.md" in ui.text()
        assert "parser.py" in ui.text()


async def test_a_line_that_is_cut_is_marked(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (25, 24)) as ui:
        await ui.on_row(38)
        await ui.shows("09:14  accept")
        (row,) = [line for line in ui.lines() if "09:14  accept" in line]
        assert "accept-tabs" not in row
        assert row.rstrip().endswith("…")
        await ui.press("l")
        await ui.shows("● by turn")
        (row,) = [line for line in ui.lines() if "● by turn" in line]
        assert "all in one" not in row
        assert "…" in row


async def test_in_ascii_everything_on_screen_is_ascii(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1", body="naïve – “quoted” 日本語")
    async with run_panel(watcher, (120, 40), ascii=True) as ui:
        await ui.prompt_ready("p1")
        for key in ("t", "question_mark", "escape", "colon", "escape", "l", "escape"):
            await ui.press(key)
            await ui.settle()
            assert ui.text().isascii(), [c for c in ui.text() if not c.isascii()]
        assert 'naive - "quoted" ??????' in ui.text()


@pytest.mark.parametrize("colours", [0, 16])
async def test_with_few_colours_or_none_the_terminals_own_are_used(
    watcher: ScriptedWatcher, colours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher, colours=colours) as ui:
        await ui.prompt_ready("p1")
        styles = [s.style for strip in ui.panel.screen._compositor.render_strips() for s in strip if s.style]
        used = {c for style in styles for c in (style.color, style.bgcolor) if c is not None}
        assert all(c.is_default or ((c.number or 0) < 16 and c.triplet is None) for c in used), used
        if not colours:
            assert all(c.is_default for c in used), used
        cursor = [style for style in styles if style.reverse]
        assert cursor, "the cursor can be seen without colour"


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("colours", [256, 2**24])
def test_every_style_has_enough_contrast(dark: bool, colours: int) -> None:
    palette = choose_palette(dark=dark, colours=colours)
    background = palette.colours["background"]
    for name in (
        "",
        "muted",
        "heading",
        "open",
        "kept",
        "failed",
        "waiting",
        "key",
        "command",
        "plus",
        "minus",
    ):
        style = palette.style(name)
        assert style.color is not None
        assert _contrast(style.color.get_truecolor().hex, background) >= 4.0, name
    for name in ("added", "removed", "card", "cursor"):
        style = palette.style(name)
        under = style.bgcolor.get_truecolor().hex if style.bgcolor else background
        assert style.color is not None
        assert _contrast(style.color.get_truecolor().hex, under) >= 4.5, name


def _contrast(ui: str, other: str) -> float:
    light, dark = sorted((_luminance(ui), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize(
    ("environment", "ascii_only"),
    [
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C"}, True),
        ({}, True),
        ({"LANG": "C", "LC_ALL": "C.utf8"}, False),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
    ],
)
def test_the_locale_decides_whether_unicode_is_shown(environment: dict[str, str], ascii_only: bool) -> None:
    assert wants_ascii(environment) is ascii_only


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, 2**24),
        ({"TERM": "tmux-256color"}, 256),
        ({"TERM": "screen"}, 16),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, 0),
        ({"TERM": "dumb"}, 0),
    ],
)
def test_the_number_of_colours_comes_from_the_environment(environment: dict[str, str], colours: int) -> None:
    assert count_colours(environment) == colours


@pytest.mark.parametrize(
    ("environment", "theme", "dark"),
    [
        ({}, "auto", True),
        ({"COLORFGBG": "0;15"}, "auto", False),
        ({"COLORFGBG": "15;0"}, "auto", True),
        ({"COLORFGBG": "0;15"}, "dark", True),
        ({"CHORUS_THEME": "light"}, "auto", False),
        ({"CHORUS_THEME": "light"}, "dark", True),
    ],
)
def test_the_users_theme_comes_before_the_terminals_background(
    environment: dict[str, str], theme: str, dark: bool
) -> None:
    assert is_dark(environment, theme) is dark


def test_ascii_keeps_the_width() -> None:
    assert to_ascii("▾ ✓ é 日 🔎") == "v + e ?? > "
