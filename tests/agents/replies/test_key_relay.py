"""A key is sent for the prompt that was answered, or not at all."""

from dataclasses import replace

import pytest

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.agents.claude_code.replies.appearances import PromptAppearances
from chorus.agents.claude_code.replies.key_relay import KeyRelay
from chorus.agents.interface import Answered, DialogStillShown, PaneView, PressKey, Refused, Wait
from chorus.model.answer import (
    Allow,
    AllowAlways,
    Answer,
    ChooseOption,
    Deny,
    PromptAnswer,
    QuestionAnswer,
    QuestionAnswers,
    describe_answer,
)
from chorus.model.ids import PaneId
from chorus.model.prompt import NoPrompt, Prompt, TextField, UnknownPrompt
from tests.screens import screen_text, shipped_rules

RULES = shipped_rules()
PANE = PaneId("%1")
GONE = NoPrompt("the input box is drawn")


def shown(name: str) -> Prompt | UnknownPrompt | NoPrompt:
    folder = "recordings/tui" if name.startswith("tui:") else "screens/2.1.325"
    return read_screen(screen_text(f"{folder}/{name.removeprefix('tui:')}.txt"), RULES).found


def prompt(name: str) -> Prompt:
    found = shown(name)
    assert isinstance(found, Prompt)
    return found


def seen(found: str | Prompt | UnknownPrompt | NoPrompt, **other: object) -> PaneView:
    look = PaneView(PANE, "10@1", shown(found) if isinstance(found, str) else found)
    return replace(look, **other)  # type: ignore[arg-type]  # any fields


def answer_to(name: str, answer: Answer) -> PromptAnswer:
    return PromptAnswer(prompt(name), PANE, "10@1", answer)


EDIT = "edit_80"


@pytest.mark.parametrize(
    ("name", "answer", "key"),
    [
        (EDIT, Allow(), "1"),
        (EDIT, AllowAlways(), "2"),
        (EDIT, Deny(), "3"),
        (EDIT, ChooseOption("2"), "2"),
        ("tui:edit_80", Deny(), "3"),
        ("bash_80", Deny(), "4"),
        ("bashexp_80", Deny(), "3"),
        ("bashexp_80", AllowAlways(), "2"),
        ("bash_80", ChooseOption("3"), "3"),
        ("tui:bashlong_80", Deny(), "2"),
        ("mcp_80", AllowAlways(), "2"),
        ("mcp_60", Deny(), "2"),  # the same key, because the pane is narrow
        ("fetch_80", Deny(), "3"),
        ("plan_80", Allow(), "2"),
        ("plan_80", AllowAlways(), "1"),
        ("exitplan_80", Deny(), "2"),
        ("ask_80", Deny(), "Escape"),
        ("ask_80", ChooseOption("2"), "2"),
        ("askonlymulti_80", ChooseOption("4"), "4"),
        ("autonotice_fetch_80", ChooseOption("Enter"), "Enter"),
        ("autonotice_fetch_80", ChooseOption("1"), "Enter"),
        ("autonotice_fetch_80", ChooseOption("2"), "BTab"),
        ("autonotice_fetch_80", ChooseOption("3"), "Escape"),
        ("dock_autoaskmcp_160x40", Deny(), "Enter"),
        ("dock_autoaskmcp_step1_Down_160x40", Allow(), "Enter"),
        ("dock_elicitplain_160x50", Allow(), "Enter"),
        ("dock_eliciturl_120x24", ChooseOption("1"), "Enter"),
        ("dock_elicitform_160x50", Deny(), "Escape"),
        ("sandboxnet_80x30", AllowAlways(), "2"),
        ("sandboxnet_80x30", Deny(), "3"),
        ("exitplan_160x40", Allow(), "1"),
        ("team_160x50", Allow(), "1"),
        ("autonotice_fetch_80", Deny(), "Escape"),
        ("tui:dialog_bypass_80", Deny(), "1"),
        ("trust_80", Deny(), "Enter"),
    ],
)
def test_the_key_is_the_one_drawn_before_the_label(name: str, answer: Answer, key: str) -> None:
    relay = KeyRelay(answer_to(name, answer))
    assert relay.observe(seen(name)) == PressKey(key)
    assert relay.observe(seen(name)) == Wait()
    assert relay.observe(seen(GONE)) == Answered()
    assert relay.observe(seen(name)) == Answered()
    assert relay.sent == 1


