"""The keys that give an answer to a dialog, one at a time.

`plan_keys` yields steps: a key or a text, and what the screen must show before the next step. An answer that
fits no option, or more than one, is refused.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import assert_never

from chorus.agents.claude_code.dialogs.options import TAB_TO_AMEND
from chorus.agents.interface import CannotAnswer
from chorus.model.answer import (
    Allow,
    AllowAlways,
    Answer,
    ChooseOption,
    Deny,
    QuestionAnswer,
    QuestionAnswers,
)
from chorus.model.api.json_api import OptionMeaning
from chorus.model.prompt import OPTION_NAMES, Option, Prompt, TextField

# A longer text may not fit into its field, and text that is not shown cannot be checked.
_MAX_TEXT_LENGTH = 400
_ESCAPE_OFFERED = "Esc to cancel"
_REVIEW_RULE = "review-answers"


def _never(_: Prompt) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class KeyStep:
    """One key or text to send, and how the screen shows that the client has handled it."""

    key: str
    is_done: Callable[[Prompt], bool]
    # Whether the screen may look like this before the step is done.
    is_in_progress: Callable[[Prompt], bool] = _never
    # Whether the screen may be unreadable before the step is done: the option is redrawn before the footer.
    may_be_unreadable: bool = False
    literal: bool = False
    final: bool = False  # the dialog has to disappear after this key


# Generators of steps. After each step the caller sends the prompt as it is shown then. A sequence ends with a
# final step. A sub-sequence returns the prompt as shown after its last step.
KeySequence = Generator[KeyStep, Prompt, None]
KeySubsequence = Generator[KeyStep, Prompt, Prompt]


def plan_keys(answer: Answer, decided: Prompt, shown: Prompt) -> KeySequence:
    """Plan the keys for an answer.

    `decided` is the prompt for which the answer was given. `shown` is the same prompt with its current input
    state.
    """
    _check_texts(answer)
    match answer:
        case Allow(text):
            return _choose_option(shown, _only_option(decided, "allow"), text)
        case AllowAlways():
            return _choose_option(shown, _only_option(decided, "allow-always"), None)
        case Deny(text):
            return _deny(decided, shown, text)
        case ChooseOption(key, text):
            return _choose_option(shown, _option_with_key(decided, key), text)
        case QuestionAnswers(answers):
            return _answer_questions(shown, answers)
        case _:
            assert_never(answer)


def without_blanks(text: str) -> str:
    return "".join(text.split())


def _check_texts(answer: Answer) -> None:
    match answer:
        case AllowAlways():
            return
        case QuestionAnswers(answers):
            for one in answers:
                _check_text(one.text)
        case _:
            _check_text(answer.text)


def _check_text(text: str | None) -> None:
    """Raise CannotAnswer for a text that cannot be typed: a control character would act as a key."""
    if text is None:
        return
    if not text.strip() or not text.isprintable():
        raise CannotAnswer("the text must be one line of printable characters")
    if len(text) > _MAX_TEXT_LENGTH:
        raise CannotAnswer(f"the text is longer than {_MAX_TEXT_LENGTH} characters")


def _only_option(prompt: Prompt, meaning: OptionMeaning) -> int:
    found = [index for index, option in enumerate(prompt.options) if option.meaning == meaning]
    if len(found) == 1:
        return found[0]
    if not found:
        raise CannotAnswer(f"this prompt has no {OPTION_NAMES[meaning]} option")
    labels = " · ".join(f"{prompt.options[index].key}: {prompt.options[index].label}" for index in found)
    raise CannotAnswer(f"several options mean {OPTION_NAMES[meaning]}; choose one by its key: {labels}")


def _option_with_key(prompt: Prompt, key: str) -> int:
    keys = [option.key for option in prompt.options]
    if key.isdigit() and not any(map(str.isdigit, keys)):
        keys = [str(place) for place in range(1, len(keys) + 1)]
    index = keys.index(key) if key in keys else None
    if index is None:
        raise CannotAnswer(f"this prompt has no option {key!r}")
    # The number of a check box toggles it and leaves the dialog open; only the last option closes it.
    if prompt.checked is not None and index < len(prompt.options) - 1:
        raise CannotAnswer("this question takes several options: give them together, with `chorus answer`")
    return index


def _deny(decided: Prompt, shown: Prompt, text: str | None) -> KeySequence:
    if decided.keys_with_meaning("deny"):
        return _choose_option(shown, _only_option(decided, "deny"), text)
    if text is not None and decided.kind == "plan":
        fields = [index for index, option in enumerate(decided.options) if option.text_input == "replace"]
        return _choose_option(shown, fields[0], text)
    if _ESCAPE_OFFERED in shown.footer:
        if text is not None:
            raise CannotAnswer("this dialog can be denied only without a message")
        return _press_escape()
    if decided.kind == "plan":
        raise CannotAnswer("this dialog can be denied only with a message")
    raise CannotAnswer("this dialog cannot be denied; answer it in its pane")


def _press_escape() -> KeySequence:
    yield _final("Escape")


def _final(key: str) -> KeyStep:
    return KeyStep(key, _never, final=True)


# Options.


def _choose_option(shown: Prompt, index: int, text: str | None) -> KeySequence:
    """Choose the option at `index` and, if there is a text, type it."""
    option = shown.options[index]
    if text is None:
        yield from _choose_without_text(shown, index)
    elif option.text_input == "replace":
        yield from _type_text(shown, option, option.key, text)
        yield _final("Enter")
    elif option.text_input == "append":
        shown = yield from _select(shown, index)
        if not _offers_amending(shown):
            raise CannotAnswer(f"this dialog takes no text with {option.label!r}")
        yield from _type_text(shown, option, "Tab", text)
        yield _final("Enter")
    else:
        raise CannotAnswer(
            f"{option.label!r} takes no text: leave the text out, then send the session a message"
        )


def _choose_without_text(shown: Prompt, index: int) -> KeySequence:
    """Press the option's number or named key; in a list without numbers, move to it and press Enter."""
    option = shown.options[index]
    if option.text_input == "replace":
        raise CannotAnswer(f"{option.label!r} needs a text")
    keys = option.press or option.key
    while " " in keys:
        move, _, keys = keys.partition(" ")
        shown = yield _move_towards(shown, move, index, keys)
    yield _final(keys)


