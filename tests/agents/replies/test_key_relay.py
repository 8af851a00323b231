"""A key goes out for the prompt that was decided on, or not at all."""

from dataclasses import replace

import pytest

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.agents.claude_code.replies.appearances import PromptAppearances
from chorus.agents.claude_code.replies.key_relay import (
    Answered,
    DialogStillShown,
    KeyRelay,
    PaneView,
    PressKey,
    Refused,
    Wait,
)
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
    return replace(look, **other)  # type: ignore[arg-type]


def decided(name: str, answer: Answer) -> PromptAnswer:
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
        ("autonotice_fetch_80", Deny(), "Escape"),
        ("tui:dialog_bypass_80", Deny(), "1"),
        ("trust_80", Deny(), "Enter"),
    ],
)
def test_the_key_is_the_one_the_label_calls_for(name: str, answer: Answer, key: str) -> None:
    relay = KeyRelay(decided(name, answer))
    assert relay.observe(seen(name)) == PressKey(key)
    assert relay.observe(seen(name)) == Wait()
    assert relay.observe(seen(GONE)) == Answered()
    assert relay.observe(seen(name)) == Answered()
    assert relay.sent == 1


@pytest.mark.parametrize(
    ("name", "answer", "why"),
    [
        (
            "bash_80",
            AllowAlways(),
            "more than one option means 'allow-always', choose one: 2: Yes, and always",
        ),
        ("mcp_60", AllowAlways(), "no option of this prompt means 'allow-always'"),
        ("ask_80", Allow(), "no option"),
        ("plan_80", Deny(), "has no option to deny; try it with a message"),
        ("ask_80", Deny("no"), "has no option to deny"),
        ("fetch_80", Deny("no"), "takes no text: leave it out, then send the session a message"),
        (EDIT, ChooseOption("4"), "no option '4'"),
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
        ("ask_80", QuestionAnswers((QuestionAnswer("Which tool?", ("Go",)),)), "the question shown is"),
        (
            "ask_80",
            QuestionAnswers((QuestionAnswer("Which language?", ("Rust",)),)),
            "not exactly one option is 'Rust'",
        ),
        (
            "ask_80",
            QuestionAnswers((QuestionAnswer("Which language?", ("Go", "Python")),)),
            "takes exactly one option",
        ),
        ("askonlymulti_80", QuestionAnswers((QuestionAnswer("Which features?"),)), "at least one option"),
        (
            "askonlymulti_80",
            QuestionAnswers((QuestionAnswer("Which features?", text="x"),)),
            "takes no text from here",
        ),
    ],
)
def test_an_answer_that_fits_no_one_option_sends_nothing(name: str, answer: Answer, why: str) -> None:
    relay = KeyRelay(decided(name, answer))
    effect = relay.observe(seen(name))
    assert isinstance(effect, Refused)
    assert why in effect.reason
    assert effect.sent == 0


@pytest.mark.parametrize(
    ("look", "why"),
    [
        (seen(GONE), "the prompt is gone"),
        (seen(UnknownPrompt("half drawn")), "the prompt is gone"),
        (seen("editlong_80"), "another prompt is shown"),
        (seen("pair_80"), "another prompt is shown"),  # the same file, another change
        (seen("bash_80"), "another prompt is shown"),
        (seen("fake_80"), "the prompt is gone"),
        (seen("edit_yes_step1_Tab_80"), "somebody is typing"),
        (seen("edit_no_step4_use-tabs--1-2-3_80"), "somebody is typing"),
        (seen(EDIT, in_mode=True), "copy mode"),
        (seen(EDIT, scrolled=True), "scrolled back"),
        (seen(EDIT, dead=True), "dead"),
        (seen(EDIT, process="11@7"), "foreground"),
        (seen(EDIT, process="10@9"), "foreground"),
        (seen(EDIT, pane=PaneId("%2")), "this is pane %2"),
    ],
)
def test_anything_but_the_decided_prompt_in_its_pane_gets_no_key(look: PaneView, why: str) -> None:
    relay = KeyRelay(decided(EDIT, Allow()))
    effect = relay.observe(look)
    assert isinstance(effect, Refused)
    assert why in effect.reason
    assert effect.sent == 0
    assert relay.observe(seen(EDIT)) == effect  # over is over


