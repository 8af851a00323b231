"""Any terminal there is: narrow, short, huge, few colours or none, ASCII, resized while it draws."""

import re

import pytest

from chorus.panel.glyphs import to_ascii, wants_ascii
from chorus.panel.palette import choose_palette, count_colours, is_dark
from tests.panel.agent import ScriptedAgent
from tests.panel.running import running
from tests.panel.story import entry, prompt

SIZES = [(40, 12), (20, 5), (1, 1), (80, 24), (120, 40), (300, 12), (300, 100), (40, 100)]


async def test_the_panel_stands_at_every_size_and_while_it_changes(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        for n, (width, height) in enumerate(SIZES * 2):
            await one.pilot.resize_terminal(width, height)
            if n % 3 == 0:
                agent.act(entry(100 + n, turn="t9"))
            if n % 5 == 0:
                agent.prompt(prompt("p1", fingerprint=f"f{n}"))
            await one.settle()
            lines = one.lines()
            assert len(lines) == height
            assert max(map(len, lines)) <= width
        await one.pilot.resize_terminal(100, 30)
        await one.shows("Do you want to proceed?")


async def test_under_a_form_the_panel_is_arranged_for_the_size_it_has(agent: ScriptedAgent) -> None:
    async with running(agent, (80, 24)) as one:
        parts = (one.panel.sessions, one.panel.queue, one.panel.diff, one.panel.key_bar)
        before = [part.size for part in parts]
        assert all(size.area for size in before)
        await one.press("question_mark")
        for size in ((40, 12), (1, 1), (80, 24)):
            await one.pilot.resize_terminal(*size)
            await one.settle()
        await one.press("escape")
        await one.until(lambda: [part.size for part in parts] == before, "the arrangement of before")


@pytest.mark.parametrize("size", [(40, 12), (40, 16), (80, 24), (300, 100)])
async def test_an_open_prompt_shows_its_command_question_and_options_at_any_size(
    agent: ScriptedAgent, size: tuple[int, int]
) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent, size) as one:
        await one.prompt_ready("p1")
        for words in ("rm -rf build", "Do you want to proceed?", "1 Yes", "3 No"):
            assert words in one.text(), one.text()


async def test_beside_a_client_in_80_columns_nothing_is_cut_in_half(agent: ScriptedAgent) -> None:
    """The panel has some thirty columns there: what does not fit makes way for what does."""
    agent.prompts["p1"] = prompt("p1")
    async with running(agent, (32, 23)) as one:
        await one.prompt_ready("p1")
        assert "Bash command" in one.text()
        assert not re.search(r"\d…", one.text()), "half a time"
        await one.press("A")
        await one.until(lambda: one.panel.status.said.level == "done")
        await one.shows("✓ approved: Yes, and don't ask")
        assert "README.md" in one.text()
        assert "parser.py" in one.text()


async def test_in_ascii_everything_on_screen_is_ascii(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1", body="naïve – “quoted” 日本語")
    async with running(agent, (120, 40), ascii=True) as one:
        await one.prompt_ready("p1")
        for key in ("t", "question_mark", "escape", "colon", "escape", "l", "escape"):
            await one.press(key)
            await one.settle()
            assert one.text().isascii(), [c for c in one.text() if not c.isascii()]
        assert 'naive - "quoted" ??????' in one.text()


@pytest.mark.parametrize("colours", [0, 16])
async def test_with_few_colours_or_none_the_terminals_own_are_used(
    agent: ScriptedAgent, colours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")
    agent.prompts["p1"] = prompt("p1")
    async with running(agent, colours=colours) as one:
        await one.prompt_ready("p1")
        styles = [s.style for strip in one.panel.screen._compositor.render_strips() for s in strip if s.style]
        used = {c for style in styles for c in (style.color, style.bgcolor) if c is not None}
        assert all(c.is_default or ((c.number or 0) < 16 and c.triplet is None) for c in used), used
        if not colours:
            assert all(c.is_default for c in used), used
        cursor = [style for style in styles if style.reverse]
        assert cursor, "the cursor can be seen without colour"


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("colours", [256, 2**24])
def test_every_style_can_be_read_on_its_background(dark: bool, colours: int) -> None:
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


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
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
def test_the_locale_says_whether_unicode_can_be_shown(environment: dict[str, str], ascii_only: bool) -> None:
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
def test_the_terminal_says_how_many_colours_it_has(environment: dict[str, str], colours: int) -> None:
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
def test_what_the_person_says_of_the_background_comes_before_what_the_terminal_says(
    environment: dict[str, str], theme: str, dark: bool
) -> None:
    assert is_dark(environment, theme) is dark


def test_ascii_keeps_the_width() -> None:
    assert to_ascii("▾ ✓ é 日") == "v + e ??"
