from typing import Any

import pytest
from textual.events import Key

from chorus.panel.help_screen import HelpScreen
from chorus.panel.keys import ALL, MOVING
from chorus.panel.rows import Scope, TurnRow
from tests.panel.agent import ScriptedAgent
from tests.panel.running import Running, running
from tests.panel.story import PARSER, README, entry, outside, prompt, session


def at(one: Running) -> Any:
    row = one.panel.queue.row
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
    ("g space down", "t2"),
    ("g minus G", "t3"),
    ("g minus equals_sign down", 37),
    ("g left right down", 37),
    ("G enter escape up", 42),
]


async def test_keys_move_the_cursor(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        for keys, row in MOVES:
            await one.press(*keys.split())
            assert at(one) == row, keys
            one.panel.queue.action_fold_all(False)


async def test_the_newest_is_in_sight_and_followed_until_the_person_moves_away(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        assert at(one) == 44
        agent.act(entry(45, turn="t3"), PARSER)
        await one.until(lambda: at(one) == 45)
        await one.press("up", "up")
        agent.act(entry(46, turn="t3"), PARSER)
        await one.until(lambda: 46 in one.panel.model.entries)
        assert at(one) == 42


async def test_the_cursor_stays_on_its_action_when_rows_come_before_it(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(40)
        agent.act(entry(46, turn="t1"), PARSER)
        await one.until(lambda: 46 in one.panel.model.entries)
        assert at(one) == 40


async def test_slash_filters_enter_keeps_the_filter_and_escape_ends_it(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.press("slash", *"readme")
        await one.until(lambda: len(one.panel.queue.rows) == 2)
        await one.press("enter")
        assert one.panel.queue.has_focus
        assert "/readme" in one.text()
        await one.press("escape")
        await one.until(lambda: len(one.panel.queue.rows) > 2)
        assert not one.panel.filter.display


async def test_escape_inside_the_filter_shows_all_again(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        rows = len(one.panel.queue.rows)
        await one.press("slash", *"zzz")
        await one.until(lambda: not one.panel.queue.rows)
        await one.press("escape")
        await one.until(lambda: len(one.panel.queue.rows) == rows)
        assert one.panel.queue.has_focus


async def test_t_goes_through_what_there_is_to_see(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        counts = []
        for _ in range(3):
            await one.press("t")
            counts.append((one.panel.queue.view.scope, len(one.panel.queue.rows)))
        assert counts == [(Scope.OPEN, 7), (Scope.EVERYTHING, 11), (Scope.CHANGES, 9)]


async def test_s_and_a_click_show_one_session(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.press("s")
        assert one.panel.queue.view.session == "s1"
        await one.press("s")
        assert [at(one), one.panel.queue.view.session] == [40, "s2"]
        await one.press("s")
        assert one.panel.queue.view.session is None
        await one.pilot.click(one.panel.sessions, offset=(3, 1))
        assert one.panel.queue.view.session == "s2"
        await one.pilot.click(one.panel.sessions, offset=(3, 1))
        assert one.panel.queue.view.session is None


async def test_the_mouse_selects_folds_and_opens(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        queue = one.panel.queue
        await one.pilot.click(queue, offset=(10, 2))
        assert at(one) == 38
        await one.pilot.click(queue, offset=(0, 0))
        assert [len(queue.rows), at(one)] == [6, "t1"]
        await one.pilot.click(queue, offset=(10, 2), times=2)
        await one.until(lambda: one.panel.diff.has_focus)


async def test_a_key_in_the_bar_can_be_clicked(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        x = one.lines()[-1].index("keep")
        await one.pilot.click(one.panel.key_bar, offset=(x, 0))
        assert await one.asked("keep") == {"actions": [38]}


async def test_the_selected_actions_diff_is_shown(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(40)
        await one.shows("Parses indented text, with blanks or tabs.")
        await one.on_row(42)
        await one.shows("test_a_tab_counts_to_the_next_stop")
        asked = len(agent.asked_to("show"))
        await one.on_row(40)
        await one.shows("Parses indented text, with blanks or tabs.")
        assert {request["action"] for request in agent.asked_to("show")[asked:]} <= {37, 38, 39}, (
            "40 is known"
        )


async def test_among_everything_stands_what_no_action_changed_and_it_is_only_looked_at(
    agent: ScriptedAgent,
) -> None:
    agent.outside, agent.outside_patch = {44: [outside("0d1e")]}, README
    async with running(agent) as one:
        assert "outside" not in one.text()
        await one.press("t", "t", "G")
        await one.shows("~ outside")
        await one.shows("with blanks or tabs")
        await one.on_row(one.panel.queue.entry.n if one.panel.queue.entry else 0)
        for key in ("k", "r"):
            await one.press(key)
            await one.says("no action made this change")
        assert not agent.asked_to("keep")
        assert not agent.asked_to("revert")
        agent.say("action", entry=outside("0d1f", paths=["notes.txt"]))
        await one.shows("notes.txt")
        await one.press("t")
        await one.until(lambda: "notes.txt" not in one.text())


async def test_ten_thousand_actions_are_scrolled_from_end_to_end(agent: ScriptedAgent) -> None:
    agent.entries = {n: entry(n, turn=f"t{n // 12}") for n in range(1, 10_001)}
    async with running(agent) as one:
        queue = one.panel.queue
        assert queue.show_vertical_scrollbar
        await one.shows("10000 ○")
        agent.act(entry(10_001, turn="t900", message="One more"))
        await one.shows("10001 ○")
        await one.press("pageup", "pageup", "g")
        await one.shows("  1 ○")
        await one.press("pagedown", "G")
        await one.shows("10000 ○")
        assert queue.scroll_offset.y == queue.max_scroll_y == len(queue.rows) - queue.size.height


async def test_a_cursor_that_passes_by_asks_for_nothing(agent: ScriptedAgent) -> None:
    for n in range(100, 160):
        agent.entries[n] = entry(n, turn="t9")
    async with running(agent) as one:
        await one.press("g")
        asked = len(agent.asked_to("show"))
        for _ in range(60):
            one.panel.post_message(Key("down", None))
        await one.until(lambda: len(agent.asked_to("show")) > asked)
        assert len(agent.asked_to("show")) - asked < 30


async def test_enter_goes_to_the_diff_and_back_and_z_gives_it_all_the_room(agent: ScriptedAgent) -> None:
    async with running(agent, (80, 24)) as one:
        await one.on_row(40)
        await one.press("enter")
        await one.until(lambda: one.panel.diff.has_focus)
        await one.shows("with blanks or tabs")
        await one.press("enter")
        await one.until(lambda: one.panel.queue.has_focus)
        await one.press("z")
        await one.until(lambda: one.panel.diff.size.height > 18)
        agent.say("session", session=session("s1", state="idle"))
        await one.until(lambda: one.panel.model.sessions["s1"].state == "idle")
        await one.settle()
        assert one.panel.diff.size.height > 18, "news do not take the room away"
        await one.press("z")
        await one.until(lambda: one.panel.queue.has_focus)


async def test_under_the_whole_diff_a_prompt_keeps_a_line_and_comes_back_before_it_is_answered(
    agent: ScriptedAgent,
) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent, (80, 24)) as one:
        await one.prompt_ready("p1")
        await one.press("z")
        await one.until(lambda: one.panel.diff.size.height > 15 and one.panel.card.size.height == 1)
        await one.shows("def token")
        await one.press("a")
        await one.says("press again")
        await one.shows("Do you want to proceed?")
        assert not agent.asked_to("answer")
        await one.press("z")
        await one.until(lambda: one.panel.card.small)
        agent.withdraw("p1")
        agent.prompt(prompt("p2", question="And now?"))
        await one.shows("And now?")


async def test_the_diff_scrolls_by_the_same_keys_and_sideways(agent: ScriptedAgent) -> None:
    long = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,99 @@\n" + "".join(
        f"+{n:0200}\n" for n in range(99)
    )
    agent.patches[44] = long
    async with running(agent, (80, 20)) as one:
        await one.press("G", "enter")
        await one.until(lambda: one.panel.diff.has_focus)
        await one.until(lambda: one.panel.diff.line_count() > 90)
        await one.press("j", "ctrl+n", "down")
        await one.until(lambda: one.panel.diff.scroll_offset.y == 3)
        await one.press("up", "ctrl+p")
        await one.until(lambda: one.panel.diff.scroll_offset.y == 1)
        await one.press("G")
        await one.until(lambda: one.panel.diff.scroll_offset.y > 50)
        await one.press("g")
        await one.until(lambda: one.panel.diff.scroll_offset.y == 0)
        await one.press("right", "right")
        assert one.panel.diff.aside == 16
        await one.press("left", "left", "left")
        assert one.panel.diff.aside == 0


async def test_wide_enough_the_diff_is_side_by_side_and_v_changes_that(agent: ScriptedAgent) -> None:
    async with running(agent, (220, 50)) as one:
        await one.on_row(38)
        await one.shows("return self._tokens[self._at]")
        both = [line for line in one.lines() if "_tokens[0]" in line]
        assert "_tokens[self._at]" in both[0]
        one.panel.diff.focus()
        await one.press("v")
        await one.until(lambda: not any("[0]" in line and "[self._at]" in line for line in one.lines()))


async def test_tab_goes_round(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.press("tab")
        assert one.panel.diff.has_focus
        await one.press("tab")
        assert one.panel.queue.has_focus


async def test_help_shows_every_key_with_its_command(agent: ScriptedAgent) -> None:
    async with running(agent, (120, 60)) as one:
        await one.press("question_mark")
        assert isinstance(one.panel.screen, HelpScreen)
        for words in (
            "chorus approve ID --always",
            "chorus revert N",
            "chorus land LANE",
            "next, previous turn",
        ):
            await one.shows(words)
        await one.press("escape")
        assert not isinstance(one.panel.screen, HelpScreen)


@pytest.mark.parametrize("width", [30, 40, 62])
async def test_in_a_narrow_pane_the_help_is_wrapped_and_nothing_of_it_is_cut(
    agent: ScriptedAgent, width: int
) -> None:
    async with running(agent, (width, 120)) as one:
        await one.press("question_mark")
        await one.until(lambda: isinstance(one.panel.screen, HelpScreen))
        await one.settle()
        shown = one.folded("keys").replace(" ", "")  # a long word may be broken
        for words in (*(key.help for key in ALL), *(words for _, words in MOVING)):
            assert words.replace(" ", "") in shown


async def test_the_command_palette_finds_what_the_keys_do(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("colon", *"keep the action")
        await one.shows("chorus keep N")
        await one.press("enter")
        await one.until(lambda: agent.asked_to("keep") == [{"actions": [38]}])


async def test_colours_can_be_changed_while_it_runs(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        before = one.panel.look.palette
        await one.press("colon", *"light")
        await one.shows("for a terminal with a light background")
        await one.press("enter")
        await one.until(lambda: one.panel.look.palette is not before)
        assert one.panel.theme == "chorus-light"


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_the_panel_closes_and_the_agent_goes_on(agent: ScriptedAgent, key: str) -> None:
    async with running(agent) as one:
        await one.press(key)
        assert one.panel._exit
        assert agent.is_running
        assert not agent.asked_to("stop")


async def test_turns_with_nothing_left_start_folded(agent: ScriptedAgent) -> None:
    for n in (37, 38, 39):
        agent.entries[n] = entry(n, status="kept")
    async with running(agent) as one:
        first = one.panel.queue.rows[0]
        assert isinstance(first, TurnRow)
        assert first.folded


async def test_a_lost_agent_is_said_and_found_again(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        agent.stop()
        await one.shows("the agent is away")
        agent.entries[90] = entry(90, turn="t9", message="While you were away")
        agent.start()
        await one.says("connected again")
        await one.shows("While you were away")
        assert "the agent is away" not in one.text()


async def test_progress_and_notices_are_shown(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        agent.say("progress", what="catching up", done=30, total=100)
        await one.shows("catching up ━━━╌╌╌╌╌╌╌ 30/100")
        agent.say("progress", what="catching up", done=100, total=100)
        await one.until(lambda: "catching up" not in one.text())
        agent.say("notice", level="warning", text="a nested repository is not followed")
        await one.shows("! a nested repository is not followed")