@pytest.mark.parametrize(
    ("name", "answer", "reason"),
    [
        (
            "bash_80",
            AllowAlways(),
            'several options mean "don\'t ask again"; choose one by its key: 2: Yes, and always',
        ),
        ("mcp_60", AllowAlways(), 'this prompt has no "don\'t ask again" option'),
        ("ask_80", Allow(), 'no "approve" option'),
        ("plan_80", Deny(), "this dialog can be denied only with a message"),
        ("ask_80", Deny("no"), "this dialog can be denied only without a message"),
        ("fetch_80", Deny("no"), "takes no text: leave the text out, then send the session a message"),
        ("tui:exitplan_80", Deny("no"), "'No' takes no text: leave the text out"),
        (EDIT, ChooseOption("4"), "no option '4'"),
        ("autonotice_fetch_80", ChooseOption("4"), "no option '4'"),
        ("dock_autoaskmcp_160x40", ChooseOption("Enter"), "no option 'Enter'"),
        ("dock_autoaskmcp_160x40", Deny("not so"), "takes no text"),
        ("dock_elicitform_160x50", Allow(), 'this prompt has no "approve" option'),
        (EDIT, ChooseOption("2", "why"), "takes no text"),
        (EDIT, Deny(""), "one line of printable characters"),
        (EDIT, Deny("a\nb"), "one line of printable characters"),
        (EDIT, Deny("a\x1bb"), "one line of printable characters"),
        (EDIT, Deny("x" * 401), "longer than 400"),
        ("plan_80", ChooseOption("3"), "needs a text"),
        ("ask_80", ChooseOption("3"), "needs a text"),
        ("askonlymulti_80", ChooseOption("1"), "takes several options"),
        ("askonlymulti_80", ChooseOption("3"), "takes several options"),
        (EDIT, QuestionAnswers((QuestionAnswer("x", ("y",)),)), "not a question of the agent"),
        ("ask_80", QuestionAnswers(()), "1 question(s), got 0 answer(s)"),
        (
            "ask_80",
            QuestionAnswers((QuestionAnswer("Which tool?", ("Go",)),)),
            "the dialog shows another question",
        ),
        (
            "ask_80",
            QuestionAnswers((QuestionAnswer("Which language?", ("Rust",)),)),
            "no option, or more than one, has the label 'Rust'",
        ),
        (
            "ask_80",
            QuestionAnswers((QuestionAnswer("Which language?", ("Go", "Python")),)),
            "needs exactly one choice",
        ),
        ("askonlymulti_80", QuestionAnswers((QuestionAnswer("Which features?"),)), "at least one choice"),
        (
            "askonlymulti_80",
            QuestionAnswers((QuestionAnswer("Which features?", text="x"),)),
            "cannot type text into this question",
        ),
    ],
)
def test_an_answer_that_does_not_fit_exactly_one_option_sends_nothing(
    name: str, answer: Answer, reason: str
) -> None:
    relay = KeyRelay(answer_to(name, answer))
    effect = relay.observe(seen(name))
    assert isinstance(effect, Refused)
    assert reason in effect.reason
    assert effect.sent == 0


def test_a_dialog_with_no_way_to_deny_is_left_to_its_pane() -> None:
    without_escape = replace(prompt("ask_80"), footer="Enter to select")
    relay = KeyRelay(PromptAnswer(without_escape, PANE, "10@1", Deny()))
    effect = relay.observe(seen(without_escape))
    assert isinstance(effect, Refused)
    assert (effect.reason, effect.sent) == ("this dialog cannot be denied; answer it in its pane", 0)


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        (seen(GONE), "the prompt is gone"),
        (seen(UnknownPrompt("half drawn")), "the prompt is gone"),
        (seen("editlong_80"), "another prompt is shown"),
        (seen("pair_80"), "another prompt is shown"),  # the same file, another change
        (seen("bash_80"), "another prompt is shown"),
        (seen("fake_80"), "the prompt is gone"),
        (seen("edit_yes_step1_Tab_80"), "someone is typing"),
        (seen("edit_no_step4_use-tabs--1-2-3_80"), "someone is typing"),
        (seen(EDIT, in_mode=True), "copy mode"),
        (seen(EDIT, scrolled=True), "scrolled back"),
        (seen(EDIT, dead=True), "dead"),
        (seen(EDIT, process="11@7"), "foreground"),
        (seen(EDIT, process="10@9"), "foreground"),
        (seen(EDIT, pane=PaneId("%2")), "this is pane %2"),
    ],
)
def test_no_key_is_sent_unless_the_answered_prompt_is_in_its_pane(look: PaneView, reason: str) -> None:
    relay = KeyRelay(answer_to(EDIT, Allow()))
    effect = relay.observe(look)
    assert isinstance(effect, Refused)
    assert reason in effect.reason
    assert effect.sent == 0
    assert relay.observe(seen(EDIT)) == effect  # the end is final


