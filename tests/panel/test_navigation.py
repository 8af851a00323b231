from typing import Any

import pytest
from textual.events import Key

from chorus.panel.forms.help_screen import HelpScreen
from chorus.panel.keys import ALL_KEYS, MOVE_KEYS
from chorus.panel.widgets.line_pane import TextPane
from chorus.panel.widgets.queue_rows import Scope, TurnRow
from tests.panel.harness import PanelHarness, run_panel
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import PARSER, README, entry, outside, prompt, session


def at(ui: PanelHarness) -> Any:
    row = ui.view.queue.row
    return row.group[1] if isinstance(row, TurnRow) else row.entry.n if row else None


MOVES: list[tuple[str, Any]] = [
    ("G", 44),
    ("g", "t1"),
    ("g down", 37),
    ("g j", 37),
    ("g ctrl+n", 37),
    ("G up", 42),
    ("G ctrl+p", 42),
    ("g pagedown", 44),
    ("G pageup", "t1"),
    ("g ctrl+d", 44),
    ("G ctrl+u", "t1"),
    ("g home", "t1"),
    ("g end", 44),
    ("g n", 38),
    ("g n n", 40),
    ("G N", 42),
    ("g right_square_bracket", "t2"),
    ("G left_square_bracket", "t3"),
    ("G left", "t3"),
    ("g enter down", "t2"),
    ("G k", 42),
    ("g minus G", "t3"),
    ("g minus equals_sign down", 37),
    ("g left right down", 37),
    ("G enter escape up", 42),
]


