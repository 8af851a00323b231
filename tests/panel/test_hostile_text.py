"""Text of files, commands and models is shown and never interpreted by the terminal."""

import re
import time
from typing import Any

import pytest
from rich.style import Style

from chorus.errors import ExitCode
from chorus.panel.plain import PlainLog
from chorus.panel.style.theme import ActivePalette, choose_palette
from chorus.panel.widgets.line_pane import render_strip
from chorus.text.sanitize import printable
from tests.panel.harness import PanelHarness, run_panel
from tests.panel.scripted_watcher import Refusal, ScriptedWatcher
from tests.panel.story import entry, lane, outside, prompt, session

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x1bPq#0\x1b\\\x08\r\x00\x7f"
HIDDEN = "a\u202eb\u2066c\u200bd\ufeffe\U000e0041f\u3164g\u2800h\ufe0f"
MARKUP = "[bold red]b[/bold red] [@click=app.quit]x[/] [link=http://evil]y[/link] [/] [$error] \\[z] {0} %s"
HOSTILE = ESCAPES + HIDDEN + MARKUP
# The panel's own control sequences: colours and attributes, nothing else.
OWN = re.compile(r"\x1b\[[0-9;]*m")


def written(ui: PanelHarness) -> str:
    """Return what is written to the terminal for the whole screen."""
    strips = ui.panel.screen._compositor.render_strips()
    return "\n".join(strip.render(ui.panel.console) for strip in strips)


def assert_sanitized(ui: PanelHarness) -> None:
    for line in ui.lines():
        assert printable(line) == line, [c for c in line if printable(c) != c]
    for strip in ui.panel.screen._compositor.render_strips():
        for segment in strip:
            assert segment.control is None
            assert segment.style is None or not (segment.style.link or segment.style.meta.get("@click"))


def hostile_patch(text: str) -> str:
    head = f"diff --git a/{text} b/{text}\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ {text}\n"
    return f"{head}-{text}\n+{text}!\n+[b]{text}\n"


def hostile_watcher(watcher: ScriptedWatcher) -> None:
    line = HOSTILE.replace("\n", "")
    fields: dict[str, Any] = {"summary": line, "message": line, "tool": line, "agent": line, "lane": line}
    watcher.entries = {n: entry(n, paths=[f"{line}/{n}", line], turn=line, **fields) for n in (1, 2)}
    watcher.entries[3] = entry(3, **fields, paths=[], status=line, time=line, source=line)
    watcher.patches = {1: hostile_patch(line), 2: "diff --git a/x b/x\n" + line * 3, 3: line}
    watcher.sessions = {"s1": session("s1", title=line, lane=line, state=line, pane=line)}
    options = [
        {"key": line, "label": line, "meaning": "other"},
        {"key": "1", "label": line, "meaning": "deny"},
    ]
    watcher.prompts = {
        "p": prompt(
            "p", title=line, question=line, body=f"{line}\n{line}", options=options, path=line, tool=line
        )
    }


@pytest.mark.parametrize("size", [(120, 40), (60, 20), (200, 50)])
async def test_no_text_of_a_session_reaches_the_terminal_as_a_control_sequence(
    watcher: ScriptedWatcher, size: tuple[int, int]
) -> None:
    hostile_watcher(watcher)
    async with run_panel(watcher, size) as ui:
        await ui.prompt_ready("p")
        for key in ("t", "t", "G", "up", "up", "enter", "escape", "y"):
            await ui.press(key)
            assert_sanitized(ui)
        watcher.publish("alert", level=HOSTILE, text=HOSTILE)
        watcher.publish("progress", what=HOSTILE, done=1, total=2)
        await ui.until(lambda: ui.panel.model.progress)
        await ui.settle()
        assert_sanitized(ui)
        assert "␛" in ui.text()
        assert "<U+202E>" in ui.text() or size[0] < 100
        assert "\x1b" not in OWN.sub("", written(ui))


async def test_forms_sanitize_hostile_text(watcher: ScriptedWatcher) -> None:
    hostile_watcher(watcher)
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p")
        await ui.press("D")
        await ui.settle()
        assert_sanitized(ui)
        await ui.press("escape")
        await ui.on_row(1)
        await ui.press("r")
        await ui.shows("Revert")
        assert_sanitized(ui)
        await ui.press("escape", "l")
        await ui.shows("Land")
        await ui.settle()
        assert_sanitized(ui)


