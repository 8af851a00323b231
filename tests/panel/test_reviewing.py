from pathlib import Path

from chorus.errors import ExitCode
from chorus.panel.land_form import LandForm
from chorus.panel.revert_form import RevertForm
from tests.panel.agent import Refusal, ScriptedAgent
from tests.panel.running import running
from tests.panel.story import PARSER, entry


async def test_k_keeps_the_action_and_goes_to_the_next_open_one(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("k")
        assert await one.asked("keep") == {"actions": [38]}
        await one.says("kept 38")
        assert one.panel.status.said.command == "chorus keep 38"
        await one.until(
            lambda: one.panel.queue.entry and one.panel.queue.entry.n == 40, "the next open action"
        )
        await one.until(lambda: one.panel.model.entries[38].status == "kept")


async def test_capital_k_keeps_the_turn(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(42)
        await one.press("K")
        assert await one.asked("keep") == {"turn": "t3"}
        await one.says("kept 42, 44")
        assert one.panel.status.said.command == "chorus keep --turn t3"


async def test_on_a_turns_row_k_means_the_turn(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("left_square_bracket", "k")
        assert await one.asked("keep") == {"turn": "t1"}


async def test_r_shows_what_would_change_and_asks_once(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("r")
        await one.until(lambda: isinstance(one.panel.screen, RevertForm), "the preview")
        assert agent.asked_to("revert") == [{"actions": [38], "dry_run": True}]
        await one.shows("Take back 38 Edit src/parser.py")
        await one.shows("chorus revert 38")
        await one.shows("width = 0")
        await one.press("r")
        assert await one.asked("revert", 2) == {"actions": [38]}
        await one.says("took back 38")
        await one.until(lambda: one.panel.model.entries[38].status == "reverted")


async def test_leaving_the_preview_takes_nothing_back(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("r")
        await one.until(lambda: isinstance(one.panel.screen, RevertForm))
        await one.press("escape")
        assert not isinstance(one.panel.screen, RevertForm)
        assert len(agent.asked_to("revert")) == 1


async def test_what_stands_in_the_way_is_named_and_can_go_too(agent: ScriptedAgent) -> None:
    agent.dependents[38] = [42, 44]
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("r")
        await one.shows("Cannot take back")
        await one.shows("take back 42, 44 too")
        await one.press("r")
        assert isinstance(one.panel.screen, RevertForm), "alone it cannot be taken back"
        await one.press("w")
        assert await one.asked("revert", 2) == {"actions": [38], "with_dependents": True}
        await one.says("took back 38, 42, 44")
        assert one.panel.status.said.command == "chorus revert 38 --with-dependents"


async def test_in_a_narrow_pane_what_stands_in_the_way_is_said_to_its_end(agent: ScriptedAgent) -> None:
    agent.dependents[38] = [42]
    async with running(agent, (42, 30)) as one:
        await one.on_row(38)
        await one.press("r")
        await one.shows("take back 42 too")
        form = one.panel.screen
        assert isinstance(form, RevertForm)
        assert form.problem is not None
        assert str(form.problem) in one.folded("title")


async def test_capital_r_takes_the_turn_back(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(42)
        await one.press("R")
        await one.shows("Take back the whole turn")
        await one.press("enter")
        assert await one.asked("revert", 2) == {"turn": "t3"}


async def test_u_brings_back_what_the_cursor_is_on(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(39)
        await one.press("u")
        assert await one.asked("redo") == {"actions": [39]}
        await one.says("brought back 39")
        assert one.panel.status.said.command == "chorus redo 39"


async def test_u_brings_back_what_was_taken_back_last(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(44)
        await one.press("u")
        await one.says("put the cursor on what was taken back")
        await one.on_row(38)
        await one.press("r")
        await one.until(lambda: isinstance(one.panel.screen, RevertForm))
        await one.press("r")
        await one.says("took back 38")
        await one.on_row(44)
        await one.press("u")
        assert await one.asked("redo") == {"actions": [38]}


async def test_u_brings_back_all_that_was_just_taken_back_together(agent: ScriptedAgent) -> None:
    agent.dependents[38] = [42, 44]
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("r")
        await one.shows("take back 42, 44 too")
        await one.press("w")
        await one.says("took back 38, 42, 44; u brings them back")
        await one.until(lambda: one.panel.queue.entry and one.panel.queue.entry.status == "reverted")
        await one.press("u")
        assert await one.asked("redo") == {"actions": [38, 42, 44]}


async def test_of_what_was_taken_back_together_one_can_be_brought_back_before_the_rest(
    agent: ScriptedAgent,
) -> None:
    agent.dependents[38] = [42, 44]
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("r")
        await one.shows("take back 42, 44 too")
        await one.press("w")
        await one.says("took back 38, 42, 44")
        await one.on_row(44)
        await one.until(lambda: one.panel.queue.entry and one.panel.queue.entry.status == "reverted")
        await one.press("u")
        assert await one.asked("redo") == {"actions": [44]}
        await one.says("brought back 44")
        await one.until(lambda: one.panel.queue.entry and one.panel.queue.entry.status != "reverted")
        await one.press("u")
        assert await one.asked("redo", 2) == {"actions": [38, 42]}


async def test_a_refused_request_is_said(agent: ScriptedAgent) -> None:
    agent.refuse["keep"] = Refusal("disk full", ExitCode.SYSTEM_ERROR)
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("k")
        await one.says("disk full")
        assert one.panel.status.said.level == "error"


async def test_a_key_pressed_as_the_cursor_moved_by_itself_is_not_for_the_new_row(
    agent: ScriptedAgent,
) -> None:
    async with running(agent) as one:
        await one.press("G")
        await one.until(lambda: one.panel.queue.entry and one.panel.queue.entry.n == 44)
        agent.act(entry(45, turn="t3"), PARSER)
        await one.until(
            lambda: one.panel.queue.entry and one.panel.queue.entry.n == 45, "the cursor to follow"
        )
        await one.press("k")
        await one.says("just moved on")
        assert not agent.asked_to("keep")


async def test_l_lands_the_lane_with_a_form(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("l")
        assert isinstance(one.panel.screen, LandForm)
        await one.shows("2 commits on main")
        await one.press("right", "space")
        await one.until(lambda: agent.asked_to("land")[-1]["by"] == "all", "another way to land")
        await one.press("tab", *"release", "tab", *"Tabs", "enter")
        await one.until(lambda: not agent.asked_to("land")[-1].get("dry_run"), "the landing")
        wanted = {"lane": "chorus/accept-tabs", "by": "all", "onto": "release", "message": "Tabs"}
        assert agent.asked_to("land")[-1] == wanted
        await one.says("landed 1 commit on release")
        command = "chorus land chorus/accept-tabs --by all --onto release -m Tabs"
        assert one.panel.status.said.command == command
        await one.until(lambda: one.panel.model.entries[38].landed)


async def test_leaving_the_form_lands_nothing(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("l", "escape")
        assert not isinstance(one.panel.screen, LandForm)
        assert all(request.get("dry_run") for request in agent.asked_to("land"))


async def test_y_copies_the_id(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("y")
        assert one.panel.clipboard == "toolu_00038"
        await one.says("copied toolu_00038")


async def test_o_needs_a_file_that_is_there(agent: ScriptedAgent, tmp_path: Path) -> None:
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("o")
        await one.says("src/parser.py is not there any more")
        (tmp_path / "src").mkdir()
        (tmp_path / "src/parser.py").write_text("x\n")
        await one.press("o")
        await one.says("cannot be handed to an editor")


async def test_what_takes_long_is_shown_as_going_on(agent: ScriptedAgent) -> None:
    agent.held.add("keep")
    async with running(agent) as one:
        await one.on_row(38)
        await one.press("k")
        await one.shows("keeping 1 s")
        agent.held.clear()
        await one.says("kept 38")
        await one.until(lambda: "keeping" not in one.text())


async def test_with_no_action_yet_the_review_keys_do_no_harm(agent: ScriptedAgent) -> None:
    agent.entries, agent.lanes, agent.sessions = {}, {}, {}
    async with running(agent) as one:
        await one.press("k", "r", "K", "R", "u", "y", "o", "l", "enter", "space", "n", "left_square_bracket")
        assert not [request for request in agent.asked if request.do in {"keep", "revert", "redo", "land"}]
        assert "no session yet" in one.text()