def drive(relay: KeyRelay, names: list[str]) -> list[object]:
    return [relay.observe(seen(name)) for name in names]


def test_a_denial_with_a_text_is_typed_step_by_step_and_checked() -> None:
    relay = KeyRelay(answer_to(EDIT, Deny("use tabs; 1 2 3")))
    names = [EDIT, EDIT, "edit_no_step1_Down_80", "edit_no_step2_Down_80", "edit_no_step3_Tab_80"]
    assert drive(relay, names) == [
        PressKey("Down"),
        Wait(),
        PressKey("Down"),
        PressKey("Tab"),
        PressKey("use tabs; 1 2 3", literal=True),
    ]
    half = replace(prompt("edit_no_step3_Tab_80"), text_field=TextField("3", "use ta", True))
    assert relay.observe(seen(half)) == Wait()
    assert relay.observe(seen("edit_no_step4_use-tabs--1-2-3_80")) == PressKey("Enter")
    assert relay.observe(seen("edit_no_step5_Enter_80")) == Answered()


def test_a_dialog_drawn_in_pieces_is_awaited() -> None:
    """An older client moves its cursor first and draws the footer a moment later."""
    relay = KeyRelay(answer_to(EDIT, Deny("use tabs; 1 2 3")))
    first, second = prompt("edit_no_step1_Down_80"), prompt("edit_no_step2_Down_80")
    pieces = [prompt(EDIT), replace(first, selected=None), first]
    assert [relay.observe(seen(piece)) for piece in pieces] == [PressKey("Down"), Wait(), PressKey("Down")]
    assert relay.observe(seen(replace(second, footer=first.footer))) == Wait()
    assert relay.observe(seen(second)) == PressKey("Tab")
    assert relay.observe(seen(UnknownPrompt("choice 'No, and tell Claude …' is none of: no"))) == Wait()
    assert relay.observe(seen("edit_no_step3_Tab_80")) == PressKey("use tabs; 1 2 3", literal=True)
    gone = relay.observe(seen(UnknownPrompt("something else")))
    assert gone == Refused("the prompt is gone: something else", 4)


def test_a_text_is_not_typed_if_the_footer_never_offers_it() -> None:
    relay = KeyRelay(answer_to(EDIT, Deny("use tabs")))
    first = prompt("edit_no_step1_Down_80")
    silent = replace(prompt("edit_no_step2_Down_80"), footer=first.footer)
    assert [relay.observe(seen(look)) for look in (EDIT, first, silent, silent)] == [
        PressKey("Down"), PressKey("Down"), Wait(), Wait(),
    ]  # fmt: skip
    assert relay.expire() == Refused("the screen did not change in time", 2)


def test_a_text_with_an_approval_opens_the_field_of_the_selected_option() -> None:
    relay = KeyRelay(answer_to(EDIT, Allow("use tabs")))
    names = [EDIT, "edit_yes_step1_Tab_80", "edit_yes_step2_use-tabs_80", "edit_yes_step3_Enter_80"]
    assert drive(relay, names) == [
        PressKey("Tab"), PressKey("use tabs", literal=True), PressKey("Enter"), Answered(),
    ]  # fmt: skip


def test_the_cursor_may_start_below_the_option() -> None:
    relay = KeyRelay(answer_to(EDIT, Allow("use tabs")))
    assert drive(relay, ["edit_no_step2_Down_80", "edit_no_step1_Down_80", EDIT]) == [
        PressKey("Up"), PressKey("Up"), PressKey("Tab"),
    ]  # fmt: skip


def test_a_text_for_a_dialog_without_a_cursor_is_refused() -> None:
    relay = KeyRelay(answer_to(EDIT, Deny("no")))
    assert relay.observe(seen(replace(prompt(EDIT), selected=None))) == Refused("no option is selected")