LINE = HOSTILE.replace("\n", "")
CHOICES = [{"key": str(n), "label": LINE, "meaning": "other"} for n in (1, 2)]
DECISIONS = [
    {"key": "1", "label": LINE, "meaning": "allow"},
    {"key": LINE, "label": LINE, "meaning": "allow-always"},
    {"key": "3", "label": LINE, "meaning": "deny"},
]
QUESTIONS = {"questions": [{"question": LINE, "header": LINE, "options": [{"label": LINE}], LINE: LINE}] * 2}
# Every kind of prompt, from a screen and from a request, with the key that answers it.
PROMPTS: dict[str, tuple[dict[str, Any], str]] = {
    "command": ({"kind": "bash", "tool": "Bash", "body": f"{LINE}\n╌\n {LINE}\n╌\n{LINE}"}, "a"),
    "edit": ({"kind": "edit", "tool": "Edit", "body": f"{LINE}\n╌\n 1 -{LINE}\n 1 +{LINE}\n╌"}, "1"),
    "new file": ({"kind": "create", "tool": "Write", "body": f"{LINE}\n- {LINE}"}, "a"),
    "input alone": ({"kind": "mcp", "tool": LINE, "body": "", "input": {LINE: LINE, "x": [LINE]}}, "A"),
    "a command's input": ({"kind": "bash", "tool": "Bash", "body": "", "input": {"command": LINE}}, "a"),
    "plan": ({"kind": "plan", "tool": "ExitPlanMode", "body": f"# {LINE}\n\n- {LINE}"}, "d"),
    "question": ({"kind": "question", "options": CHOICES, "body": "", "input": QUESTIONS}, "1"),
    "own words": ({"kind": "question", "options": CHOICES, "words": "2", "body": LINE}, "2"),
    "form": ({"kind": "form", "body": LINE, "options": [{**CHOICES[0], "key": "Escape"}]}, "1"),
    "message": ({"kind": "message", "body": f" │ {LINE}", "cut": True}, "a"),
    "network": ({"kind": "network", "body": LINE}, "d"),
    "unknown": ({"kind": "unknown", "tool": None, "body": LINE, "options": []}, "a"),
}


@pytest.mark.parametrize("kind", PROMPTS)
async def test_every_kind_of_prompt_and_its_answer_are_sanitized(watcher: ScriptedWatcher, kind: str) -> None:
    fields, key = PROMPTS[kind]
    shown = {"title": LINE, "question": LINE, "options": DECISIONS, "since": LINE, "pane": LINE, **fields}
    watcher.sessions = {LINE: session(LINE, title=LINE, lane=None, state=LINE)}
    watcher.prompts = {"p": prompt("p", session=LINE, **shown), LINE: prompt(LINE, **shown)}
    watcher.refuse["answer"] = Refusal(HOSTILE, ExitCode.REFUSED, hint=HOSTILE)
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p")
        assert_sanitized(ui)
        assert "␛" in ui.text()
        for pressed in (key, key, "x", "enter", "escape", "p", "down", "z", "z"):
            await ui.press(pressed)
            await ui.settle()
            assert_sanitized(ui)
        del watcher.refuse["answer"]
        await ui.press("d")
        await ui.settle()
        watcher.publish("prompt-gone", id="p", why=HOSTILE)
        await ui.until(lambda: "p" not in ui.panel.model.prompts)
        await ui.settle()
        assert_sanitized(ui)
        assert "\x1b" not in OWN.sub("", written(ui))