def _move_towards(shown: Prompt, move: str, index: int, rest: str) -> KeyStep:
    return KeyStep(move, lambda prompt: _is_same(prompt, shown) and prompt.options[index].press == rest)


def _select(shown: Prompt, index: int) -> KeySubsequence:
    """Move the cursor row by row to an option of a numbered list.

    After the last move, wait until the footer offers to amend the option.
    """
    keys = [option.key for option in shown.options]
    if shown.selected not in keys:
        raise CannotAnswer("no option is selected")
    at = keys.index(shown.selected)
    while at != index:
        at, move = (at + 1, "Down") if at < index else (at - 1, "Up")
        shown = yield _move_cursor(shown, move, keys[at], amending=at == index)
    return shown


def _move_cursor(shown: Prompt, move: str, key: str, *, amending: bool) -> KeyStep:
    """Return the step that moves the cursor by one row, to the option `key`.

    `amending`: wait until the footer offers to amend the option. The client draws from top to bottom, so the
    screen may show no cursor for a moment.
    """

    def is_done(prompt: Prompt) -> bool:
        arrived = _is_same(prompt, shown) and prompt.selected == key
        return arrived and (_offers_amending(prompt) or not amending)

    def is_in_progress(prompt: Prompt) -> bool:
        return _is_same(prompt, shown) and prompt.selected in (None, key)

    return KeyStep(move, is_done, is_in_progress)


def _type_text(shown: Prompt, option: Option, opening_key: str, text: str) -> KeySubsequence:
    """Open an option's text field, type the text, and wait until the field shows it."""
    wanted = without_blanks(text)

    def is_open(prompt: Prompt) -> bool:
        return _is_same(prompt, shown) and prompt.text_field == TextField(option.key, "", True)

    def typed(prompt: Prompt) -> str | None:
        field = prompt.text_field
        if not _is_same(prompt, shown) or field is None or field.key != option.key or not field.active:
            return None
        return without_blanks(field.text)

    def is_complete(prompt: Prompt) -> bool:
        return typed(prompt) == wanted

    def is_partial(prompt: Prompt) -> bool:
        so_far = typed(prompt)
        return so_far is not None and wanted.startswith(so_far)

    yield KeyStep(opening_key, is_open, may_be_unreadable=True)
    return (yield KeyStep(text, is_complete, is_partial, literal=True))


def _offers_amending(prompt: Prompt) -> bool:
    return TAB_TO_AMEND in prompt.footer