def test_a_text_is_refused_where_the_footer_does_not_offer_it() -> None:
    relay = KeyRelay(answer_to(EDIT, Allow("no")))
    effect = relay.observe(seen(replace(prompt(EDIT), footer="Esc to cancel")))
    assert effect == Refused("this dialog takes no text with 'Yes'")


@pytest.mark.parametrize(
    "surprise",
    [
        prompt("edit_no_step2_Down_80"),  # the cursor further than the key moved it
        replace(prompt(EDIT), text_field=TextField("1", "x", True)),
        prompt("bash_80"),
        GONE,
        UnknownPrompt("half drawn"),
    ],
)
def test_an_unexpected_screen_between_two_keys_ends_the_relay(
    surprise: Prompt | UnknownPrompt | NoPrompt,
) -> None:
    relay = KeyRelay(answer_to(EDIT, Deny("use tabs")))
    relay.observe(seen(EDIT))
    effect = relay.observe(seen(surprise))
    assert isinstance(effect, Refused)
    assert effect.sent == 1
    assert relay.observe(seen("edit_no_step1_Down_80")) == effect


@pytest.mark.parametrize(
    "text_field",
    [None, TextField("1", "use", True), TextField("3", "used", True), TextField("3", "use", False)],
)
def test_a_text_that_is_shown_differently_is_not_submitted(text_field: TextField | None) -> None:
    relay = KeyRelay(answer_to(EDIT, Deny("use tabs")))
    drive(relay, [EDIT, "edit_no_step1_Down_80", "edit_no_step2_Down_80", "edit_no_step3_Tab_80"])
    effect = relay.observe(seen(replace(prompt(EDIT), text_field=text_field, selected="3")))
    assert isinstance(effect, Refused)
    assert effect.sent == 4


def test_a_plan_is_denied_with_a_text() -> None:
    relay = KeyRelay(answer_to("plan_80", Deny("more tests")))
    names = [
        "plan_80",
        "plan_feedback_step1_3_80",
        "plan_feedback_step2_more-tests_80",
        "plan_feedback_step3_Enter_80",
    ]
    recorded = [shown(name) for name in names]
    # The plan's file has a random name, shown in the footer only.
    assert [relay.observe(seen(found)) for found in recorded] == [
        PressKey("3"), PressKey("more tests", literal=True), PressKey("Enter"), Answered(),
    ]  # fmt: skip


def test_a_list_without_numbers_is_walked_and_the_client_may_exit() -> None:
    relay = KeyRelay(answer_to("trust_80", Allow()))
    assert drive(relay, ["trust_80", "trust_80", "trust_step1_Down_80"]) == [
        PressKey("Down"),
        Wait(),
        PressKey("Enter"),
    ]
    assert relay.observe(seen("trust_step1_Down_80", in_mode=True)) == Wait()
    assert relay.observe(seen(GONE, process="99@1")) == Answered()


LANGUAGE = QuestionAnswer("Which language?", ("Go",))
FEATURES = QuestionAnswer("Which features?", ("Logging", "Metrics"))


def test_a_single_question_is_answered_with_one_number() -> None:
    relay = KeyRelay(answer_to("ask_80", QuestionAnswers((QuestionAnswer("Which language?", ("Python",)),))))
    assert drive(relay, ["ask_80", "ask_pick_step1_2_80"]) == [PressKey("2"), Answered()]


def test_a_single_question_is_answered_with_a_text() -> None:
    relay = KeyRelay(answer_to("ask_80", QuestionAnswers((QuestionAnswer("Which language?", text="Rust"),))))
    names = ["ask_80", "ask_free_step1_3_80", "ask_free_step2_Rust_80", "ask_free_step3_Enter_80"]
    assert drive(relay, names) == [
        PressKey("3"),
        PressKey("Rust", literal=True),
        PressKey("Enter"),
        Answered(),
    ]


def test_several_questions_are_answered_in_order_and_the_summary_checked() -> None:
    relay = KeyRelay(answer_to("askmulti_80", QuestionAnswers((LANGUAGE, FEATURES))))
    names = [
        "askmulti_80",
        "askmulti_step1_1_80",
        "askmulti_step2_1_80",
        "askmulti_step3_2_80",
        "askmulti_step4_Tab_80",
        "askmulti_step5_1_80",
    ]
    assert drive(relay, names) == [
        PressKey("1"), PressKey("1"), PressKey("2"), PressKey("Tab"), PressKey("1"), Answered(),
    ]  # fmt: skip


