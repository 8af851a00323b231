"""Notes to the agent: written in the panel on an action or a line, sent together."""

from chorus.panel.forms.note_form import NoteForm
from tests.panel.harness import run_panel
from tests.panel.scripted_watcher import ScriptedWatcher


async def test_c_writes_a_note_on_the_action_and_u_drops_it(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.on_row(38)
        await ui.press("c")
        assert isinstance(ui.panel.screen, NoteForm)
        await ui.press("enter")
        assert isinstance(ui.panel.screen, NoteForm), "an empty note is not written"
        await ui.press(*"why?")
        await ui.shows("chorus note 38 'why?'")
        await ui.press("enter")
        assert await ui.requested("note") == {"action": 38, "text": "why?"}
        await ui.status_shows("note 1 is a draft")
        await ui.shows("✎ note 1 draft")
        await ui.press("u")
        await ui.status_shows("dropped note 1")
        await ui.until(lambda: "✎" not in ui.text())


async def test_the_diff_opens_on_its_first_change_and_a_note_leaves_the_cursor_there(
    watcher: ScriptedWatcher,
) -> None:
    async with run_panel(watcher, (120, 40)) as ui:
        await ui.on_row(38)
        await ui.until(lambda: ui.view.diff.document.patch.lines, "the diff")
        await ui.press("enter")
        place = ui.view.diff.place()
        assert place is not None
        assert place[1].kind == "added"
        await ui.press("c", *"why?", "enter")
        await ui.shows("✎ note 1 draft")
        assert ui.view.diff.place() == place, "the lines of the note are above it"


async def test_in_the_diff_c_writes_a_note_on_the_line_under_the_cursor(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, (120, 40)) as ui:
        await ui.on_row(38)
        await ui.until(lambda: ui.view.diff.document.patch.lines, "the diff")
        await ui.press("enter")
        await ui.until(lambda: ui.view.diff.has_focus)
        while (place := ui.view.diff.place()) is None or place[1].text.strip() != "width = 0":
            await ui.press("j")
        await ui.press("c")
        await ui.shows("Note on src/parser.py:14")
        await ui.press(*"slow", "enter")
        assert await ui.requested("note") == {
            "action": 38, "text": "slow", "path": "src/parser.py", "line": 14,
        }  # fmt: skip
        await ui.shows("src/parser.py:14")


async def test_capital_c_sends_all_drafts(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        await ui.press("C")
        await ui.status_shows("there is no draft to send")
        await ui.on_row(38)
        for text in ("one", "two"):
            await ui.press("c", *text, "enter")
            await ui.requested("note", 2 if text == "two" else 1)
        await ui.shows("✎2")
        await ui.shows("send notes")
        await ui.press("C")
        await ui.status_shows("sent 2 notes; the session gets them at its next step")
        await ui.shows("note 2 sent")


async def test_a_panel_of_one_work_tree_reads_and_sends_only_its_notes(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher, here=True) as ui:
        await ui.on_row(38)
        await ui.press("c", *"why?", "enter")
        await ui.requested("note")
        await ui.press("C")
        assert await ui.requested("send_notes") == {"here": True}
        watcher.publish("action", entry=watcher.entries[38])
        assert (await ui.requested("notes", 2))["here"] is True
        await ui.shows("chorus notes send --here")


async def test_a_note_whose_lines_changed_is_marked(watcher: ScriptedWatcher) -> None:
    watcher.notes[1] = {
        "n": 1, "id": "toolu_00044", "path": "src/parser.py", "line": 3, "at": 5, "text": "why?",
        "state": "addressed", "changed": True, "quote": ["x"],
    }  # fmt: skip
    async with run_panel(watcher) as ui:
        await ui.on_row(44)
        await ui.shows("✎ note 1 addressed")
        await ui.shows("its lines have changed since")
        await ui.press("g", "c")
        await ui.status_shows("put the cursor on an action")
