from pathlib import Path

from textual.events import Resize

from chorus.errors import ChorusError, ExitCode
from chorus.panel.forms.land_form import LandForm
from chorus.panel.forms.revert_form import RevertForm
from chorus.panel.widgets.diff import DiffView
from tests.panel.harness import PanelHarness, run_panel
from tests.panel.scripted_watcher import Refusal, ScriptedWatcher
from tests.panel.story import PARSER, entry


async def test_x_keeps_the_action_and_goes_to_the_next_open_one(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("x")
        assert await ui.requested("keep") == {"actions": [38]}
        await ui.status_shows("kept 38")
        assert ui.view.status.current.command == "chorus keep 38"
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.n == 40, "the next open action")
        await ui.until(lambda: ui.panel.model.entries[38].status == "kept")


async def test_capital_x_keeps_the_turn(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(42)
        await ui.press("X")
        assert await ui.requested("keep") == {"turn": "t3"}
        await ui.status_shows("kept 42, 44")
        assert ui.view.status.current.command == "chorus keep --turn t3"


async def test_on_the_row_of_a_turn_space_keeps_the_turn(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("left_square_bracket", "space")
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
        box, preview = ui.panel.screen.query_one("#box"), ui.panel.screen.query_one("#preview", DiffView)
        await ui.until(lambda: preview.size.height == preview.line_count(), "as tall as its lines")
        assert box.size.height < ui.panel.size.height * 9 // 10
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
        await ui.shows("preview with 42, 44")
        assert "Press w" in ui.wrapped_text("title")
        assert "␊" not in ui.wrapped_text("title"), "each of the later changes has a line of its own"
        assert "nothing was changed" not in ui.wrapped_text("title"), "the title says so"
        assert "--" not in ui.wrapped_text("title"), "the form's own keys, not options of the command"
        await ui.press("r")
        assert isinstance(ui.panel.screen, RevertForm), "alone it cannot be reverted"
        await ui.press("w")
        await ui.shows("with 42, 44")
        assert await ui.requested("revert", 2) == {"actions": [38], "with_dependents": True, "dry_run": True}
        await ui.shows("These lines will change on disk")
        assert ui.panel.model.entries[38].status == "committed", "a preview changes nothing"
        await ui.press("r")
        assert await ui.requested("revert", 3) == {"actions": [38], "with_dependents": True}
        await ui.status_shows("reverted 38, 42, 44")
        assert ui.view.status.current.command == "chorus revert 38 --with-dependents"


async def test_a_conflict_with_an_outside_change_says_what_to_do_by_hand(watcher: ScriptedWatcher) -> None:
    watcher.dependents[38] = [None]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("Cannot revert")
        assert "Undo the outside change by hand first." in ui.wrapped_text("title")
        assert "--markers" not in ui.wrapped_text("title"), "only the watcher knows if markers can be written"


async def test_with_an_outside_change_the_dependent_actions_cannot_be_reverted_either(
    watcher: ScriptedWatcher,
) -> None:
    watcher.dependents[38] = [42, None]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("Cannot revert")
        assert "Undo the outside change by hand first" in ui.wrapped_text("title")
        assert "action 42" in ui.wrapped_text("title")
        await ui.press("w")
        assert len(watcher.requests_for("revert")) == 1


async def test_a_conflict_of_another_kind_has_its_own_hint(watcher: ScriptedWatcher) -> None:
    hint = "Revert them together: `chorus revert 38 39`."
    watcher.refuse["revert"] = Refusal("actions 38 and 39 cannot be separated", ExitCode.CONFLICT, hint)
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("cannot be separated")
        assert hint in ui.wrapped_text("title")
        assert "markers" not in ui.wrapped_text("title")


async def test_in_a_narrow_pane_the_conflict_is_shown_in_full(watcher: ScriptedWatcher) -> None:
    watcher.dependents[38] = [42]
    async with run_panel(watcher, (42, 30)) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("preview with 42")
        form = ui.panel.screen
        assert isinstance(form, RevertForm)
        assert form.preview.problem is not None
        assert str(form.preview.problem).splitlines()[1].strip() in ui.wrapped_text("title")


async def test_capital_r_reverts_the_turn(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(42)
        await ui.press("R")
        await ui.shows("Revert the whole turn")
        await ui.press("enter")
        assert await ui.requested("revert", 2) == {"turn": "t3"}


async def reverted_with_dependents(ui: PanelHarness) -> None:
    """Revert 38 with 42 and 44."""
    ui.watcher.dependents[38] = [42, 44]
    await ui.on_row(38)
    await ui.press("r")
    await ui.shows("preview with 42, 44")
    await ui.press("w")
    await ui.shows("These lines will change on disk")
    await ui.press("r")
    await ui.status_shows("reverted 38, 42, 44; press u to undo")
    await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.status == "reverted")


async def test_r_redoes_a_reverted_action_and_u_reverts_it_again(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(39)
        await ui.press("r")
        assert await ui.requested("redo") == {"actions": [39]}
        await ui.status_shows("redone 39")
        assert ui.view.status.current.command == "chorus redo 39"
        await ui.press("u")
        assert await ui.requested("revert") == {"actions": [39]}
        await ui.status_shows("reverted 39")


async def test_with_nothing_done_u_redoes_the_reverted_action_under_the_cursor(
    watcher: ScriptedWatcher,
) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(44)
        await ui.press("u")
        await ui.status_shows("nothing to undo")
        await ui.on_row(39)
        await ui.press("u")
        assert await ui.requested("redo") == {"actions": [39]}


async def test_u_undoes_the_last_step_of_any_kind(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await reverted_with_dependents(ui)
        await ui.on_row(40)
        await ui.press("x")
        await ui.status_shows("kept 40")
        await ui.on_row(40)
        await ui.press("x")
        await ui.status_shows("reopened 40")
        await ui.press("u")
        await ui.status_shows("kept 40")
        await ui.press("u")
        await ui.status_shows("reopened 40")
        assert await ui.requested("keep", 4) == {"actions": [40], "undo": True}
        await ui.press("u")
        assert await ui.requested("redo") == {"actions": [38, 42, 44]}
        await ui.status_shows("redone 38, 42, 44")
        await ui.press("u")
        await ui.status_shows("nothing to undo")


async def test_a_landing_is_left_to_git(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("l")
        await ui.shows("2 commits on main")
        await ui.press("ctrl+l")
        await ui.status_shows("landed 2 commits")
        await ui.press("u")
        await ui.status_shows("the landing cannot be undone from here")


async def test_one_of_several_reverted_actions_can_be_redone_by_itself(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await reverted_with_dependents(ui)
        await ui.on_row(44)
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.status == "reverted")
        await ui.press("r")
        assert await ui.requested("redo") == {"actions": [44]}


HUNKS = [
    {"n": 1, "path": "src/parser.py", "patch": PARSER},
    {"n": 2, "path": "src/parser.py", "patch": "@@ -20 +23 @@\n-    return one\n+    return two\n"},
]


async def test_hunks_of_an_action_are_chosen_previewed_and_reverted(watcher: ScriptedWatcher) -> None:
    watcher.hunks[38] = HUNKS
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("h")
        await ui.shows("[ ] 1 src/parser.py")
        await ui.press("j", "space")
        await ui.shows("[x] 2 src/parser.py")
        await ui.shows("return two")
        await ui.press("r")
        await ui.shows("Revert 1 hunk of 38 Edit")
        assert await ui.requested("revert") == {"actions": [38], "hunks": [2], "dry_run": True}
        await ui.press("r")
        assert await ui.requested("revert", 2) == {"actions": [38], "hunks": [2]}
        await ui.status_shows("reverted hunks of 38")
        assert ui.view.status.current.command == "chorus revert 38 --hunk 2"
        await ui.press("u")
        assert await ui.requested("redo") == {"actions": [38]}


async def test_keys_typed_quickly_are_handled_in_order_by_the_form(watcher: ScriptedWatcher) -> None:
    watcher.hunks[38] = HUNKS
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("h")
        await ui.shows("[ ] 1 src/parser.py")
        await ui.press_quickly("space", "j", "space", "r")
        await ui.shows("Revert 2 hunks of 38 Edit")
        await ui.press_quickly("j", "space", "escape")
        assert not watcher.requests_for("keep"), "the keys were for the form, not for the row behind it"


async def test_the_preview_of_a_revert_leads_to_its_hunks(watcher: ScriptedWatcher) -> None:
    watcher.hunks[38] = HUNKS
    watcher.patches[38] = PARSER + "@@ -40 +40 @@\n-one\n+two\n"
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("choose hunks")
        await ui.press("h")
        await ui.shows("[ ] 1 src/parser.py")
        await ui.press("a", "k", "up", "a", "escape")
        assert len(watcher.requests_for("revert")) == 1


async def test_an_action_of_one_hunk_has_nothing_to_choose(watcher: ScriptedWatcher) -> None:
    watcher.hunks[38] = HUNKS[:1]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("h")
        await ui.status_shows("action 38 has only one hunk")
        await ui.press("left_square_bracket", "h")
        await ui.status_shows("put the cursor on an action")


async def test_the_preview_warns_of_later_actions_that_would_miss_something(
    watcher: ScriptedWatcher,
) -> None:
    watcher.warnings[38] = [{"path": "src/parser.py", "names": ["TAB"], "by": 44}]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("r")
        await ui.shows("this removes TAB, which action 44 uses in src/parser.py")


async def test_a_refused_request_is_shown(watcher: ScriptedWatcher) -> None:
    watcher.refuse["keep"] = Refusal("disk full", ExitCode.SYSTEM_ERROR)
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("x")
        await ui.status_shows("disk full")
        assert ui.view.status.current.level == "error"


async def test_an_error_and_its_hint_are_two_sentences(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        error = ChorusError("action 4 is already reverted", hint="Run `chorus log`.")
        ui.view.status.show_error(error, "chorus revert 4")
        assert ui.view.status.current.text == "action 4 is already reverted. Run `chorus log`."
        ui.view.status.show_error(ChorusError("nothing was landed\n  a\n  b", hint="Do c.\nDo d."), "")
        assert ui.view.status.current.text == "nothing was landed; a; b. Do c. Do d."


async def test_a_key_pressed_as_the_cursor_follows_a_new_action_does_nothing(
    watcher: ScriptedWatcher,
) -> None:
    async with run_panel(watcher) as ui:
        await ui.press("G")
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.n == 44)
        watcher.add_action(entry(45, turn="t3"), PARSER)
        await ui.until(lambda: ui.view.queue.entry and ui.view.queue.entry.n == 45, "the cursor to follow")
        await ui.press("x")
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
        command = "chorus land accept-tabs --by all --onto release -m Tabs"
        assert ui.view.status.current.command == command
        await ui.until(lambda: ui.panel.model.entries[38].landed)


async def test_the_land_form_names_lane_and_actions_briefly(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("l")
        await ui.shows("Land accept-tabs")
        await ui.shows("chorus land accept-tabs --by turn")


async def test_cancelling_the_form_lands_nothing(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("l", "escape")
        assert not isinstance(ui.panel.screen, LandForm)
        assert all(request.get("dry_run") for request in watcher.requests_for("land"))


async def test_the_land_form_says_how_many_actions_are_not_reviewed(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("l")
        await ui.shows("! 3 actions are not reviewed yet")
        await ui.press("e")
        await ui.shows("an editor cannot be opened in this terminal")
        await ui.shows("Run `chorus land LANE --edit` in another terminal.")


async def test_the_land_form_says_what_to_do_about_a_refusal_and_about_what_is_left_open(
    watcher: ScriptedWatcher,
) -> None:
    watcher.left = [{"n": 39, "reason": "line 4 of a.py builds on your uncommitted line"}]
    watcher.left_hints = ["Commit your lines of a.py, then land again."]
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("l")
        await ui.shows("action 39 stays open")
        await ui.shows("Commit your lines of a.py, then land again.")
        watcher.refuse["land"] = Refusal("a rebase is in progress", ExitCode.CONFLICT, "Finish or abort it.")
        await ui.press("right")
        await ui.shows("a rebase is in progress")
        await ui.shows("Finish or abort it.")


async def test_the_error_in_place_of_a_diff_has_its_hint(watcher: ScriptedWatcher) -> None:
    watcher.refuse["show"] = Refusal("the diff cannot be read", ExitCode.SYSTEM_ERROR, "Run `chorus doctor`.")
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.shows("the diff cannot be read. Run `chorus doctor`.")


async def test_y_copies_the_commit(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("y")
        commit = watcher.entries[38]["commit"]
        assert ui.panel.clipboard == commit
        await ui.status_shows(f"copied {commit}")
        assert ui.view.status.current.command == f"chorus show {commit}"


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
        await ui.press("x")
        await ui.shows("keeping 1 s")
        watcher.held.clear()
        await ui.status_shows("kept 38")
        await ui.until(lambda: "keeping" not in ui.text())


async def test_without_an_action_the_review_keys_do_nothing(watcher: ScriptedWatcher) -> None:
    watcher.entries, watcher.lanes, watcher.sessions = {}, {}, {}
    async with run_panel(watcher) as ui:
        await ui.press(
            "x", "r", "X", "R", "u", "y", "o", "l", "h", "enter", "space", "n", "left_square_bracket"
        )
        assert not [
            request for request in watcher.requests if request.do in {"keep", "revert", "redo", "land"}
        ]
        assert "no session yet" in ui.text()


async def test_a_turn_names_its_actions_and_offers_no_hunks(watcher: ScriptedWatcher) -> None:
    watcher.patches[42] = PARSER + "@@ -40 +40 @@\n-one\n+two\n"
    async with run_panel(watcher) as ui:
        await ui.on_row(42)
        await ui.press("R")
        await ui.shows("Revert the whole turn: 42")
        assert "choose hunks" not in ui.text()
        await ui.press("h")
        assert isinstance(ui.panel.screen, RevertForm), "hunks are chosen of one action"
        await ui.press("q")
        assert not isinstance(ui.panel.screen, RevertForm)


async def test_chosen_hunks_are_not_chosen_from_again(watcher: ScriptedWatcher) -> None:
    watcher.hunks[38] = HUNKS
    watcher.patches[38] = PARSER + "@@ -40 +40 @@\n-one\n+two\n"
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("h")
        await ui.shows("[ ] 1 src/parser.py")
        await ui.press("a", "r")
        await ui.shows("Revert 2 hunks of 38")
        assert "choose hunks" not in ui.text()


async def test_many_numbers_are_shown_as_a_range(watcher: ScriptedWatcher) -> None:
    for n in range(100, 140):
        watcher.entries[n] = entry(n, turn="t9")
    async with run_panel(watcher) as ui:
        await ui.on_row(120)
        await ui.press("X")
        await ui.status_shows("kept 100–139")


async def test_an_empty_queue_says_why_and_what_to_do(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.press("/", "z", "z", "z", "enter")
        await ui.shows("Nothing matches the filter")


async def test_a_new_user_is_told_what_will_be_shown(watcher: ScriptedWatcher) -> None:
    watcher.entries.clear()
    async with run_panel(watcher, size=(40, 24)) as ui:
        await ui.shows("Each change the agent makes becomes a")
        await ui.shows("press ? for the keys.")


async def test_the_keys_of_the_land_form_stay_visible_however_many_commits_there_are(
    watcher: ScriptedWatcher,
) -> None:
    async with run_panel(watcher, size=(60, 20)) as ui:
        await ui.on_row(38)
        await ui.press("l")
        await ui.shows("on main")
        form = ui.panel.screen
        assert isinstance(form, LandForm)
        many = [([(f"  commit {n}", "")], "") for n in range(40)]
        form.show_text("commits", many)
        form.on_resize(Resize(ui.panel.size, ui.panel.size))
        await ui.shows("ctrl+l land")
        await ui.shows("esc cancel")
