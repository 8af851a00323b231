"""Content is shown, never obeyed: whatever a file, a command or a model says."""

import re
import time
from typing import Any

import pytest

from tests.panel.agent import ScriptedAgent
from tests.panel.running import Running, running
from tests.panel.story import entry, prompt, session

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x1bPq#0\x1b\\\x08\r\x00\x7f"
HIDDEN = "a\u202eb\u2066c\u200bd\ufeffe\U000e0041"
MARKUP = "[bold red]b[/bold red] [@click=app.quit]x[/] [link=http://evil]y[/link] [/] [$error] \\[z] {0} %s"
HOSTILE = ESCAPES + HIDDEN + MARKUP
# What the terminal is told to do by the panel itself: colours and attributes, nothing else.
OWN = re.compile(r"\x1b\[[0-9;]*m")


def written(one: Running) -> str:
    """What goes to the terminal for the whole screen."""
    strips = one.panel.screen._compositor.render_strips()
    return "\n".join(strip.render(one.panel.console) for strip in strips)


def assert_inert(one: Running) -> None:
    for line in one.lines():
        assert line.isprintable(), [c for c in line if not c.isprintable()]
    for strip in one.panel.screen._compositor.render_strips():
        for segment in strip:
            assert segment.control is None
            assert segment.style is None or not (segment.style.link or segment.style.meta.get("@click"))


def hostile_patch(text: str) -> str:
    head = f"diff --git a/{text} b/{text}\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ {text}\n"
    return f"{head}-{text}\n+{text}!\n+[b]{text}\n"


def hostile_agent(agent: ScriptedAgent) -> None:
    line = HOSTILE.replace("\n", "")
    fields: dict[str, Any] = {"summary": line, "message": line, "tool": line, "agent": line, "lane": line}
    agent.entries = {n: entry(n, paths=[f"{line}/{n}", line], turn=line, **fields) for n in (1, 2)}
    agent.entries[3] = entry(3, **fields, paths=[], status=line, time=line, source=line)
    agent.patches = {1: hostile_patch(line), 2: "diff --git a/x b/x\n" + line * 3, 3: line}
    agent.sessions = {"s1": session("s1", title=line, lane=line, state=line, pane=line)}
    options = [
        {"key": line, "label": line, "meaning": "other"},
        {"key": "1", "label": line, "meaning": "deny"},
    ]
    agent.prompts = {
        "p": prompt(
            "p", title=line, question=line, body=f"{line}\n{line}", options=options, path=line, tool=line
        )
    }


@pytest.mark.parametrize("size", [(120, 40), (60, 20), (200, 50)])
async def test_nothing_a_session_says_reaches_the_terminal_as_a_command(
    agent: ScriptedAgent, size: tuple[int, int]
) -> None:
    hostile_agent(agent)
    async with running(agent, size) as one:
        await one.prompt_ready("p")
        for key in ("t", "t", "G", "up", "up", "enter", "escape", "y"):
            await one.press(key)
            assert_inert(one)
        agent.say("notice", level=HOSTILE, text=HOSTILE)
        agent.say("progress", what=HOSTILE, done=1, total=2)
        await one.until(lambda: one.panel.model.progress)
        await one.settle()
        assert_inert(one)
        assert "␛" in one.text()
        assert "<U+202E>" in one.text() or size[0] < 100
        assert "\x1b" not in OWN.sub("", written(one))


async def test_forms_show_hostile_words_inert_too(agent: ScriptedAgent) -> None:
    hostile_agent(agent)
    async with running(agent) as one:
        await one.prompt_ready("p")
        await one.press("D")
        await one.settle()
        assert_inert(one)
        await one.press("escape")
        await one.on_row(1)
        await one.press("r")
        await one.shows("Take back")
        assert_inert(one)
        await one.press("escape", "l")
        await one.shows("Land")
        await one.settle()
        assert_inert(one)


async def test_markup_is_text(agent: ScriptedAgent) -> None:
    agent.entries = {
        1: entry(1, summary="[bold]loud[/bold] [@click=app.quit]quit[/]", paths=[], tool="[red]T[/]")
    }
    async with running(agent, (160, 40)) as one:
        await one.shows("[bold]loud[/bold]")
        await one.shows("[red]T[/]")


async def test_a_line_of_a_megabyte_is_cut_with_a_note_and_costs_nothing(agent: ScriptedAgent) -> None:
    million = "x" * 1_000_000
    agent.entries = {1: entry(1, summary=million, message=million, paths=[million])}
    agent.patches = {1: f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{million}\n+{million}y\n"}
    agent.prompts = {"p": prompt("p", body=million, question=million)}
    async with running(agent) as one:
        await one.prompt_ready("p")
        assert all(words in one.text() for words in ("1 Yes", "3 No", "1 open")), one.text()
        await one.press("z")
        await one.until(lambda: one.panel.diff.line_count() > 4, "the diff")
        started = time.process_time()
        for _ in range(20):
            one.panel.screen.refresh()
            await one.settle()
            one.text()
        assert (time.process_time() - started) / 20 < 0.5
        drawn = one.panel.diff.document
        assert drawn.text(2).endswith("characters)")


async def test_a_patch_with_every_byte_is_shown(agent: ScriptedAgent) -> None:
    every = "".join(chr(c) for c in range(0x300) if c != 10) + "\ud800\udcff\U0010ffff"
    agent.entries = {1: entry(1)}
    agent.patches = {1: hostile_patch(every)}
    async with running(agent) as one:
        await one.until(lambda: one.panel.diff.line_count() > 4, "the diff")
        one.panel.diff.focus()
        for _ in range(12):
            await one.press("right")
            assert_inert(one)
