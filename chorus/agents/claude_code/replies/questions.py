"""Answering the model's own questions: one or several, to pick, to tick, to write.

Receives replies in the order of the questions, then the prompt as it stands before each key. Gives one
key at a time. Each question on the screen must be the one the next reply is for; the summary the client
shows before it submits must say what was replied.
"""

from collections.abc import Generator

from chorus.agents.claude_code.replies.steps import Script, Step, Stop, final, squeezed, write_into
from chorus.model.answer import Reply
from chorus.model.prompt import Prompt

_REVIEW = "review-answers"


def answer_questions(present: Prompt, replies: tuple[Reply, ...]) -> Script:
    if present.rule != "question":
        raise Stop("this prompt asks no question of the model's")
    if len(replies) != len(present.tabs):
        raise Stop(f"{len(present.tabs)} questions are asked, {len(replies)} replies are given")
    if len(replies) == 1 and present.ticked is None:
        _check_question(present, replies[0])
        yield final((yield from _ready(present, replies[0])))
    else:
        for reply, following in zip(replies, (*replies[1:], None), strict=True):
            _check_question(present, reply)
            key = yield from _ready(present, reply)
            present = yield _onward(key, following)
        yield final(_submit_key(present, replies))


def _check_question(present: Prompt, reply: Reply) -> None:
    if squeezed(present.question) != squeezed(reply.question):
        raise Stop(f"the question shown is {present.question!r}")


def _ready(present: Prompt, reply: Reply) -> Generator[Step, Prompt, str]:
    """Prepare the reply; give the key that hands it in."""
    if present.ticked is not None:
        yield from _tick(present, reply)
        return "Tab"
    if reply.text is not None:
        field = next(option for option in present.options if option.text == "instead")
        yield from write_into(present, field, field.key, reply.text)
        return "Enter"
    if len(reply.labels) != 1:
        raise Stop("this question takes one choice")
    return _key_of(present, reply.labels[0])


def _tick(present: Prompt, reply: Reply) -> Script:
    """Press the numbers whose box differs from what is wanted."""
    if reply.text is not None:
        raise Stop("this question takes no words of your own from here")
    wanted = frozenset(_key_of(present, label) for label in reply.labels)
    if not wanted:
        raise Stop("this question takes at least one choice")
    while present.ticked != wanted:
        assert present.ticked is not None
        key = min(present.ticked ^ wanted)
        present = yield _toggled(present, key, present.ticked ^ {key})


def _toggled(present: Prompt, key: str, ticked: frozenset[str]) -> Step:
    return Step(key, lambda prompt: prompt.fingerprint == present.fingerprint and prompt.ticked == ticked)


def _onward(key: str, following: Reply | None) -> Step:
    """The key that leads to the next question, or to the summary after the last one."""
    if following is None:
        return Step(key, lambda prompt: prompt.rule == _REVIEW)
    return Step(
        key,
        lambda prompt: (
            prompt.rule == "question" and squeezed(prompt.question) == squeezed(following.question)
        ),
    )


def _submit_key(present: Prompt, replies: tuple[Reply, ...]) -> str:
    """The number that submits, if the summary says what was replied. It lists ticks in its own order."""
    summary = squeezed(" ".join(present.body)).split("●")
    for reply in replies:
        said = reply.text if reply.text is not None else ", ".join(reply.labels)
        lead = squeezed(f"{reply.question} →")
        answers = [part.removeprefix(lead) for part in summary if part.startswith(lead)]
        if [sorted(answer.split(",")) for answer in answers] != [sorted(squeezed(said).split(","))]:
            raise Stop(f"the client's summary does not say {said!r} to {reply.question!r}")
    return present.keys_meaning("allow")[0]


def _key_of(present: Prompt, label: str) -> str:
    """The number before this label. A label may be drawn with more behind it, never with less."""
    own = present.options[:-2]  # behind them: the text field and the way out
    exact = [option.key for option in own if squeezed(option.label) == squeezed(label)]
    longer = [option.key for option in own if squeezed(option.label).startswith(squeezed(label))]
    keys = exact or longer
    if len(keys) != 1:
        raise Stop(f"no one choice is {label!r}")
    return keys[0]