def drive(relay: KeyRelay, names: list[str]) -> list[object]:
    return [relay.observe(seen(name)) for name in names]


def test_a_denial_with_words_is_typed_step_by_step_and_read_back() -> None:
    relay = KeyRelay(decided(EDIT, Deny("use tabs; 1 2 3")))
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


def test_a_dialog_drawn_in_pieces_is_waited_for() -> None:
    """An older client moves its mark first, and says in the footer a moment later what can be done there."""
    relay = KeyRelay(decided(EDIT, Deny("use tabs; 1 2 3")))
    first, second = prompt("edit_no_step1_Down_80"), prompt("edit_no_step2_Down_80")
    pieces = [prompt(EDIT), replace(first, selected=None), first]
    assert [relay.observe(seen(piece)) for piece in pieces] == [PressKey("Down"), Wait(), PressKey("Down")]
    assert relay.observe(seen(replace(second, footer=first.footer))) == Wait()
    assert relay.observe(seen(second)) == PressKey("Tab")
    assert relay.observe(seen(UnknownPrompt("choice 'No, and tell Claude …' is none of: no"))) == Wait()
    assert relay.observe(seen("edit_no_step3_Tab_80")) == PressKey("use tabs; 1 2 3", literal=True)
    gone = relay.observe(seen(UnknownPrompt("something else")))
    assert gone == Refused("the prompt is gone: something else", 4)


def test_words_that_the_footer_never_offers_are_not_typed() -> None:
    relay = KeyRelay(decided(EDIT, Deny("use tabs")))
    first = prompt("edit_no_step1_Down_80")
    silent = replace(prompt("edit_no_step2_Down_80"), footer=first.footer)
    assert [relay.observe(seen(look)) for look in (EDIT, first, silent, silent)] == [
        PressKey("Down"), PressKey("Down"), Wait(), Wait(),
    ]  # fmt: skip
    assert relay.expire() == Refused("the screen did not change in time", 2)


def test_a_remark_with_a_yes_opens_the_field_where_the_mark_stands() -> None:
    relay = KeyRelay(decided(EDIT, Allow("use tabs")))
    names = [EDIT, "edit_yes_step1_Tab_80", "edit_yes_step2_use-tabs_80", "edit_yes_step3_Enter_80"]
    assert drive(relay, names) == [
        PressKey("Tab"), PressKey("use tabs", literal=True), PressKey("Enter"), Answered(),
    ]  # fmt: skip


def test_the_mark_may_start_below() -> None:
    relay = KeyRelay(decided(EDIT, Allow("use tabs")))
    assert drive(relay, ["edit_no_step2_Down_80", "edit_no_step1_Down_80", EDIT]) == [
        PressKey("Up"), PressKey("Up"), PressKey("Tab"),
    ]  # fmt: skip


def test_words_for_a_dialog_with_no_mark_are_refused() -> None:
    relay = KeyRelay(decided(EDIT, Deny("no")))
    assert relay.observe(seen(replace(prompt(EDIT), selected=None))) == Refused("no option is selected")


def test_words_where_the_footer_does_not_offer_them_are_refused() -> None:
    relay = KeyRelay(decided(EDIT, Allow("no")))
    effect = relay.observe(seen(replace(prompt(EDIT), footer="Esc to cancel")))
    assert effect == Refused("this dialog takes no text with 'Yes'")


@pytest.mark.parametrize(
    "surprise",
    [
        prompt("edit_no_step2_Down_80"),  # further than the key moved it
        replace(prompt(EDIT), text_field=TextField("1", "x", True)),
        prompt("bash_80"),
        GONE,
        UnknownPrompt("half drawn"),
    ],
)
def test_a_surprise_between_two_keys_ends_it(surprise: Prompt | UnknownPrompt | NoPrompt) -> None:
    relay = KeyRelay(decided(EDIT, Deny("use tabs")))
    relay.observe(seen(EDIT))
    effect = relay.observe(seen(surprise))
    assert isinstance(effect, Refused)
    assert effect.sent == 1
    assert relay.observe(seen("edit_no_step1_Down_80")) == effect