async def test_refusals_warnings_and_other_work_trees_are_sanitized(watcher: ScriptedWatcher) -> None:
    undone = {"by": "outside", "whole": False, "lines": 1, "of": 2}
    context = [{"path": LINE, "by": 1, "lines": [1]}]
    fields: dict[str, Any] = {"summary": LINE, "message": LINE, "lane": LINE, "worktree": LINE}
    watcher.entries = {
        1: entry(1, **fields, undone=undone, context=context, within=LINE, reverts=[LINE]),
        2: entry(2, **fields, agent=LINE, source=LINE, commit=LINE),
    }
    watcher.outside = {0: [outside(LINE, summary=LINE, paths=[LINE])], 2: [outside("o2", summary=LINE)]}
    watcher.outside_patch = hostile_patch(LINE)
    watcher.lanes = {LINE: lane(LINE, ref=LINE)}
    watcher.sessions = {f"s{n}": session(f"s{n}", title=LINE, lane=LINE, last=LINE) for n in range(4)}
    refusal = Refusal(HOSTILE, ExitCode.CONFLICT, hint=HOSTILE)
    refusal.details = {"dependents": [2], "conflicts": [{"path": LINE, "why": LINE, "by": 2}]}
    watcher.refuse = dict.fromkeys(("keep", "revert", "redo", "land"), refusal)
    async with run_panel(watcher, (160, 40)) as ui:
        await ui.on_row(1)
        for key in (
            "k",
            "K",
            "u",
            "y",
            "r",
            "escape",
            "l",
            "escape",
            "slash",
            *"ab",
            "escape",
            "t",
            "question_mark",
        ):
            await ui.press(key)
            await ui.settle()
            assert_sanitized(ui)
        await ui.press("escape")
        watcher.stop()
        await ui.until(lambda: ui.panel.model.link == "lost")
        await ui.settle()
        assert_sanitized(ui)


def test_the_plain_log_is_sanitized() -> None:
    log = PlainLog()
    messages: list[dict[str, Any]] = [
        {"event": "alert", "level": HOSTILE, "text": HOSTILE},
        {
            "event": "log",
            "entries": [entry(1, summary=LINE, tool=LINE, status=LINE, time=LINE, paths=[LINE])],
        },
        {"event": "action", "entry": outside(LINE, summary=LINE)},
        {"event": "session", "session": session(LINE, title=LINE, lane=LINE, state=LINE, last=LINE)},
        *(
            {
                "event": "prompt",
                "prompt": prompt(f"{LINE}{n}", title=LINE, question=LINE, since=LINE, **fields),
            }
            for n, (fields, _) in enumerate(PROMPTS.values())
        ),
        {"event": "prompt-gone", "id": f"{LINE}1", "why": HOSTILE},
        {"event": "link", "state": "lost", "text": HOSTILE},
    ]
    printed = [line for message in messages for line in log.feed(message)]
    assert len(printed) > len(messages)
    assert [line for line in printed if not line.isprintable()] == []


def test_a_line_that_nobody_has_sanitized_is_made_visible_where_it_is_drawn() -> None:
    palette = ActivePalette(choose_palette(dark=True, colours=256))
    strip = render_strip([(HOSTILE, ""), ("f\u3164g", "")], "", 500, palette, Style())
    assert printable(strip.text) == strip.text
    assert "f<U+3164>g" in strip.text


async def test_markup_is_shown_as_text(watcher: ScriptedWatcher) -> None:
    watcher.entries = {
        1: entry(1, summary="[bold]loud[/bold] [@click=app.quit]quit[/]", paths=[], tool="[red]T[/]")
    }
    async with run_panel(watcher, (160, 40)) as ui:
        await ui.shows("[bold]loud[/bold]")
        await ui.shows("[red]T[/]")


async def test_a_line_of_a_megabyte_is_cut_and_drawn_quickly(watcher: ScriptedWatcher) -> None:
    million = "x" * 1_000_000
    watcher.entries = {1: entry(1, summary=million, message=million, paths=[million])}
    watcher.patches = {1: f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{million}\n+{million}y\n"}
    watcher.prompts = {"p": prompt("p", body=million, question=million)}
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p")
        assert all(words in ui.text() for words in ("1 Yes", "3 No", "1 open")), ui.text()
        await ui.press("z")
        await ui.until(lambda: ui.view.diff.line_count() > 4, "the diff")
        started = time.process_time()
        for _ in range(20):
            ui.panel.screen.refresh()
            await ui.settle()
            ui.text()
        assert (time.process_time() - started) / 20 < 0.5
        drawn = ui.view.diff.document
        assert drawn.text(2).endswith("characters)")


async def test_a_patch_with_every_byte_is_shown(watcher: ScriptedWatcher) -> None:
    every = "".join(chr(c) for c in range(0x300) if c != 10) + "\ud800\udcff\U0010ffff"
    watcher.entries = {1: entry(1)}
    watcher.patches = {1: hostile_patch(every)}
    async with run_panel(watcher) as ui:
        await ui.until(lambda: ui.view.diff.line_count() > 4, "the diff")
        ui.view.diff.focus()
        for _ in range(12):
            await ui.press("right")
            assert_sanitized(ui)