def _is_same(one: Prompt, other: Prompt) -> bool:
    return one.fingerprint == other.fingerprint


# The agent's own questions: one or several, with one option, several or a text as the answer.


def _answer_questions(shown: Prompt, answers: tuple[QuestionAnswer, ...]) -> KeySequence:
    """Answer the questions, in the order in which the dialog shows them."""
    if shown.rule != "question":
        raise CannotAnswer("this prompt is not a question of the agent")
    if len(answers) != len(shown.tabs):
        raise CannotAnswer(f"the prompt has {len(shown.tabs)} question(s), got {len(answers)} answer(s)")
    if len(answers) == 1 and shown.checked is None:
        _check_question(shown, answers[0])
        yield _final((yield from _prepare_answer(shown, answers[0])))
    else:
        for answer, following in zip(answers, (*answers[1:], None), strict=True):
            _check_question(shown, answer)
            key = yield from _prepare_answer(shown, answer)
            shown = yield _continue_to(key, following)
        yield _final(_submit_key(shown, answers))


def _check_question(shown: Prompt, answer: QuestionAnswer) -> None:
    if without_blanks(shown.question) != without_blanks(answer.question):
        raise CannotAnswer(f"the dialog shows another question: {shown.question!r}")


def _prepare_answer(shown: Prompt, answer: QuestionAnswer) -> Generator[KeyStep, Prompt, str]:
    """Fill in the answer; return the key that confirms it."""
    if shown.checked is not None:
        yield from _check_boxes(shown, answer)
        return "Tab"
    if answer.text is not None:
        field = next(option for option in shown.options if option.text_input == "replace")
        yield from _type_text(shown, field, field.key, answer.text)
        return "Enter"
    if len(answer.labels) != 1:
        raise CannotAnswer("this question needs exactly one choice")
    return _key_of(shown, answer.labels[0])


def _check_boxes(shown: Prompt, answer: QuestionAnswer) -> Generator[KeyStep, Prompt, None]:
    """Press the numbers of the check boxes whose state differs from the answer."""
    if answer.text is not None:
        raise CannotAnswer("Chorus cannot type text into this question; answer it in its pane")
    wanted = frozenset(_key_of(shown, label) for label in answer.labels)
    if not wanted:
        raise CannotAnswer("this question needs at least one choice")
    while shown.checked != wanted:
        assert shown.checked is not None
        key = min(shown.checked ^ wanted)
        shown = yield _toggle(shown, key, shown.checked ^ {key})


def _toggle(shown: Prompt, key: str, checked: frozenset[str]) -> KeyStep:
    return KeyStep(key, lambda prompt: _is_same(prompt, shown) and prompt.checked == checked)


def _continue_to(key: str, following: QuestionAnswer | None) -> KeyStep:
    if following is None:
        return KeyStep(key, lambda prompt: prompt.rule == _REVIEW_RULE)
    question = without_blanks(following.question)
    return KeyStep(
        key, lambda prompt: prompt.rule == "question" and without_blanks(prompt.question) == question
    )


def _submit_key(shown: Prompt, answers: tuple[QuestionAnswer, ...]) -> str:
    """Return the number that submits the answers. Raises CannotAnswer if the summary shows other answers.

    The summary may have the labels of one answer in another order.
    """
    summary = without_blanks(" ".join(shown.body)).split("●")
    for answer in answers:
        expected = answer.text if answer.text is not None else ", ".join(answer.labels)
        lead = without_blanks(f"{answer.question} →")
        found = [part.removeprefix(lead) for part in summary if part.startswith(lead)]
        if [sorted(part.split(",")) for part in found] != [sorted(without_blanks(expected).split(","))]:
            raise CannotAnswer(f"the client's summary does not show {expected!r} for {answer.question!r}")
    return shown.keys_with_meaning("allow")[0]


def _key_of(shown: Prompt, label: str) -> str:
    """Return the number drawn before this label. The client may draw more text after the label."""
    own = shown.options[:-2]  # the last two are the text field and the option to chat instead
    wanted = without_blanks(label)
    exact = [option.key for option in own if without_blanks(option.label) == wanted]
    longer = [option.key for option in own if without_blanks(option.label).startswith(wanted)]
    keys = exact or longer
    if len(keys) != 1:
        raise CannotAnswer(f"no option, or more than one, has the label {label!r}")
    return keys[0]
