import re
import time

import pytest
from textual.events import Key

from chorus.errors import ExitCode
from chorus.panel.forms.answers_form import AnswersForm, parse_choices
from chorus.panel.forms.message_form import AnswerForm, DenyForm
from chorus.panel.state.items import PromptQuestion, parse_prompt
from chorus.panel.widgets.prompt_card import GUARD_SECONDS, render_prompt
from tests.panel.harness import run_panel
from tests.panel.scripted_watcher import Refusal, ScriptedWatcher
from tests.panel.story import prompt


@pytest.mark.parametrize(
    ("key", "decision", "command"),
    [
        ("a", {"decision": "allow"}, "chorus approve p1"),
        ("A", {"decision": "allow-always"}, "chorus approve p1 --always"),
        ("d", {"decision": "deny"}, "chorus deny p1"),
        ("2", {"decision": "option", "option": "2"}, "chorus approve p1 --option 2"),
    ],
)
async def test_a_key_answers_the_shown_prompt_by_id_and_fingerprint(
    watcher: ScriptedWatcher, key: str, decision: dict[str, str], command: str
) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press(key)
        assert await ui.requested("answer") == {
            "prompt": "p1",
            "fingerprint": "f-p1",
            **decision,
            "by": "panel",
        }
        await ui.until(lambda: ui.view.card.shown is None, "the card to go")
        assert ui.view.status.current.level == "done"
        assert ui.view.status.current.command == command
        await ui.shows(command)


