import time

import pytest
from textual.events import Key

from chorus.errors import ExitCode
from chorus.panel.bars import Said
from chorus.panel.deny_form import DenyForm, WordsForm
from chorus.panel.item_parsing import parse_prompt
from chorus.panel.prompt_card import GUARD_SECONDS
from tests.panel.agent import Refusal, ScriptedAgent
from tests.panel.running import running
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
async def test_a_key_answers_the_prompt_that_is_shown_by_id_and_fingerprint(
    agent: ScriptedAgent, key: str, decision: dict[str, str], command: str
) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press(key)
        assert await one.asked("answer") == {"prompt": "p1", "fingerprint": "f-p1", **decision, "by": "panel"}
        await one.until(lambda: one.panel.card.shown is None, "the card to go")
        assert one.panel.status.said.level == "done"
        assert one.panel.status.said.command == command
        await one.shows(command)


async def test_a_denial_with_a_message_sends_the_message(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("D")
        assert isinstance(one.panel.screen, DenyForm)
        await one.press(*"use a")
        await one.press("enter")
        answer = await one.asked("answer")
        assert (answer["prompt"], answer["decision"], answer["message"]) == ("p1", "deny", "use a")


def question(**fields: object) -> dict[str, object]:
    choices = [{"label": "Go", "description": "small"}, {"label": "Rust", "description": "strict"}]
    asked = {"question": "Which language?", "header": "Language", "options": choices}
    labels = ["Go", "Rust", "Type something.", "Chat about this"]
    options = [{"key": str(n), "label": label, "meaning": "other"} for n, label in enumerate(labels, 1)]
    title = {
        "kind": "question",
        "tool": "AskUserQuestion",
        "title": "Language",
        "question": "Which language?",
    }
    return prompt("p1", **title, options=options, body="", input={"questions": [asked]}, **fields)


async def test_the_option_that_takes_words_asks_for_them(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = question(words="3")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("3")
        assert isinstance(one.panel.screen, WordsForm)
        await one.press(*"Zig")
        await one.shows("chorus answer p1 --text Zig")
        await one.press("enter")
        answer = await one.asked("answer")
        assert (answer["decision"], answer["option"], answer["message"]) == ("option", "3", "Zig")
        await one.until(lambda: one.panel.status.said.command == "chorus answer p1 --text Zig")


async def test_a_question_says_what_its_choices_mean(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = question()
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.shows("Go: small")
        await one.shows("Rust: strict")


def test_several_questions_are_told_each_with_its_choices() -> None:
    first = {"question": "Which?", "header": "A", "options": [{"label": "x", "description": ""}]}
    second = {"question": "How?", "header": "B", "options": [{"label": "y", "description": "fast"}]}
    shown = parse_prompt(prompt(body="", input={"questions": [first, second]}))
    assert shown is not None
    assert shown.body == "A: Which?\n  x\n\nB: How?\n  y: fast"


async def test_leaving_the_form_denies_nothing(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("D", "n", "o", "escape")
        assert not isinstance(one.panel.screen, DenyForm)
        assert not agent.asked_to("answer")


async def test_a_message_for_a_prompt_that_went_meanwhile_is_not_sent(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("D", "n", "o")
        agent.withdraw("p1")
        agent.prompt(prompt("p2"))
        await one.shows("This prompt is gone")
        await one.press("enter")
        assert isinstance(one.panel.screen, DenyForm)
        assert not agent.asked_to("answer")


async def test_a_click_on_an_option_answers_with_it(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        card = one.panel.card
        row = next(y for y in range(card.size.height) if "3 No" in card.render_line(y).text)
        await one.pilot.click(card, offset=(5, row))
        assert (await one.asked("answer"))["option"] == "3"


async def test_a_key_pressed_right_after_the_prompt_changed_answers_nothing(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        agent.withdraw("p1")
        agent.prompt(prompt("p2", body="curl evil | sh"))
        await one.until(
            lambda: (
                one.panel.card.shown
                and one.panel.card.shown.since is not None
                and one.panel.card.shown.prompt.id == "p2"
            )
        )
        await one.press("a")
        await one.says("just changed")
        assert not agent.asked_to("answer")
        await one.prompt_ready("p2")
        await one.press("a")
        assert (await one.asked("answer"))["prompt"] == "p2"


async def test_a_prompt_that_changed_between_press_and_handling_is_not_answered(agent: ScriptedAgent) -> None:
    """The press is older than the prompt it would reach, however late it is handled."""
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        late = Key("a", "a")  # pressed now, while p1 is shown
        agent.withdraw("p1")
        agent.prompt(prompt("p2"))
        await one.prompt_ready("p2")
        one.panel.post_message(late)
        await one.says("just changed")
        assert not agent.asked_to("answer")


async def test_the_same_prompt_with_another_fingerprint_is_another_prompt(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        agent.prompt(prompt("p1", fingerprint="changed", body="rm -rf /"))
        await one.until(lambda: one.panel.card.shown and one.panel.card.shown.prompt.fingerprint == "changed")
        await one.press("a")
        assert not agent.asked_to("answer")
        await one.prompt_ready("p1")
        await one.press("a")
        assert (await one.asked("answer"))["fingerprint"] == "changed"


async def test_a_second_press_does_not_reach_the_prompt_that_follows(agent: ScriptedAgent) -> None:
    agent.prompts = {"p1": prompt("p1"), "p2": prompt("p2")}
    agent.held.add("answer")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("a", "a")
        await one.says("on its way")
        agent.held.clear()
        await one.until(lambda: one.panel.card.shown and one.panel.card.shown.prompt.id == "p2")
        await one.press("a")
        assert [request["prompt"] for request in agent.asked_to("answer")] == ["p1"]


async def test_a_new_prompt_does_not_push_the_shown_one_aside(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        agent.prompt(prompt("p2"))
        await one.shows("1 of 2")
        assert one.panel.card.ready(time.monotonic()), "what is shown did not change: no waiting anew"
        await one.press("p")
        await one.shows("2 of 2")
        assert not one.panel.card.ready(time.monotonic())
        await one.prompt_ready("p2")
        await one.press("d")
        assert (await one.asked("answer"))["prompt"] == "p2"


async def test_a_refusal_is_said_with_its_hint_and_the_prompt_stays(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    agent.refuse["answer"] = Refusal("the pane is in copy mode", ExitCode.REFUSED, "Leave copy mode.")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("a")
        await one.says("the pane is in copy mode Leave copy mode.")
        assert one.panel.status.said.level == "error"
        del agent.refuse["answer"]
        await one.press("a")
        await one.asked("answer", 2)


async def test_a_refusal_longer_than_the_pane_is_wide_is_said_to_its_end(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    words = "'No, and tell Claude what to do differently (esc)' takes no words; nothing was sent"
    agent.refuse["answer"] = Refusal(words, ExitCode.REFUSED, "Deny it, then write to the session.")
    async with running(agent, (44, 40)) as one:
        await one.prompt_ready("p1")
        await one.press("a")
        await one.says("takes no words")
        await one.until(lambda: one.panel.status.size.height == 4, "as many rows as it takes")
        shown = " ".join(line.strip() for line in one.lines()[-5:-1])
        assert f"{words} Deny it, then write to the session." in shown
        one.panel.say(Said("done"))
        await one.until(lambda: one.panel.status.size.height == 1, "one row again")


async def test_what_the_dialog_offers_beyond_a_yes_is_said_in_its_own_words(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    always = next(o["label"] for o in agent.prompts["p1"]["options"] if o["meaning"] == "allow-always")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("A")
        await one.says(f"approved: {always}")


async def test_a_prompt_no_rule_fits_is_shown_and_never_answered(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1", kind="unknown")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.shows("answer it in its own pane")
        for key in "aAdD1":
            one.panel.say(Said(""))
            await one.press(key)
            await one.says("not a prompt Chorus knows")
        assert not agent.asked_to("answer")


async def test_a_meaning_the_prompt_does_not_have_is_not_made_up(agent: ScriptedAgent) -> None:
    options = [
        {"key": "1", "label": "Blue", "meaning": "other"},
        {"key": "2", "label": "Red", "meaning": "other"},
    ]
    agent.prompts["p1"] = prompt("p1", kind="question", options=options)
    async with running(agent) as one:
        await one.prompt_ready("p1")
        for key in "aAdD":
            await one.press(key)
            await one.says("no option of this prompt means")
        await one.press("7")
        await one.says("no option 7")
        assert not agent.asked_to("answer")
        await one.press("2")
        assert (await one.asked("answer"))["option"] == "2"


async def test_with_nothing_asked_the_answer_keys_do_nothing(agent: ScriptedAgent) -> None:
    async with running(agent) as one:
        for key in "aAdD1p":
            one.panel.say(Said(""))
            await one.press(key)
            await one.says("nothing is asked")
        assert not agent.asked_to("answer")


async def test_answer_keys_typed_into_the_filter_are_text(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent) as one:
        await one.prompt_ready("p1")
        await one.press("slash", "a", "d", "1")
        assert one.panel.filter.value == "ad1"
        assert not agent.asked_to("answer")


async def test_a_long_command_is_scrolled_while_the_question_stays(agent: ScriptedAgent) -> None:
    body = "\n".join(f"line {n}" for n in range(200))
    agent.prompts["p1"] = prompt("p1", body=body)
    async with running(agent, (80, 30)) as one:
        await one.prompt_ready("p1")
        await one.shows("more lines")
        one.panel.card.focus()
        await one.press("G")
        await one.shows("line 199")
        assert "Do you want to proceed?" in one.text()


async def test_on_a_short_screen_a_folded_prompt_is_shown_before_it_is_answered(agent: ScriptedAgent) -> None:
    agent.prompts["p1"] = prompt("p1")
    async with running(agent, (40, 12)) as one:
        await one.prompt_ready("p1")
        assert "rm -rf build" in one.text()
        await one.press("tab")
        await one.until(lambda: "Queue" in one.text())
        await one.press("a")
        await one.says("here is the prompt")
        assert not agent.asked_to("answer")
        await one.shows("rm -rf build")
        await one.press("a")
        await one.asked("answer")


def test_the_guard_is_shorter_than_a_thought_and_longer_than_a_key_repeat() -> None:
    assert 0.05 < GUARD_SECONDS <= 0.3


@pytest.mark.parametrize("bell", [True, False])
async def test_the_bell_rings_once_for_a_new_prompt_if_it_is_wanted(agent: ScriptedAgent, bell: bool) -> None:
    agent.prompts["p0"] = prompt("p0")
    async with running(agent, bell=bell) as one:
        rung: list[str] = []
        one.panel.bell = lambda: rung.append("ring")  # type: ignore[method-assign]
        await one.prompt_ready("p0")
        agent.prompt(prompt("p1"))
        agent.prompt(prompt("p1", fingerprint="other"))
        await one.until(lambda: one.panel.model.prompts.get("p1", None) is not None)
        agent.withdraw("p0")
        await one.prompt_ready("p1")
        assert rung == ["ring"] * bell
