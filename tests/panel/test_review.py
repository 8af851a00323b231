from pathlib import Path

from chorus.errors import ExitCode
from chorus.panel.forms.land_form import LandForm
from chorus.panel.forms.revert_form import RevertForm
from tests.panel.harness import run_panel
from tests.panel.scripted_watcher import Refusal, ScriptedWatcher
from tests.panel.story import PARSER, entry


async def test_k_keeps_the_action_and_goes_to_the_next_open_one(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("k")
        assert await ui.requested("keep") == {"actions": [38]}
        await ui.status_shows("kept 38")
        assert ui.view.status.current.command == "chorus keep 38"
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.n == 40, "the next open action")
        await ui.until(lambda: ui.panel.model.entries[38].status == "kept")


async def test_capital_k_keeps_the_turn(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(42)
        await ui.press("K")
        assert await ui.requested("keep") == {"turn": "t3"}
        await ui.status_shows("kept 42, 44")
        assert ui.view.status.current.command == "chorus keep --turn t3"


async def test_on_the_row_of_a_turn_k_keeps_the_turn(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("left_square_bracket", "k")
        assert await ui.requested("keep") == {"turn": "t1"}


async def test_r_shows_a_preview_and_r_again_reverts(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.until(lambda: isinstance(ui.panel.screen, RevertForm), "the preview")
        assert watcher.requests_for("revert") == [{"actions": [38], "dry_run": True}]
        await ui.shows("Revert 38 Edit src/parser.py")
        await ui.shows("chorus revert 38")
        await ui.shows("width = 0")
        await ui.press("r")
        assert await ui.requested("revert", 2) == {"actions": [38]}
        await ui.status_shows("reverted 38")
        await ui.until(lambda: ui.panel.model.entries[38].status == "reverted")


async def test_cancelling_the_preview_reverts_nothing(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.until(lambda: isinstance(ui.panel.screen, RevertForm))
        await ui.press("escape")
        assert not isinstance(ui.panel.screen, RevertForm)
        assert len(watcher.requests_for("revert")) == 1


async def test_dependent_actions_are_listed_and_can_be_reverted_too(watcher: ScriptedWatcher) -> None:
    watcher.dependents[38] = [42, 44]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("Cannot revert")
        await ui.shows("revert 42, 44 too")
        await ui.press("r")
        assert isinstance(ui.panel.screen, RevertForm), "alone it cannot be reverted"
        await ui.press("w")
        assert await ui.requested("revert", 2) == {"actions": [38], "with_dependents": True}
        await ui.status_shows("reverted 38, 42, 44")
        assert ui.view.status.current.command == "chorus revert 38 --with-dependents"


async def test_in_a_narrow_pane_the_conflict_is_shown_in_full(watcher: ScriptedWatcher) -> None:
    watcher.dependents[38] = [42]
    async with run_panel(watcher, (42, 30)) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("revert 42 too")
        form = ui.panel.screen
        assert isinstance(form, RevertForm)
        assert form.problem is not None
        assert str(form.problem) in ui.wrapped_text("title")


async def test_capital_r_reverts_the_turn(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(42)
        await ui.press("R")
        await ui.shows("Revert the whole turn")
        await ui.press("enter")
        assert await ui.requested("revert", 2) == {"turn": "t3"}


async def test_u_redoes_the_reverted_action_under_the_cursor(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(39)
        await ui.press("u")
        assert await ui.requested("redo") == {"actions": [39]}
        await ui.status_shows("redid 39")
        assert ui.view.status.current.command == "chorus redo 39"


async def test_u_redoes_what_was_reverted_last(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(44)
        await ui.press("u")
        await ui.status_shows("nothing to redo")
        await ui.on_row(38)
        await ui.press("r")
        await ui.until(lambda: isinstance(ui.panel.screen, RevertForm))
        await ui.press("r")
        await ui.status_shows("reverted 38")
        await ui.on_row(44)
        await ui.press("u")
        assert await ui.requested("redo") == {"actions": [38]}


async def test_u_redoes_all_that_was_just_reverted_together(watcher: ScriptedWatcher) -> None:
    watcher.dependents[38] = [42, 44]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("revert 42, 44 too")
        await ui.press("w")
        await ui.status_shows("reverted 38, 42, 44; u to redo")
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.status == "reverted")
        await ui.press("u")
        assert await ui.requested("redo") == {"actions": [38, 42, 44]}


async def test_one_of_several_reverted_actions_can_be_redone_before_the_rest(
    watcher: ScriptedWatcher,
) -> None:
    watcher.dependents[38] = [42, 44]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("revert 42, 44 too")
        await ui.press("w")
        await ui.status_shows("reverted 38, 42, 44")
        await ui.on_row(44)
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.status == "reverted")
        await ui.press("u")
        assert await ui.requested("redo") == {"actions": [44]}
        await ui.status_shows("redid 44")
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.status != "reverted")
        await ui.press("u")
        assert await ui.requested("redo", 2) == {"actions": [38, 42]}


async def test_a_refused_request_is_shown(watcher: ScriptedWatcher) -> None:
    watcher.refuse["keep"] = Refusal("disk full", ExitCode.SYSTEM_ERROR)
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("k")
        await ui.status_shows("disk full")
        assert ui.view.status.current.level == "error"


async def test_a_key_pressed_as_the_cursor_follows_a_new_action_does_nothing(
    watcher: ScriptedWatcher,
) -> None:
    async with run_panel(watcher) as ui:
        await ui.press("G")
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.n == 44)
        watcher.add_action(entry(45, turn="t3"), PARSER)
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.n == 45, "the cursor to follow")
        await ui.press("k")
        await ui.status_shows("just moved to a new action")
        assert not watcher.requests_for("keep")


async def test_l_lands_the_lane_with_a_form(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("l")
        assert isinstance(ui.panel.screen, LandForm)
        await ui.shows("2 commits on main")
        await ui.press("right", "space")
        await ui.until(lambda: watcher.requests_for("land")[-1]["by"] == "all", "another way to land")
        await ui.press("tab", *"release", "tab", *"Tabs", "enter")
        await ui.until(lambda: not watcher.requests_for("land")[-1].get("dry_run"), "the landing")
        wanted = {"lane": "chorus/accept-tabs", "by": "all", "onto": "release", "message": "Tabs"}
        assert watcher.requests_for("land")[-1] == wanted
        await ui.status_shows("landed 1 commit on release")
        command = "chorus land chorus/accept-tabs --by all --onto release -m Tabs"
        assert ui.view.status.current.command == command
        await ui.until(lambda: ui.panel.model.entries[38].landed)


async def test_cancelling_the_form_lands_nothing(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("l", "escape")
        assert not isinstance(ui.panel.screen, LandForm)
        assert all(request.get("dry_run") for request in watcher.requests_for("land"))


async def test_y_copies_the_id(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("y")
        assert ui.panel.clipboard == "toolu_00038"
        await ui.status_shows("copied toolu_00038")


async def test_o_needs_a_file_that_exists(watcher: ScriptedWatcher, tmp_path: Path) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("o")
        await ui.status_shows("src/parser.py no longer exists")
        (tmp_path / "src").mkdir()
        (tmp_path / "src/parser.py").write_text("x\n")
        await ui.press("o")
        await ui.status_shows("an editor cannot be opened")


async def test_a_slow_request_is_shown_as_running(watcher: ScriptedWatcher) -> None:
    watcher.held.add("keep")
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("k")
        await ui.shows("keeping 1 s")
        watcher.held.clear()
        await ui.status_shows("kept 38")
        await ui.until(lambda: "keeping" not in ui.text())


async def test_without_an_action_the_review_keys_do_nothing(watcher: ScriptedWatcher) -> None:
    watcher.entries, watcher.lanes, watcher.sessions = {}, {}, {}
    async with run_panel(watcher) as ui:
        await ui.press("k", "r", "K", "R", "u", "y", "o", "l", "enter", "space", "n", "left_square_bracket")
        assert not [
            request for request in watcher.requests if request.do in {"keep", "revert", "redo", "land"}
        ]
        assert "no session yet" in ui.text()