async def test_keys_move_the_cursor(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        for keys, row in MOVES:
            await ui.press(*keys.split())
            assert at(ui) == row, keys
            ui.view.queue.action_fold_all(False)


async def test_the_cursor_follows_the_newest_action_until_the_user_moves_it(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        assert at(ui) == 44
        watcher.add_action(entry(45, turn="t3"), PARSER)
        await ui.until(lambda: at(ui) == 45)
        await ui.press("up", "up")
        watcher.add_action(entry(46, turn="t3"), PARSER)
        await ui.until(lambda: 46 in ui.panel.model.entries)
        assert at(ui) == 42


async def test_the_cursor_stays_on_its_action_when_rows_come_before_it(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(40)
        watcher.add_action(entry(46, turn="t1"), PARSER)
        await ui.until(lambda: 46 in ui.panel.model.entries)
        assert at(ui) == 40


async def test_while_the_filter_is_typed_only_its_own_keys_are_offered(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (80, 24)) as ui:
        await ui.shows("x keep")
        await ui.press("slash")
        await ui.shows("enter to the queue  esc clear")
        assert "x keep" not in ui.text()
        await ui.press("enter")
        await ui.shows("x keep")
        await ui.press("slash", "escape")
        await ui.shows("x keep")


async def test_slash_filters_enter_keeps_the_filter_and_escape_ends_it(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.press("slash", *"readme")
        await ui.until(lambda: len(ui.view.queue.rows) == 2)
        await ui.press("enter")
        assert ui.view.queue.has_focus
        assert "/readme" in ui.text()
        await ui.press("escape")
        await ui.until(lambda: len(ui.view.queue.rows) > 2)
        assert not ui.view.filter.display


async def test_escape_inside_the_filter_shows_everything_again(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        rows = len(ui.view.queue.rows)
        await ui.press("slash", *"zzz")
        await ui.until(lambda: not ui.view.queue.rows)
        await ui.press("escape")
        await ui.until(lambda: len(ui.view.queue.rows) == rows)
        assert ui.view.queue.has_focus


async def test_t_switches_between_changes_open_and_all(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        counts, headings = [], []
        for _ in range(3):
            await ui.press("t")
            counts.append((ui.view.queue.view.scope, len(ui.view.queue.rows)))
            headings.append("".join(text for text, _ in ui.view.queue_heading.right))
        assert counts == [(Scope.OPEN, 7), (Scope.EVERYTHING, 11), (Scope.CHANGES, 9)]
        assert headings == ["only open", "all", ""], "the words of the key bar: changes/open/all"


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({"error": "API Error: 529 Overloaded"}, "API Error: 529 Overloaded"),
        ({"error": "retrying after 429 rate_limit (2 of 10)"}, "retrying after 429 rate_limit (2 of 10)"),
        ({"error": None, "limit": "reached until 2026-01-02T11:00+00:00"}, "rate limit: reached until 2026"),
    ],
)
async def test_a_session_says_why_its_last_turn_failed(
    watcher: ScriptedWatcher, told: dict[str, str | None], shown: str
) -> None:
    async with run_panel(watcher, (120, 30)) as ui:
        watcher.publish("session", session=session("s1", state="idle", **told))
        await ui.shows(shown)
        assert "Make the parser accept" in ui.lines()[0]
        assert "$0.42" in ui.lines()[0]
        watcher.publish("session", session=session("s1", state="idle", error=None, limit=None))
        await ui.until(lambda: shown not in ui.text(), "the row without it")


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [(160, "claude-opus-5 · acceptEdits · 45k of 200k in context · 11m"), (100, "  11m")],
)
async def test_a_wide_session_row_says_model_mode_and_context(
    watcher: ScriptedWatcher, columns: int, wanted: str
) -> None:
    about = {"model": "claude-opus-5", "mode": "acceptEdits", "context": 45_000, "window": 200_000}
    async with run_panel(watcher, (columns, 30)) as ui:
        watcher.publish("session", session=session("s1", state="idle", **about))
        await ui.until(lambda: "working" not in ui.lines()[0], "the new state")
        assert wanted in ui.lines()[0]
        assert "Make the parser accept tabs" in ui.lines()[0]
        assert ("acceptEdits" in ui.lines()[0]) == (columns == 160)


async def test_s_or_a_click_shows_one_session(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.press("s")
        assert ui.view.queue.view.session == "s1"
        await ui.press("s")
        assert [at(ui), ui.view.queue.view.session] == [40, "s2"]
        await ui.press("s")
        assert ui.view.queue.view.session is None
        await ui.pilot.click(ui.view.sessions, offset=(3, 1))
        assert ui.view.queue.view.session == "s2"
        await ui.pilot.click(ui.view.sessions, offset=(3, 1))
        assert ui.view.queue.view.session is None


async def test_the_mouse_selects_folds_and_opens(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        queue = ui.view.queue
        await ui.pilot.click(queue, offset=(10, 2))
        assert at(ui) == 38
        await ui.pilot.click(queue, offset=(0, 0))
        assert [len(queue.rows), at(ui)] == [6, "t1"]
        await ui.pilot.click(queue, offset=(10, 2), times=2)
        await ui.until(lambda: ui.view.diff.has_focus)


async def test_a_key_in_the_bar_can_be_clicked(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        x = ui.lines()[-1].index("keep")
        await ui.pilot.click(ui.view.key_bar, offset=(x, 0))
        assert await ui.requested("keep") == {"actions": [38]}


async def test_the_diff_of_the_selected_action_is_shown_and_read_once(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(40)
        await ui.shows("Parses indented text, with blanks or tabs.")
        await ui.on_row(42)
        await ui.shows("test_a_tab_counts_to_the_next_stop")
        asked = len(watcher.requests_for("show"))
        await ui.on_row(40)
        await ui.shows("Parses indented text, with blanks or tabs.")
        assert {request["action"] for request in watcher.requests_for("show")[asked:]} <= {37, 38, 39}, (
            "40 is known"
        )


async def test_everything_includes_outside_changes_which_cannot_be_reviewed(
    watcher: ScriptedWatcher,
) -> None:
    watcher.outside, watcher.outside_patch = {44: [outside("0d1e")]}, README
    async with run_panel(watcher) as ui:
        assert "outside" not in ui.text()
        await ui.press("t", "t", "G")
        await ui.shows("~ outside")
        await ui.shows("with blanks or tabs")
        await ui.on_row(ui.view.queue.entry.n if ui.view.queue.entry else 0)
        for key in ("x", "r"):
            await ui.press(key)
            await ui.status_shows("this is an outside change")
        assert not watcher.requests_for("keep")
        assert not watcher.requests_for("revert")
        watcher.publish("action", entry=outside("0d1f", paths=["notes.txt"]))
        await ui.shows("notes.txt")
        await ui.press("t")
        await ui.until(lambda: "notes.txt" not in ui.text())


async def test_ten_thousand_actions_can_be_scrolled_from_end_to_end(watcher: ScriptedWatcher) -> None:
    watcher.entries = {n: entry(n, turn=f"t{n // 12}") for n in range(1, 10_001)}
    async with run_panel(watcher) as ui:
        queue = ui.view.queue
        assert queue.show_vertical_scrollbar
        await ui.shows("10000 ○")
        watcher.add_action(entry(10_001, turn="t900", message="One more"))
        await ui.shows("10001 ○")
        await ui.press("pageup", "pageup", "g")
        await ui.shows("  1 ○")
        await ui.press("pagedown", "G")
        await ui.shows("10000 ○")
        assert queue.scroll_offset.y == queue.max_scroll_y == len(queue.rows) - queue.size.height


async def test_a_cursor_that_passes_by_requests_no_diff(watcher: ScriptedWatcher) -> None:
    for n in range(100, 160):
        watcher.entries[n] = entry(n, turn="t9")
    async with run_panel(watcher) as ui:
        await ui.press("g")
        asked = len(watcher.requests_for("show"))
        for _ in range(60):
            ui.panel.post_message(Key("down", None))
        await ui.until(lambda: len(watcher.requests_for("show")) > asked)
        assert len(watcher.requests_for("show")) - asked < 30


async def test_enter_goes_to_the_diff_and_back_and_z_zooms_it(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (80, 24)) as ui:
        await ui.on_row(40)
        await ui.press("enter")
        await ui.until(lambda: ui.view.diff.has_focus)
        await ui.shows("with blanks or tabs")
        await ui.press("enter")
        await ui.until(lambda: ui.view.queue.has_focus)
        await ui.press("z")
        await ui.until(lambda: ui.view.diff.size.height > 18)
        watcher.publish("session", session=session("s1", state="idle"))
        await ui.until(lambda: ui.panel.model.sessions["s1"].state == "idle")
        await ui.settle()
        assert ui.view.diff.size.height > 18, "news do not take the room away"
        await ui.press("z")
        await ui.until(lambda: ui.view.queue.has_focus)


async def test_under_a_zoomed_diff_a_prompt_keeps_a_line_and_is_shown_before_it_is_answered(
    watcher: ScriptedWatcher,
) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher, (80, 24)) as ui:
        await ui.prompt_ready("p1")
        await ui.press("z")
        await ui.until(lambda: ui.view.diff.size.height > 15 and ui.view.card.size.height == 1)
        await ui.shows("def token")
        await ui.press("a")
        await ui.status_shows("press again")
        await ui.shows("Do you want to proceed?")
        assert not watcher.requests_for("answer")
        await ui.press("z")
        await ui.until(lambda: ui.view.card.small)
        watcher.withdraw("p1")
        watcher.add_prompt(prompt("p2", question="And now?"))
        await ui.shows("And now?")


async def test_the_cursor_of_the_diff_moves_by_the_same_keys_and_the_diff_scrolls_with_it(
    watcher: ScriptedWatcher,
) -> None:
    long = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,99 @@\n" + "".join(
        f"+{n:0200}\n" for n in range(99)
    )
    watcher.patches[44] = long
    async with run_panel(watcher, (80, 20)) as ui:
        await ui.press("G", "enter")
        await ui.until(lambda: ui.view.diff.has_focus)
        await ui.until(lambda: ui.view.diff.line_count() > 90)
        await ui.press("g", "j", "ctrl+n", "down")
        await ui.until(lambda: ui.view.diff.cursor == 3)
        await ui.press("up", "ctrl+p")
        await ui.until(lambda: ui.view.diff.cursor == 1)
        await ui.press("pagedown", "pagedown")
        await ui.until(lambda: ui.view.diff.scroll_offset.y > 0)
        await ui.press("G")
        await ui.until(lambda: ui.view.diff.scroll_offset.y > 50)
        await ui.press("g")
        await ui.until(lambda: (ui.view.diff.cursor, ui.view.diff.scroll_offset.y) == (0, 0))
        await ui.press("right", "right")
        assert ui.view.diff.column_offset == 16
        await ui.press("left", "left", "left")
        assert ui.view.diff.column_offset == 0


async def test_a_wide_diff_is_side_by_side_and_v_switches(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (220, 50)) as ui:
        await ui.on_row(38)
        await ui.shows("return self._tokens[self._at]")
        both = [line for line in ui.lines() if "_tokens[0]" in line]
        assert "_tokens[self._at]" in both[0]
        ui.view.diff.focus()
        await ui.press("v")
        await ui.until(lambda: not any("[0]" in line and "[self._at]" in line for line in ui.lines()))


async def test_tab_cycles_the_focus(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.press("tab")
        assert ui.view.diff.has_focus
        await ui.press("tab")
        assert ui.view.queue.has_focus


async def test_help_shows_every_key_with_its_command(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (120, 60)) as ui:
        await ui.press("question_mark")
        assert isinstance(ui.panel.screen, HelpScreen)
        for words in (
            "chorus approve ID --always",
            "chorus revert N",
            "chorus land LANE",
            "next, previous turn",
        ):
            await ui.shows(words)
        await ui.press("escape")
        assert not isinstance(ui.panel.screen, HelpScreen)


@pytest.mark.parametrize("size", [(30, 120), (40, 120), (62, 120), (47, 35), (48, 35), (60, 20)])
async def test_in_a_narrow_pane_the_help_is_wrapped_and_complete(
    watcher: ScriptedWatcher, size: tuple[int, int]
) -> None:
    async with run_panel(watcher, size) as ui:
        await ui.press("question_mark")
        await ui.until(lambda: isinstance(ui.panel.screen, HelpScreen))
        await ui.settle()
        shown = ui.wrapped_text("keys").replace(" ", "")  # a long word may be broken
        for words in (*(key.help for key in ALL_KEYS), *(words for _, words in MOVE_KEYS)):
            assert words.replace(" ", "") in shown
        pane = ui.panel.screen.query_one("#keys", TextPane)
        rows = ["".join(text for text, _ in pieces).strip() for pieces, _ in pane.lines]
        for row in rows[: pane.size.height]:
            assert any(f" {row} " in line or not row for line in ui.lines()), row


async def test_the_command_palette_runs_what_the_keys_do(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("colon", *"keep the action")
        await ui.shows("chorus keep N")
        await ui.press("enter")
        await ui.until(lambda: watcher.requests_for("keep") == [{"actions": [38]}])


async def test_colours_can_be_changed_while_the_panel_runs(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        before = ui.panel.active_palette.current
        await ui.press("colon", *"light")
        await ui.shows("for a terminal with a light background")
        await ui.press("enter")
        await ui.until(lambda: ui.panel.active_palette.current is not before)
        assert ui.panel.theme == "chorus-light"


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_closing_the_panel_leaves_the_watcher_running(watcher: ScriptedWatcher, key: str) -> None:
    async with run_panel(watcher) as ui:
        await ui.press(key)
        assert ui.panel._exit
        assert watcher.is_running
        assert not watcher.requests_for("stop")


async def test_reviewed_turns_start_folded(watcher: ScriptedWatcher) -> None:
    for n in (37, 38, 39):
        watcher.entries[n] = entry(n, status="kept")
    async with run_panel(watcher) as ui:
        first = ui.view.queue.rows[0]
        assert isinstance(first, TurnRow)
        assert first.folded


async def test_a_turn_shows_its_answer_what_it_took_and_why_it_failed(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        first = ui.view.queue.rows[0]
        assert isinstance(first, TurnRow)
        session, name = first.group
        await ui.press("home")
        about = {"session": session, "turn": name, "tokens": {"input": 12, "output": 3}, "cost_usd": 0.5}
        watcher.publish("turn", turn={**about, "state": "done", "answer": "It is fixed.", "duration_ms": 900})
        await ui.shows("12 tokens in, 3 out  $0.5000  0.9 s")
        await ui.shows("It is fixed.")
        watcher.publish("turn", turn={**about, "state": "failed", "error": "API Error: 400"})
        await ui.shows("failed: API Error: 400")


async def test_a_lost_watcher_is_reported_and_reconnected(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        watcher.stop()
        await ui.shows("no watcher; reopen the panel")
        assert ui.view.status.current.text == (
            "lost the connection to the watcher. Run `chorus panel` in the repository to start it, "
            "or `chorus doctor` if it does not start."
        )
        watcher.entries[90] = entry(90, turn="t9", message="While you were away")
        watcher.start()
        await ui.status_shows("reconnected")
        await ui.shows("While you were away")
        assert "no watcher; reopen the panel" not in ui.text()


async def test_progress_and_notices_are_shown(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        watcher.publish("progress", what="catching up", done=30, total=100)
        await ui.shows("catching up ━━━╌╌╌╌╌╌╌ 30/100")
        watcher.publish("progress", what="catching up", done=100, total=100)
        await ui.until(lambda: "catching up" not in ui.text())
        watcher.publish("alert", level="warning", text="a nested repository is not followed")
        await ui.shows("! a nested repository is not followed")


async def test_a_turn_shows_its_whole_message_and_what_each_action_did(watcher: ScriptedWatcher) -> None:
    message = "Make the parser accept tabs as indentation, up to the next stop, and say so in the README"
    watcher.entries = {
        n: entry(n, turn="t9", message=message, summary=f"Count the tabs of case {n}") for n in (1, 2)
    }
    watcher.entries[3] = entry(3, turn="t9", message=message, status="noop", summary="Look around")
    async with run_panel(watcher, (52, 40)) as ui:

        def details() -> str:
            return ui.text().partition("─ Turn")[2]

        await ui.press("g")
        await ui.shows("─ Turn")
        words = " ".join(details().split())
        assert message in words
        for n in (1, 2):
            assert f"{n} ○ parser.py Count the tabs of case {n}" in words, words
        assert "Look around" not in words, "the queue does not show it either"
        await ui.pilot.resize_terminal(90, 40)
        await ui.until(lambda: message[:80] in details(), "wrapped again")


async def test_the_details_of_an_action_show_its_command(watcher: ScriptedWatcher) -> None:
    command = "sed -i s/a/b/ src/*.py &&\n  make test"
    watcher.entries[100] = entry(100, turn="t9", tool="Bash", summary="Rename it", command=command)
    async with run_panel(watcher) as ui:
        await ui.on_row(100)
        await ui.shows(" $ sed -i s/a/b/ src/*.py &&")
        await ui.shows("     make test")


async def test_the_details_of_a_part_name_the_whole_action_by_its_number(watcher: ScriptedWatcher) -> None:
    watcher.entries[100] = entry(100, turn="t9", within=watcher.entries[38]["id"])
    watcher.entries[101] = entry(101, turn="t9", within="toolu_unknown")
    async with run_panel(watcher) as ui:
        await ui.on_row(100)
        await ui.shows("part of action 38")
        await ui.on_row(101)
        await ui.shows("part of action toolu_unknown")


async def test_v_says_that_the_diff_is_too_narrow_for_side_by_side(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (80, 24)) as ui:
        await ui.on_row(38)
        await ui.press("enter", "v")
        await ui.status_shows("side by side needs 110 columns; the diff has ")
        assert not ui.view.diff.always_unified