@pytest.mark.parametrize(
    "text_field",
    [None, TextField("1", "use", True), TextField("3", "used", True), TextField("3", "use", False)],
)
def test_text_that_reads_back_otherwise_is_not_sent_off(text_field: TextField | None) -> None:
    relay = KeyRelay(decided(EDIT, Deny("use tabs")))
    drive(relay, [EDIT, "edit_no_step1_Down_80", "edit_no_step2_Down_80", "edit_no_step3_Tab_80"])
    effect = relay.observe(seen(replace(prompt(EDIT), text_field=text_field, selected="3")))
    assert isinstance(effect, Refused)
    assert effect.sent == 4


def test_a_plan_is_sent_back_with_what_to_change() -> None:
    relay = KeyRelay(decided("plan_80", Deny("more tests")))
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


def test_a_list_without_numbers_is_walked_and_the_client_may_leave() -> None:
    relay = KeyRelay(decided("trust_80", Allow()))
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
    relay = KeyRelay(decided("ask_80", QuestionAnswers((QuestionAnswer("Which language?", ("Python",)),))))
    assert drive(relay, ["ask_80", "ask_pick_step1_2_80"]) == [PressKey("2"), Answered()]


def test_a_single_question_is_answered_in_words() -> None:
    relay = KeyRelay(decided("ask_80", QuestionAnswers((QuestionAnswer("Which language?", text="Rust"),))))
    names = ["ask_80", "ask_free_step1_3_80", "ask_free_step2_Rust_80", "ask_free_step3_Enter_80"]
    assert drive(relay, names) == [
        PressKey("3"),
        PressKey("Rust", literal=True),
        PressKey("Enter"),
        Answered(),
    ]


def test_several_questions_are_answered_in_order_and_the_summary_checked() -> None:
    relay = KeyRelay(decided("askmulti_80", QuestionAnswers((LANGUAGE, FEATURES))))
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
    relay = KeyRelay(decided("askmulti_80", QuestionAnswers((LANGUAGE, backwards))))
    drive(relay, ["askmulti_80", "askmulti_step1_1_80", "askmulti_step2_1_80", "askmulti_step3_2_80"])
    assert relay.observe(seen("askmulti_step4_Tab_80")) == PressKey("1")