async def test_a_denial_with_a_message_sends_the_message(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("D")
        assert isinstance(ui.panel.screen, DenyForm)
        await ui.press(*"use a")
        await ui.press("enter")
        answer = await ui.requested("answer")
        assert (answer["prompt"], answer["decision"], answer["message"]) == ("p1", "deny", "use a")


def question(**fields: object) -> dict[str, object]:
    choices = [{"label": "Go", "description": "small"}, {"label": "Rust", "description": "strict"}]
    item = {"question": "Which language?", "header": "Language", "options": choices}
    labels = ["Go", "Rust", "Type something.", "Chat about this"]
    options = [{"key": str(n), "label": label, "meaning": "other"} for n, label in enumerate(labels, 1)]
    title = {
        "kind": "question",
        "tool": "AskUserQuestion",
        "title": "Language",
        "question": "Which language?",
    }
    return prompt("p1", **title, options=options, body="", input={"questions": [item]}, **fields)


async def test_the_option_that_takes_text_opens_a_form(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = question(words="3")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("3")
        assert isinstance(ui.panel.screen, AnswerForm)
        await ui.press(*"Zig")
        await ui.shows("chorus answer p1 --text Zig")
        await ui.press("enter")
        answer = await ui.requested("answer")
        assert (answer["decision"], answer["option"], answer["message"]) == ("option", "3", "Zig")
        await ui.until(lambda: ui.view.status.current.command == "chorus answer p1 --text Zig")


MANY = {
    "questions": [
        {"question": "Which city?", "header": "city", "options": [], "multiSelect": False},
        {
            "question": "Which features?",
            "header": "Feat",
            "options": [{"label": label} for label in ("Log", "Undo", "Redo")],
            "multiSelect": True,
        },
        {"question": "Size", "header": "size", "options": [{"label": "small"}, {"label": "7"}]},
    ]
}


async def test_several_questions_are_answered_in_one_form(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt(
        "p1", kind="question", title="asking asks", options=[{"key": "1", "label": "x", "meaning": "other"}],
        body="", input=MANY,
    )  # fmt: skip
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("1")
        assert isinstance(ui.panel.screen, AnswersForm)
        await ui.shows("Which features?")
        await ui.shows("1 Log  2 Undo  3 Redo  (one or more, such as 1, 2)")
        await ui.press(*"Oslo", "enter", *"redo,1", "enter", *"7")
        await ui.shows(
            "chorus answer p1 --say 'Which city?' Oslo --to 'Which features?' Redo Log --to Size 7"
        )
        await ui.press("enter")
        answer = await ui.requested("answer")
    assert (answer["prompt"], answer["decision"]) == ("p1", "answers")
    assert [(one["question"], one["labels"], one["text"]) for one in answer["answers"]] == [
        ("Which city?", [], "Oslo"),
        ("Which features?", ["Redo", "Log"], None),
        ("Size", ["7"], None),
    ]


async def test_a_form_of_questions_sends_nothing_once_its_prompt_is_gone(watcher: ScriptedWatcher) -> None:
    options = [{"key": "1", "label": "x", "meaning": "other"}]
    watcher.prompts["p1"] = prompt("p1", kind="question", options=options, body="", input=MANY)
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("1", *"Oslo", "enter", "enter")
        watcher.withdraw("p1")
        await ui.shows("This prompt is gone")
        await ui.press(*"x", "enter", "escape")
        await ui.settle()
        assert watcher.requests_for("answer") == []
        assert not isinstance(ui.panel.screen, AnswersForm)


@pytest.mark.parametrize(
    ("typed", "labels", "text"),
    [("2", ["Go"], None), ("go", ["Go"], None), ("1, 2", [], "1, 2"), ("3", [], "3"), ("Zig", [], "Zig")],
)
def test_a_line_of_the_form_names_a_choice_or_is_the_users_own_text(
    typed: str, labels: list[str], text: str | None
) -> None:
    language = PromptQuestion("Which?", ("Rust", "Go"), several=False)
    assert parse_choices(language, typed) == {"question": "Which?", "labels": labels, "text": text}


async def test_a_question_shows_the_descriptions_of_its_choices(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = question()
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.shows("Go: small")
        await ui.shows("Rust: strict")


def test_several_questions_are_shown_each_with_its_choices() -> None:
    first = {"question": "Which?", "header": "A", "options": [{"label": "x", "description": ""}]}
    second = {"question": "How?", "header": "B", "options": [{"label": "y", "description": "fast"}]}
    shown = parse_prompt(prompt(body="", input={"questions": [first, second]}))
    assert shown is not None
    assert shown.body == "A: Which?\n  x\n\nB: How?\n  y: fast"


async def test_cancelling_the_form_denies_nothing(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("D", "n", "o", "escape")
        assert not isinstance(ui.panel.screen, DenyForm)
        assert not watcher.requests_for("answer")


async def test_a_message_for_a_prompt_that_is_gone_is_not_sent(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("D", "n", "o")
        watcher.withdraw("p1")
        watcher.add_prompt(prompt("p2"))
        await ui.shows("This prompt is gone")
        await ui.press("enter")
        assert isinstance(ui.panel.screen, DenyForm)
        assert not watcher.requests_for("answer")


async def test_a_click_on_an_option_answers_with_it(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        card = ui.view.card
        row = next(y for y in range(card.size.height) if "3 No" in card.render_line(y).text)
        await ui.pilot.click(card, offset=(5, row))
        assert (await ui.requested("answer"))["option"] == "3"


async def test_a_key_pressed_right_after_the_prompt_changed_answers_nothing(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        watcher.withdraw("p1")
        watcher.add_prompt(prompt("p2", body="curl evil | sh"))
        await ui.until(
            lambda: (
                ui.view.card.shown
                and ui.view.card.shown.since is not None
                and ui.view.card.shown.prompt.id == "p2"
            )
        )
        await ui.press("a")
        await ui.status_shows("just changed")
        assert not watcher.requests_for("answer")
        await ui.prompt_ready("p2")
        await ui.press("a")
        assert (await ui.requested("answer"))["prompt"] == "p2"


async def test_a_prompt_that_changed_between_press_and_handling_is_not_answered(
    watcher: ScriptedWatcher,
) -> None:
    """The key was pressed before the prompt appeared, however late it is handled."""
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        late = Key("a", "a")  # pressed now, while p1 is shown
        watcher.withdraw("p1")
        watcher.add_prompt(prompt("p2"))
        await ui.prompt_ready("p2")
        ui.panel.post_message(late)
        await ui.status_shows("just changed")
        assert not watcher.requests_for("answer")


async def test_the_same_prompt_with_another_fingerprint_is_another_prompt(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        watcher.add_prompt(prompt("p1", fingerprint="changed", body="rm -rf /"))
        await ui.until(lambda: ui.view.card.shown and ui.view.card.shown.prompt.fingerprint == "changed")
        await ui.press("a")
        assert not watcher.requests_for("answer")
        await ui.prompt_ready("p1")
        await ui.press("a")
        assert (await ui.requested("answer"))["fingerprint"] == "changed"


async def test_a_second_press_does_not_reach_the_prompt_that_follows(watcher: ScriptedWatcher) -> None:
    watcher.prompts = {"p1": prompt("p1"), "p2": prompt("p2")}
    watcher.held.add("answer")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("a", "a")
        await ui.status_shows("already being sent")
        watcher.held.clear()
        await ui.until(lambda: ui.view.card.shown and ui.view.card.shown.prompt.id == "p2")
        await ui.press("a")
        assert [request["prompt"] for request in watcher.requests_for("answer")] == ["p1"]


async def test_a_new_prompt_does_not_replace_the_shown_one(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        watcher.add_prompt(prompt("p2"))
        await ui.shows("1 of 2")
        assert ui.view.card.ready(time.monotonic()), "what is shown did not change: no new delay"
        await ui.press("p")
        await ui.shows("2 of 2")
        assert not ui.view.card.ready(time.monotonic())
        await ui.prompt_ready("p2")
        await ui.press("d")
        assert (await ui.requested("answer"))["prompt"] == "p2"


async def test_a_refusal_is_shown_with_its_hint_and_the_prompt_stays(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    watcher.refuse["answer"] = Refusal("the pane is in copy mode", ExitCode.REFUSED, "Leave copy mode.")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("a")
        await ui.status_shows("the pane is in copy mode. Leave copy mode.")
        assert ui.view.status.current.level == "error"
        del watcher.refuse["answer"]
        await ui.press("a")
        await ui.requested("answer", 2)


async def test_a_refusal_longer_than_the_pane_is_wrapped(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    words = "'No, and tell Claude what to do differently (esc)' takes no words; nothing was sent"
    watcher.refuse["answer"] = Refusal(words, ExitCode.REFUSED, "Deny it, then write to the session.")
    async with run_panel(watcher, (44, 40)) as ui:
        await ui.prompt_ready("p1")
        await ui.press("a")
        await ui.status_shows("takes no words")
        await ui.until(lambda: ui.view.status.size.height == 4, "as many rows as it takes")
        shown = " ".join(line.strip() for line in ui.lines()[-5:-1])
        assert f"{words}. Deny it, then write to the session." in shown
        ui.view.status.show("done")
        await ui.until(lambda: ui.view.status.size.height == 1, "one row again")


async def test_the_status_shows_the_label_of_the_always_option(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    always = next(o["label"] for o in watcher.prompts["p1"]["options"] if o["meaning"] == "allow-always")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("A")
        await ui.status_shows(f"approved: {always}")


async def test_an_unknown_prompt_is_shown_and_never_answered(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1", kind="unknown")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.shows("answer it in its pane")
        for key in "aAdD1":
            ui.view.status.show("")
            await ui.press(key)
            await ui.status_shows("Chorus does not recognise this prompt")
        assert not watcher.requests_for("answer")


async def test_a_key_without_a_matching_option_answers_nothing(watcher: ScriptedWatcher) -> None:
    options = [
        {"key": "1", "label": "Blue", "meaning": "other"},
        {"key": "2", "label": "Red", "meaning": "other"},
    ]
    watcher.prompts["p1"] = prompt("p1", kind="question", options=options)
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        for key in "aAdD":
            await ui.press(key)
            await ui.status_shows('this prompt has no "')
        await ui.press("7")
        await ui.status_shows("no option 7")
        assert not watcher.requests_for("answer")
        await ui.press("2")
        assert (await ui.requested("answer"))["option"] == "2"


async def test_without_a_prompt_the_answer_keys_do_nothing(watcher: ScriptedWatcher) -> None:
    async with run_panel(watcher) as ui:
        for key in "aAdD1p":
            ui.view.status.show("")
            await ui.press(key)
            await ui.status_shows("no prompt is pending")
        assert not watcher.requests_for("answer")


async def test_answer_keys_typed_into_the_filter_are_text(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("slash", "a", "d", "1")
        assert ui.view.filter.value == "ad1"
        assert not watcher.requests_for("answer")


async def test_a_long_command_scrolls_while_the_question_stays_visible(watcher: ScriptedWatcher) -> None:
    body = "\n".join(f"line {n}" for n in range(200))
    watcher.prompts["p1"] = prompt("p1", body=body)
    async with run_panel(watcher, (80, 30)) as ui:
        await ui.prompt_ready("p1")
        await ui.shows("more lines")
        ui.view.card.focus()
        await ui.press("G")
        await ui.shows("line 199")
        assert "Do you want to proceed?" in ui.text()


async def test_on_a_short_screen_a_folded_prompt_is_shown_before_it_is_answered(
    watcher: ScriptedWatcher,
) -> None:
    watcher.prompts["p1"] = prompt("p1")
    async with run_panel(watcher, (40, 12)) as ui:
        await ui.prompt_ready("p1")
        assert "rm -rf build" in ui.text()
        await ui.press("tab")
        await ui.until(lambda: "Queue" in ui.text())
        await ui.press("a")
        await ui.status_shows("the prompt was hidden")
        assert not watcher.requests_for("answer")
        await ui.shows("rm -rf build")
        await ui.press("a")
        await ui.requested("answer")


def test_the_guard_is_longer_than_a_key_repeat_and_too_short_to_be_noticed() -> None:
    assert 0.05 < GUARD_SECONDS <= 0.3


@pytest.mark.parametrize("bell", [True, False])
async def test_the_bell_rings_once_for_a_new_prompt_if_enabled(watcher: ScriptedWatcher, bell: bool) -> None:
    watcher.prompts["p0"] = prompt("p0")
    async with run_panel(watcher, bell=bell) as ui:
        rung: list[str] = []
        ui.panel.bell = lambda: rung.append("ring")  # type: ignore[method-assign]  # replaced for this test
        await ui.prompt_ready("p0")
        watcher.add_prompt(prompt("p1"))
        watcher.add_prompt(prompt("p1", fingerprint="other"))
        await ui.until(lambda: ui.panel.model.prompts.get("p1", None) is not None)
        watcher.withdraw("p0")
        await ui.prompt_ready("p1")
        assert rung == ["ring"] * bell


async def test_an_approval_waits_until_all_of_the_command_was_shown(watcher: ScriptedWatcher) -> None:
    body = "\n".join(f"line {n}" for n in range(45))
    watcher.prompts["p1"] = prompt("p1", body=body)
    async with run_panel(watcher, (80, 30)) as ui:
        await ui.prompt_ready("p1")
        for last in ("line 2", "line 3", "line 44"):
            assert not watcher.requests_for("answer")
            await ui.prompt_ready("p1")
            await ui.press("a")
            await ui.status_shows("part of the prompt was hidden")
            await ui.shows(last)
            if "line 44" in ui.text():
                break
        await ui.prompt_ready("p1")
        await ui.press("1")
        assert (await ui.requested("answer"))["option"] == "1"


async def test_scrolling_to_the_end_over_a_gap_is_not_reading(watcher: ScriptedWatcher) -> None:
    watcher.prompts["p1"] = prompt("p1", body="\n".join(f"line {n}" for n in range(200)))
    async with run_panel(watcher, (80, 30)) as ui:
        await ui.prompt_ready("p1")
        ui.view.card.focus()
        await ui.press("G")
        await ui.shows("line 199")
        await ui.press("A" if ui.view.card.shown.prompt.option("allow-always") else "a")  # type: ignore[union-attr]  # a prompt is shown
        await ui.status_shows("part of the prompt was hidden")
        assert not watcher.requests_for("answer")
        await ui.prompt_ready("p1")
        await ui.press("d")
        assert (await ui.requested("answer"))["decision"] == "deny"


@pytest.mark.parametrize(
    "fields",
    [{"body": f"ls {'x' * 3000}; rm -rf ~"}, {"body": "x\n" * 3000}, {"question": f"Run {'x' * 3000}?"}],
    ids=["a long line", "many lines", "a long question"],
)
async def test_a_prompt_that_the_panel_cannot_show_completely_is_not_approved(
    watcher: ScriptedWatcher, fields: dict[str, str]
) -> None:
    watcher.prompts["p1"] = prompt("p1", **fields)
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("a")
        await ui.status_shows("the prompt is too long for the panel")
        assert not watcher.requests_for("answer")


async def test_a_change_whose_beginning_the_pane_does_not_show_is_not_approved(
    watcher: ScriptedWatcher,
) -> None:
    watcher.prompts["p1"] = prompt("p1", cut=True)
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        await ui.press("a")
        await ui.status_shows("part of the prompt is not on the pane's screen")
        assert not watcher.requests_for("answer")


async def test_each_option_has_a_digit(watcher: ScriptedWatcher) -> None:
    """Also where the client has it on another key."""
    keys = [("Enter", "stay", "other"), ("BTab", "leave", "other"), ("Escape", "cancel", "deny")]
    options = [{"key": key, "label": label, "meaning": meaning} for key, label, meaning in keys]
    watcher.prompts["p1"] = prompt("p1", options=options)
    async with run_panel(watcher) as ui:
        await ui.prompt_ready("p1")
        assert re.search(r"2 leave", ui.text())
        await ui.press("2")
        assert (await ui.requested("answer"))["option"] == "BTab"


def shown_styles(tool: str, kind: str, body: str) -> dict[str, str]:
    value = {**prompt("p1", body=body), "tool": tool, "kind": kind}
    pending = parse_prompt(value)
    assert pending is not None
    lines = render_prompt(pending, 80, session="", position="", keys=True).body
    return {text.strip(): style for line in lines for text, style in line}


def test_a_bullet_is_not_a_removed_line() -> None:
    changed = shown_styles(
        "Write", "overwrite", "notes.md\n╌╌\n 3  - one\n 4 -- two\n 4 +- three\n   + on\n╌╌"
    )
    assert changed == {
        "notes.md": "",
        "3  - one": "",
        "4 -- two": "minus",
        "4 +- three": "plus",
        "+ on": "plus",
    }
    created = shown_styles("Write", "create", "notes.md\n╌╌\n 1 - one\n 2 + two\n╌╌")
    assert set(created.values()) == {""}
    requested = shown_styles("Edit", "edit", "notes.md\n-- one\n+- two\n - three")
    assert requested == {"notes.md": "", "-- one": "minus", "+- two": "plus", "- three": ""}
    assert set(shown_styles("Write", "create", "/a\ncontent: # a\n  - b").values()) == {""}


def test_the_command_comes_before_the_words_around_it() -> None:
    body = " run it\n╌╌╌\n rm -rf build\n - a bullet\n╌╌╌\n\n A variable cannot be checked"
    styles = shown_styles("Bash", "bash", body)
    assert list(styles) == ["rm -rf build", "- a bullet", "", "run it", "A variable cannot be checked"]
    assert styles["rm -rf build"] == styles["- a bullet"] == "strong"


def test_the_tool_of_a_server_stays_above_its_input() -> None:
    styles = shown_styles("", "mcp", " notes — Keep Tool: (MCP)\n╌╌╌\n text: 1\n╌╌╌\n About it")
    assert list(styles) == ["notes — Keep Tool: (MCP)", "text: 1", "About it"]


def test_words_of_the_client_are_not_indented_and_its_title_is_not_asked_again() -> None:
    value = {
        **prompt("p1", body="  Auto mode is off.\n\n    - a bullet"),
        "tool": None,
        "kind": "auto-mode-notice",
    }
    pending = parse_prompt({**value, "title": "Auto mode", "question": "Auto mode"})
    assert pending is not None
    lines = render_prompt(pending, 80, session="", position="", keys=True)
    assert [text for line in lines.body for text, _ in line] == ["Auto mode is off.", "", "  - a bullet"]
    assert not any("Auto mode" in text for line in lines.foot for text, _ in line)


def test_the_blank_rows_between_a_plan_and_its_options_are_left_out() -> None:
    value = {
        **prompt("p1", body="  The plan\n╌\n  1. edit\n╌\n\n\n\n─"),
        "tool": "ExitPlanMode",
        "kind": "plan",
    }
    pending = parse_prompt(value)
    assert pending is not None
    lines = render_prompt(pending, 80, session="", position="", keys=True)
    assert [text.strip() for line in lines.body for text, _ in line] == ["The plan", "1. edit"]


@pytest.mark.parametrize(
    ("root", "shown"),
    [("/src/shop", "cart.py"), ("/src/sho", "/src/shop/cart.py"), ("", "/src/shop/cart.py")],
)
def test_a_path_below_the_work_tree_is_shown_without_it(root: str, shown: str) -> None:
    pending = parse_prompt({**prompt("p1", body=" /src/shop/cart.py\n╌\n-a\n+b\n╌"), "tool": "Edit"})
    assert pending is not None
    lines = render_prompt(pending, 80, session="", position="", keys=True, root=root)
    assert lines.body[0][0][0].strip() == shown