def test_the_order_of_checked_labels_does_not_matter() -> None:
    backwards = QuestionAnswer("Which features?", ("Metrics", "Logging"))
    relay = KeyRelay(answer_to("askmulti_80", QuestionAnswers((LANGUAGE, backwards))))
    drive(relay, ["askmulti_80", "askmulti_step1_1_80", "askmulti_step2_1_80", "askmulti_step3_2_80"])
    assert relay.observe(seen("askmulti_step4_Tab_80")) == PressKey("1")


def test_a_text_for_the_first_of_several_questions_leads_to_the_next() -> None:
    relay = KeyRelay(
        answer_to("askmulti_80", QuestionAnswers((QuestionAnswer("Which language?", text="Rust"), FEATURES)))
    )
    names = [
        "askmulti_80",
        "askmulti_free_step1_3_80",
        "askmulti_free_step2_Rust_80",
        "askmulti_free_step3_Enter_80",
    ]
    assert drive(relay, names) == [
        PressKey("3"),
        PressKey("Rust", literal=True),
        PressKey("Enter"),
        PressKey("1"),
    ]


def test_a_box_checked_by_mistake_is_unchecked() -> None:
    relay = KeyRelay(
        answer_to("askonlymulti_80", QuestionAnswers((QuestionAnswer("Which features?", ("Logging",)),)))
    )
    names = [
        "askonlymulti_step2_2_80",
        "askonlymulti_step3_2_80",
        "askonlymulti_step4_Tab_80",
        "askonlymulti_step5_2_80",
    ]
    assert drive(relay, names) == [PressKey("2"), PressKey("Tab"), PressKey("1"), Answered()]


def test_a_summary_with_other_answers_is_not_submitted() -> None:
    relay = KeyRelay(answer_to("askmulti_80", QuestionAnswers((LANGUAGE, FEATURES))))
    names = ["askmulti_80", "askmulti_step1_1_80", "askmulti_step2_1_80", "askmulti_step3_2_80"]
    drive(relay, names)
    effect = relay.observe(seen("askmulti_free_step4_Tab_80"))
    assert isinstance(effect, Refused)
    assert "the client's summary does not show 'Go'" in effect.reason


def test_an_unexpected_next_question_ends_the_relay() -> None:
    relay = KeyRelay(
        answer_to("askmulti_80", QuestionAnswers((LANGUAGE, QuestionAnswer("Which colour?", ("Red",)))))
    )
    effects = drive(relay, ["askmulti_80", "askmulti_step1_1_80"])
    assert effects[0] == PressKey("1")
    assert isinstance(effects[1], Refused)


def test_a_label_that_wraps_into_its_description_is_still_found() -> None:
    longer = replace(
        prompt("ask_80"),
        options=(replace(prompt("ask_80").options[0], label="Go Use Go"), *prompt("ask_80").options[1:]),
    )
    relay = KeyRelay(PromptAnswer(longer, PANE, "10@1", QuestionAnswers((LANGUAGE,))))
    assert relay.observe(seen(longer)) == PressKey("1")


def test_a_timeout_before_the_first_key_is_a_refusal() -> None:
    relay = KeyRelay(answer_to(EDIT, Allow()))
    assert relay.expire() == Refused("the screen did not change in time")
    assert relay.expire() == relay.observe(seen(EDIT))


def test_a_timeout_between_keys_reports_how_many_were_sent() -> None:
    relay = KeyRelay(answer_to(EDIT, Deny("x")))
    relay.observe(seen(EDIT))
    assert relay.expire() == Refused("the screen did not change in time", sent=1)


def test_a_dialog_still_shown_after_its_key_is_reported_and_gets_no_other_key() -> None:
    relay = KeyRelay(answer_to(EDIT, Allow()))
    assert relay.observe(seen(EDIT)) == PressKey("1")
    assert relay.expire() == DialogStillShown()
    assert relay.observe(seen(EDIT)) == Wait()
    assert relay.expire() == DialogStillShown()
    assert relay.sent == 1


def test_an_unreadable_screen_after_the_last_key_is_awaited() -> None:
    relay = KeyRelay(answer_to(EDIT, Allow()))
    relay.observe(seen(EDIT))
    assert relay.observe(seen(UnknownPrompt("half drawn"))) == Wait()
    assert relay.expire() == Answered()