def test_words_for_the_first_of_several_questions_lead_to_the_next() -> None:
    relay = KeyRelay(
        decided("askmulti_80", QuestionAnswers((QuestionAnswer("Which language?", text="Rust"), FEATURES)))
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


def test_a_tick_too_many_is_taken_away() -> None:
    relay = KeyRelay(
        decided("askonlymulti_80", QuestionAnswers((QuestionAnswer("Which features?", ("Logging",)),)))
    )
    names = [
        "askonlymulti_step2_2_80",
        "askonlymulti_step3_2_80",
        "askonlymulti_step4_Tab_80",
        "askonlymulti_step5_2_80",
    ]
    assert drive(relay, names) == [PressKey("2"), PressKey("Tab"), PressKey("1"), Answered()]


def test_a_summary_that_says_otherwise_is_not_submitted() -> None:
    relay = KeyRelay(decided("askmulti_80", QuestionAnswers((LANGUAGE, FEATURES))))
    names = ["askmulti_80", "askmulti_step1_1_80", "askmulti_step2_1_80", "askmulti_step3_2_80"]
    drive(relay, names)
    effect = relay.observe(seen("askmulti_free_step4_Tab_80"))
    assert isinstance(effect, Refused)
    assert "the client's summary does not show 'Go'" in effect.reason


def test_a_next_question_that_is_not_the_expected_one_ends_it() -> None:
    relay = KeyRelay(
        decided("askmulti_80", QuestionAnswers((LANGUAGE, QuestionAnswer("Which colour?", ("Red",)))))
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


def test_running_out_of_time_before_a_key_refuses() -> None:
    relay = KeyRelay(decided(EDIT, Allow()))
    assert relay.expire() == Refused("the screen did not change in time")
    assert relay.expire() == relay.observe(seen(EDIT))


def test_running_out_of_time_between_keys_says_how_many_went_out() -> None:
    relay = KeyRelay(decided(EDIT, Deny("x")))
    relay.observe(seen(EDIT))
    assert relay.expire() == Refused("the screen did not change in time", sent=1)


def test_a_dialog_that_stays_after_its_key_is_reported_and_left_alone() -> None:
    relay = KeyRelay(decided(EDIT, Allow()))
    assert relay.observe(seen(EDIT)) == PressKey("1")
    assert relay.expire() == DialogStillShown()
    assert relay.observe(seen(EDIT)) == Wait()
    assert relay.expire() == DialogStillShown()
    assert relay.sent == 1


def test_a_screen_that_cannot_be_read_after_the_key_is_waited_out() -> None:
    relay = KeyRelay(decided(EDIT, Allow()))
    relay.observe(seen(EDIT))
    assert relay.observe(seen(UnknownPrompt("half drawn"))) == Wait()
    assert relay.expire() == Answered()


def test_two_answers_to_one_prompt_are_one_key() -> None:
    desk = PromptAppearances()
    waiting = desk.observe(seen(EDIT))
    assert waiting is not None
    first = desk.claim(decided(EDIT, Allow()), waiting.serial)
    assert isinstance(first, KeyRelay)
    assert desk.claim(decided(EDIT, Allow()), waiting.serial) == Refused("this prompt is already answered")
    assert first.observe(seen(EDIT)) == PressKey("1")
    desk.release(first, waiting.serial)
    assert desk.claim(decided(EDIT, Deny()), waiting.serial) == Refused("this prompt is already answered")


def test_an_answer_that_sent_nothing_leaves_the_prompt_open() -> None:
    desk = PromptAppearances()
    waiting = desk.observe(seen(EDIT))
    assert waiting is not None
    relay = desk.claim(decided(EDIT, Allow()), waiting.serial)
    assert isinstance(relay, KeyRelay)
    relay.observe(seen(EDIT, in_mode=True))
    desk.release(relay, waiting.serial)
    assert isinstance(desk.claim(decided(EDIT, Allow()), waiting.serial), KeyRelay)
    desk.release(relay, waiting.serial + 1)


def test_the_same_question_asked_again_is_another_appearance() -> None:
    desk = PromptAppearances()
    first = desk.observe(seen(EDIT))
    assert first is not None
    assert desk.observe(seen(GONE)) is None
    assert desk.claim(decided(EDIT, Allow()), first.serial) == Refused("the prompt is gone")
    again = desk.observe(seen(EDIT))
    assert again is not None
    assert isinstance(desk.claim(decided(EDIT, Allow()), first.serial), Refused)
    assert isinstance(desk.claim(decided(EDIT, Allow()), again.serial), KeyRelay)


def test_an_appearance_outlasts_what_hides_it_but_not_its_process() -> None:
    desk = PromptAppearances()
    first = desk.observe(seen(EDIT))
    for look in (
        seen(UnknownPrompt("x")),
        seen(GONE, in_mode=True),
        seen(GONE, scrolled=True),
        seen("edit_no_step1_Down_80"),
    ):
        still = desk.observe(look)
        assert still is not None
        assert still.serial == first.serial  # type: ignore[union-attr]
    other = desk.observe(seen(EDIT, process="77@7"))
    assert other is not None
    assert other.serial != first.serial  # type: ignore[union-attr]
    assert desk.observe(seen(EDIT, dead=True)) is None


def test_a_decision_on_one_prompt_does_not_open_another() -> None:
    desk = PromptAppearances()
    waiting = desk.observe(seen(EDIT))
    assert waiting is not None
    refused = desk.claim(decided("bash_80", Allow()), waiting.serial)
    assert isinstance(refused, Refused)
    assert "another prompt is shown" in refused.reason


def test_a_key_that_did_not_go_out_gives_the_prompt_back() -> None:
    desk = PromptAppearances()
    waiting = desk.observe(seen(EDIT))
    assert waiting is not None
    relay = desk.claim(decided(EDIT, Allow()), waiting.serial)
    assert isinstance(relay, KeyRelay)
    assert relay.observe(seen(EDIT)) == PressKey("1")

    assert relay.key_not_sent("the pane changed") == Refused("the pane changed", sent=0)

    assert relay.observe(seen(EDIT)) == Refused("the pane changed", sent=0)
    desk.release(relay, waiting.serial)
    assert isinstance(desk.claim(decided(EDIT, Allow()), waiting.serial), KeyRelay)


def held_back() -> KeyRelay:
    relay = KeyRelay(decided(EDIT, Deny("use tabs")))
    assert drive(relay, [EDIT, "edit_no_step1_Down_80"]) == [PressKey("Down"), PressKey("Down")]
    assert relay.retry_last_key()
    assert relay.sent == 1
    return relay


def test_a_key_held_back_while_the_dialog_is_drawn_is_given_once_more() -> None:
    relay = held_back()
    assert relay.observe(seen(UnknownPrompt("half drawn"))) == Wait()
    assert relay.observe(seen("edit_no_step1_Down_80")) == PressKey("Down")
    assert relay.observe(seen("edit_no_step1_Down_80")) == Wait()
    assert relay.observe(seen("edit_no_step2_Down_80")) == PressKey("Tab")
    assert not relay.retry_last_key()  # its footer was there: the screen was whole
    assert relay.sent == 3


@pytest.mark.parametrize(
    ("look", "why"),
    [
        (seen(EDIT), "changed meanwhile"),  # the same question again, with the mark where it begins
        (seen(GONE), "changed meanwhile"),
        (seen("edit_no_step1_Down_80", in_mode=True), "copy mode"),
    ],
)
def test_a_key_held_back_is_not_given_to_anything_else(look: PaneView, why: str) -> None:
    effect = held_back().observe(look)
    assert isinstance(effect, Refused)
    assert why in effect.reason
    assert effect.sent == 1


def test_a_first_key_is_not_held_back() -> None:
    relay = KeyRelay(decided(EDIT, Allow()))
    assert relay.observe(seen(EDIT)) == PressKey("1")
    assert not relay.retry_last_key()


def test_a_client_that_is_not_in_front_gets_no_key() -> None:
    effect = KeyRelay(decided(EDIT, Allow())).observe(seen(EDIT, process=""))

    assert isinstance(effect, Refused)
    assert "foreground" in effect.reason
    assert effect.sent == 0


def test_a_prompt_answered_another_way_gets_no_key() -> None:
    desk = PromptAppearances()
    desk.mark_answered()
    waiting = desk.observe(seen(EDIT))
    assert waiting is not None
    desk.mark_answered()
    assert desk.claim(decided(EDIT, Allow()), waiting.serial) == Refused("this prompt is already answered")


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
def test_an_answer_is_recorded_in_words(answer: Answer, words: str) -> None:
    assert describe_answer(answer) == words


def test_a_prompt_whose_call_has_ended_is_asked_anew() -> None:
    desk = PromptAppearances()
    desk.begin_new_appearance()
    first = desk.observe(seen(EDIT))
    assert first is not None
    relay = desk.claim(decided(EDIT, Allow()), first.serial)
    assert isinstance(relay, KeyRelay)
    desk.begin_new_appearance()
    assert isinstance(desk.claim(decided(EDIT, Allow()), first.serial), Refused)
    again = desk.observe(seen(EDIT))
    assert again is not None
    assert isinstance(desk.claim(decided(EDIT, Allow()), again.serial), KeyRelay)
