"""The live inbox on a terminal: every repository in one view, answers and reviews from there."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from chorus.errors import ExitCode
from chorus.panel.inbox.app import Inbox, InboxSettings
from chorus.panel.inbox.rows import plan_rows, render_row
from chorus.panel.widgets.prompt_card import GUARD_SECONDS
from chorus.text.width import cell_width
from tests.inbox.conftest import OddWatcher, odd_watcher, registered_home, scripted
from tests.panel.harness import key_event
from tests.panel.scripted_watcher import Refusal, ScriptedWatcher
from tests.panel.story import entry, fill, prompt, session
from tests.waiting import DEADLINE_SECONDS

__all__ = ["odd_watcher", "scripted"]  # fixtures

Scripted = Callable[[str], ScriptedWatcher]
HOSTILE = "\x1b[2J\u202e[b]x[/b]"


@dataclass(frozen=True, slots=True)
class InboxHarness:
    app: Inbox
    pilot: Pilot[None]

    def lines(self) -> list[str]:
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        return [strip.crop(0, width).text for strip in strips[:height]]

    def text(self) -> str:
        return "\n".join(self.lines())

    async def until(self, holds: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"{what} did not come; the screen:\n{self.text()}"
            await self.pilot.pause(0.01)

    async def shows(self, words: str) -> None:
        await self.until(lambda: words in self.text(), repr(words))

    async def press(self, *keys: str) -> None:
        for key in keys:
            assert self.app._driver is not None
            self.app._driver.send_message(key_event(key))
            await self.pilot.pause(0.02)

    async def prompt_ready(self, identity: str) -> None:
        """Wait until this prompt is shown, then pretend that it was shown long enough to be answered."""
        card = self.app.card
        await self.until(
            lambda: card.shown and card.shown.prompt.id == identity and card.shown.since, identity
        )
        assert card.shown is not None
        card.shown = replace(card.shown, since=time.monotonic() - GUARD_SECONDS)

    async def on_row(self, kind: str, words: str) -> None:
        rows = self.app.list
        await self.until(lambda: any(r.kind == kind and words in r.left for r in rows.rows), words)
        place = next(i for i, r in enumerate(rows.rows) if r.kind == kind and words in r.left)
        rows.action_move(place - rows.cursor)
        rows.moved_at = 0.0
        await self.pilot.pause()


@asynccontextmanager
async def run_inbox(size: tuple[int, int] = (100, 30), **settings: Any) -> AsyncIterator[InboxHarness]:
    app = Inbox(InboxSettings(**settings))
    async with app.run_test(size=size) as pilot:
        yield InboxHarness(app, pilot)


async def test_each_answer_goes_to_the_repository_of_the_prompt_that_is_shown(scripted: Scripted) -> None:
    shop, web = scripted("shop"), scripted("web")
    for watcher, command in ((shop, "make shop"), (web, "make web")):
        watcher.add_prompt(prompt("7.1.ab", body=command))
    async with run_inbox() as ui:
        await ui.until(lambda: len(ui.app.model.prompts) == 2, "both prompts")
        if ui.app.card.shown and ui.app.card.shown.prompt.id != "shop:7.1.ab":
            await ui.press("p")  # the other watcher was there first
        await ui.prompt_ready("shop:7.1.ab")
        await ui.shows("1 of 2")
        await ui.press("p")
        await ui.prompt_ready("web:7.1.ab")
        assert "chorus approve web:7.1.ab" in ui.text()
        await ui.press("a")
        await ui.until(lambda: web.requests_for("answer"), "the approval")
        await ui.prompt_ready("shop:7.1.ab")
        await ui.press("D")
        await ui.press(*"use ninja".replace(" ", "␣"))
        await ui.press("enter")
        await ui.until(lambda: shop.requests_for("answer"), "the denial")
        await ui.shows("denied")
    (approved,), (denied,) = web.requests_for("answer"), shop.requests_for("answer")
    assert (approved["prompt"], approved["decision"], approved["by"]) == ("7.1.ab", "allow", "inbox")
    assert (denied["prompt"], denied["decision"], denied["message"]) == ("7.1.ab", "deny", "use␣ninja")


async def test_the_help_names_every_key_and_is_no_warning() -> None:
    async with run_inbox((80, 24)) as ui:
        await ui.press("?")
        await ui.shows("q quit")
        assert "esc back" in ui.text()
        assert "x keep" in ui.text()
        assert "! a approve" not in ui.text()


async def test_a_prompt_that_is_gone_when_its_answer_is_sent_gets_none(scripted: Scripted) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("7.1.ab"))
    async with run_inbox() as ui:
        await ui.prompt_ready("shop:7.1.ab")
        ui.app.answers.approve(time.monotonic())
        ui.app.model.prompts.clear()
        ui.app.model.places.clear()
        await ui.shows("answered or withdrawn; nothing was sent")
    assert shop.requests_for("answer") == []


async def test_a_key_pressed_before_the_prompt_was_seen_is_not_taken(scripted: Scripted) -> None:
    shop = scripted("shop")
    async with run_inbox() as ui:
        await ui.press("a")
        await ui.shows("no prompt is pending")
        shop.add_prompt(prompt("p1"))
        await ui.until(lambda: ui.app.card.shown, "the prompt")
        assert ui.app.card.shown is not None
        ui.app.card.shown = replace(ui.app.card.shown, since=time.monotonic() + 60)
        await ui.press("a")
        await ui.shows("has just changed")
    assert shop.requests_for("answer") == []


async def test_actions_are_shown_kept_reverted_and_reopened(scripted: Scripted) -> None:
    shop = scripted("shop")
    fill(shop)
    shop.add_action(entry(900, summary="Add a price"), patch="diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\n")
    async with run_inbox() as ui:
        await ui.press("x")
        await ui.shows("put the cursor on an action")
        await ui.on_row("action", "Add a price")
        await ui.press("enter")
        await ui.shows("new")
        await ui.press("escape", "x")
        await ui.until(lambda: shop.requests_for("keep") == [{"actions": [entry(900)["id"]]}], "kept")
        await ui.shows("press u to undo")
        await ui.press("u")
        await ui.until(
            lambda: shop.requests_for("keep")[1:] == [{"actions": [entry(900)["id"]], "undo": True}],
            "reopened",
        )
        await ui.shows("reopened: ")
        await ui.press("u")
        await ui.shows("nothing to undo")
        await ui.on_row("action", "Add a price")
        await ui.press("r")
        await ui.shows("press r again")
        assert shop.requests_for("revert") == []
        shop.refuse["revert"] = Refusal("later actions touch the same lines: 3", ExitCode.CONFLICT)
        await ui.press("r")
        await ui.shows("touch the same lines: 3")


async def test_every_repository_is_listed_even_if_its_watcher_hangs_or_fails(
    scripted: Scripted, odd_watcher: Callable[..., OddWatcher], tmp_path: Path
) -> None:
    async with run_inbox() as ui:
        await ui.shows("no repository yet")
        shop = scripted("shop")
        shop.sessions["s1"] = session("s1", state="working", title="Add prices")
        registered_home(tmp_path / "asleep")
        odd_watcher("newer", lambda request: b'{"v": 2}\n')
        await ui.shows("Add prices")
        await ui.shows("asleep")
        await ui.shows("no watcher")
        await ui.shows("not a message of protocol version 1")
        assert "no repository yet" not in ui.text()
        shop.stop()
        await ui.until(lambda: "Add prices" not in ui.text(), "the end of its watcher")


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (80, 24), (120, 40), (200, 50)])
async def test_it_fits_every_terminal(scripted: Scripted, size: tuple[int, int]) -> None:
    shop = scripted("shop")
    fill(shop)
    shop.add_prompt(prompt("p1", title=HOSTILE, body=HOSTILE))
    shop.add_action(entry(900, summary=HOSTILE, paths=[HOSTILE]))
    async with run_inbox(size, dark=size[0] != 80, colours=16 if size[0] == 60 else 2**24) as ui:
        await ui.prompt_ready("shop:p1")
        await ui.until(lambda: any(row.kind == "action" for row in ui.app.list.rows), "the actions")
        await ui.pilot.pause()
        assert all(cell_width(line) == size[0] for line in ui.lines())
        assert "\x1b" not in ui.text()
        assert "\u202e" not in ui.text()
        assert "␛[2J<U+202E>[b]x[/b]" in ui.text()
        assert "? help" in ui.text()


async def test_in_ascii_nothing_else_is_drawn(scripted: Scripted) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1"))
    async with run_inbox(ascii=True) as ui:
        await ui.prompt_ready("shop:p1")
        assert len(ui.app.get_line_filters()) >= 1


def test_rows_name_what_they_are_about() -> None:
    repository: Any = {
        "name": "shop",
        "path": "/src/shop",
        "state": "watched",
        "problem": None,
        "prompts": [prompt("p1", input={"command": "make"})],
        "sessions": [session("s1", state="strange", title="")],
        "open": 60,
        "actions": [entry(1, paths=[], summary="Add")],
    }
    rows = plan_rows({"k": repository})
    assert [row.kind for row in rows] == ["repository", "prompt", "session", "action", "more"]
    assert rows[0].right == "1 waiting · 60 open"
    assert rows[1].left.endswith(": make")
    assert rows[4].left == "… 59 more: chorus log --open"
    for width in (1, 10, 40, 200):
        for row in rows:
            assert sum(cell_width(text) for text, _ in render_row(row, width)) <= max(width, 5)
    long: Any = {**repository, "actions": [entry(1, paths=["a/very/long/path/" * 8 + "end.py"])]}
    _, _, (right, _) = render_row(plan_rows({"k": long})[3], 80)
    assert right.endswith("end.py +8 −3 09:14 "), "the end of a path says more"


async def test_a_form_of_questions_says_when_its_prompt_is_gone(scripted: Scripted) -> None:
    shop = scripted("shop")
    shop.add_prompt(
        prompt(
            "p1",
            kind="question",
            options=[{"key": "1", "label": "x", "meaning": "other"}],
            body="",
            input={"questions": [{"question": "Which city?"}, {"question": "Which features?"}]},
        )
    )
    async with run_inbox() as ui:
        await ui.prompt_ready("shop:p1")
        await ui.press("1")
        await ui.shows("Which city?")
        shop.withdraw("p1")
        await ui.shows("This prompt is gone")
    assert shop.requests_for("answer") == []