def test_two_answers_to_one_prompt_send_one_key() -> None:
    appearances = PromptAppearances()
    waiting = appearances.observe(seen(EDIT))
    assert waiting is not None
    first = appearances.claim(answer_to(EDIT, Allow()), waiting.serial)
    assert isinstance(first, KeyRelay)
    assert appearances.claim(answer_to(EDIT, Allow()), waiting.serial) == Refused(
        "this prompt is already answered"
    )
    assert first.observe(seen(EDIT)) == PressKey("1")
    appearances.release(first, waiting.serial)
    assert appearances.claim(answer_to(EDIT, Deny()), waiting.serial) == Refused(
        "this prompt is already answered"
    )


def test_an_answer_that_sent_nothing_leaves_the_prompt_open() -> None:
    appearances = PromptAppearances()
    waiting = appearances.observe(seen(EDIT))
    assert waiting is not None
    relay = appearances.claim(answer_to(EDIT, Allow()), waiting.serial)
    assert isinstance(relay, KeyRelay)
    relay.observe(seen(EDIT, in_mode=True))
    appearances.release(relay, waiting.serial)
    assert isinstance(appearances.claim(answer_to(EDIT, Allow()), waiting.serial), KeyRelay)
    appearances.release(relay, waiting.serial + 1)


def test_the_same_question_asked_again_is_another_appearance() -> None:
    appearances = PromptAppearances()
    first = appearances.observe(seen(EDIT))
    assert first is not None
    assert appearances.observe(seen(GONE)) is None
    assert appearances.claim(answer_to(EDIT, Allow()), first.serial) == Refused("the prompt is gone")
    again = appearances.observe(seen(EDIT))
    assert again is not None
    assert isinstance(appearances.claim(answer_to(EDIT, Allow()), first.serial), Refused)
    assert isinstance(appearances.claim(answer_to(EDIT, Allow()), again.serial), KeyRelay)


def test_an_appearance_survives_being_hidden_but_not_another_process() -> None:
    appearances = PromptAppearances()
    first = appearances.observe(seen(EDIT))
    for look in (
        seen(UnknownPrompt("x")),
        seen(GONE, in_mode=True),
        seen(GONE, scrolled=True),
        seen("edit_no_step1_Down_80"),
    ):
        still = appearances.observe(look)
        assert still is not None
        assert still.serial == first.serial  # type: ignore[union-attr]  # known to be there
    other = appearances.observe(seen(EDIT, process="77@7"))
    assert other is not None
    assert other.serial != first.serial  # type: ignore[union-attr]  # known to be there
    assert appearances.observe(seen(EDIT, dead=True)) is None


def test_an_answer_to_one_prompt_does_not_claim_another() -> None:
    appearances = PromptAppearances()
    waiting = appearances.observe(seen(EDIT))
    assert waiting is not None
    refused = appearances.claim(answer_to("bash_80", Allow()), waiting.serial)
    assert isinstance(refused, Refused)
    assert "another prompt is shown" in refused.reason


def test_a_prompt_whose_key_was_not_sent_may_be_answered_again() -> None:
    appearances = PromptAppearances()
    waiting = appearances.observe(seen(EDIT))
    assert waiting is not None
    relay = appearances.claim(answer_to(EDIT, Allow()), waiting.serial)
    assert isinstance(relay, KeyRelay)
    assert relay.observe(seen(EDIT)) == PressKey("1")

    assert relay.key_not_sent("the pane changed") == Refused("the pane changed", sent=0)

    assert relay.observe(seen(EDIT)) == Refused("the pane changed", sent=0)
    appearances.release(relay, waiting.serial)
    assert isinstance(appearances.claim(answer_to(EDIT, Allow()), waiting.serial), KeyRelay)


def held_back() -> KeyRelay:
    relay = KeyRelay(answer_to(EDIT, Deny("use tabs")))
    assert drive(relay, [EDIT, "edit_no_step1_Down_80"]) == [PressKey("Down"), PressKey("Down")]
    assert relay.retry_last_key()
    assert relay.sent == 1
    return relay


def test_a_key_not_sent_while_the_dialog_is_drawn_is_given_again() -> None:
    relay = held_back()
    assert relay.observe(seen(UnknownPrompt("half drawn"))) == Wait()
    assert relay.observe(seen("edit_no_step1_Down_80")) == PressKey("Down")
    assert relay.observe(seen("edit_no_step1_Down_80")) == Wait()
    assert relay.observe(seen("edit_no_step2_Down_80")) == PressKey("Tab")
    assert not relay.retry_last_key()  # its footer was drawn: the screen was complete
    assert relay.sent == 3


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        (seen(EDIT), "changed in the meantime"),  # the same question again, with the cursor at its start
        (seen(GONE), "changed in the meantime"),
        (seen("edit_no_step1_Down_80", in_mode=True), "copy mode"),
    ],
)
def test_a_key_to_retry_is_not_given_for_another_screen(look: PaneView, reason: str) -> None:
    effect = held_back().observe(look)
    assert isinstance(effect, Refused)
    assert reason in effect.reason
    assert effect.sent == 1


def test_the_first_key_is_not_retried() -> None:
    relay = KeyRelay(answer_to(EDIT, Allow()))
    assert relay.observe(seen(EDIT)) == PressKey("1")
    assert not relay.retry_last_key()


def test_a_client_in_the_background_gets_no_key() -> None:
    effect = KeyRelay(answer_to(EDIT, Allow())).observe(seen(EDIT, process=""))

    assert isinstance(effect, Refused)
    assert "foreground" in effect.reason
    assert effect.sent == 0


def test_a_prompt_answered_another_way_gets_no_key() -> None:
    appearances = PromptAppearances()
    appearances.mark_answered()
    waiting = appearances.observe(seen(EDIT))
    assert waiting is not None
    appearances.mark_answered()
    assert appearances.claim(answer_to(EDIT, Allow()), waiting.serial) == Refused(
        "this prompt is already answered"
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Allow(), "allow"),
        (Allow("but"), "allow: but"),
        (AllowAlways(), "allow always"),
        (Deny("no"), "deny: no"),
        (ChooseOption("2"), "option 2"),
        (
            QuestionAnswers((QuestionAnswer("A?", ("x", "y")), QuestionAnswer("B?", text="z"))),
            "A? x, y; B? z",
        ),
    ],
)
def test_an_answer_is_described_for_the_audit_log(answer: Answer, words: str) -> None:
    assert describe_answer(answer) == words


def test_a_prompt_whose_call_has_ended_is_a_new_appearance() -> None:
    appearances = PromptAppearances()
    appearances.begin_new_appearance()
    first = appearances.observe(seen(EDIT))
    assert first is not None
    relay = appearances.claim(answer_to(EDIT, Allow()), first.serial)
    assert isinstance(relay, KeyRelay)
    appearances.begin_new_appearance()
    assert isinstance(appearances.claim(answer_to(EDIT, Allow()), first.serial), Refused)
    again = appearances.observe(seen(EDIT))
    assert again is not None
    assert isinstance(appearances.claim(answer_to(EDIT, Allow()), again.serial), KeyRelay)


WALK = ("dock_autoaskmcp_160x40", "dock_autoaskmcp_step1_Down_160x40")


def test_a_list_without_numbers_is_walked_one_checked_key_at_a_time() -> None:
    relay = KeyRelay(answer_to(WALK[0], Allow()))

    assert relay.observe(seen(WALK[0])) == PressKey("Down")
    assert relay.observe(seen(WALK[0])) == Wait()  # not drawn yet
    assert relay.observe(seen(WALK[1])) == PressKey("Enter")
    assert relay.observe(seen(GONE)) == Answered()


def test_an_option_of_a_list_without_numbers_is_the_same_wherever_the_cursor_is() -> None:
    """Decided while the cursor was on "No": `1` stays "No" after somebody moved it."""
    relay = KeyRelay(answer_to(WALK[0], ChooseOption("1")))

    assert relay.observe(seen(WALK[1])) == PressKey("Up")
    assert relay.observe(seen(WALK[0])) == PressKey("Enter")


def test_a_cursor_that_somebody_else_moved_ends_the_answer() -> None:
    relay = KeyRelay(answer_to(WALK[0], Allow()))
    assert relay.observe(seen(WALK[0])) == PressKey("Down")
    moved = prompt(WALK[1])
    other = replace(moved, selected="3", options=tuple(replace(o, press="Up Enter") for o in moved.options))

    assert relay.observe(seen(other)) == Refused("the dialog has changed in the meantime", 1)


def test_buttons_side_by_side_are_walked_sideways() -> None:
    relay = KeyRelay(answer_to("dock_elicitplain_160x50", Deny()))

    assert relay.observe(seen("dock_elicitplain_160x50")) == PressKey("Right")
