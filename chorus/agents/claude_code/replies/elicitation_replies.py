"""The reply to an elicitation: the fields of its form, with values of the types in its schema."""

import math
from collections.abc import Mapping
from typing import Any, assert_never

from chorus.agents.claude_code.dialogs.elicitations import (
    YES,
    describe_values,
    read_choices,
    read_fields,
    read_limits,
    read_required,
    render_form,
)
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
from chorus.model.prompt import Prompt

_NUMBERS = {"integer": int, "number": float}


def plan_elicitation_reply(answer: Answer, prompt: Prompt, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to an elicitation. Raises CannotAnswer if the answer does not fit the form."""
    match answer:
        case Deny():
            return {"action": "decline"}
        case Allow() | AllowAlways():
            if prompt.kind == "question":
                raise CannotAnswer("this form needs an answer to each of its questions")
            return {"action": "accept", "content": {}}
        case ChooseOption(key, text):
            option = prompt.option(key)
            if option is None:
                raise CannotAnswer(f"this prompt has no option {key!r}")
            if option.meaning == "deny":
                return {"action": "decline"}
            if option.meaning == "allow":
                return {"action": "accept", "content": {}}
            labels = () if option.text_input == "replace" else (option.label,)
            given = (QuestionAnswer(prompt.question, labels, text),)
            return {"action": "accept", "content": _content(asked, given)}
        case QuestionAnswers(answers):
            return {"action": "accept", "content": _content(asked, answers)}
        case _:
            assert_never(answer)


def _content(asked: Mapping[str, Any], answers: tuple[QuestionAnswer, ...]) -> dict[str, Any]:
    schema = asked.get("schema")
    required = read_required(schema if isinstance(schema, Mapping) else None)
    given = {answer.question: answer for answer in answers}
    content: dict[str, Any] = {}
    for (name, field), question in zip(read_fields(schema), render_form(schema), strict=True):
        answer = given.pop(question["question"], None)
        if answer is not None:
            content[name] = _value(name, field, answer)
        elif name in required:
            raise CannotAnswer(f"no answer to {question['question']!r}")
    if given:
        raise CannotAnswer(f"there is no such question: {next(iter(given))!r}")
    return content


def _value(name: str, field: Mapping[str, Any], answer: QuestionAnswer) -> object:
    text = answer.text if answer.text is not None else ", ".join(answer.labels)
    choices = read_choices(field)
    if choices and text not in choices:
        raise CannotAnswer(f"{name} takes one of {', '.join(choices)}, not {text!r}")
    if field.get("type") == "boolean":
        return text == YES
    convert = _NUMBERS.get(str(field.get("type")))
    if convert is None:
        return text
    try:
        number = convert(text)
    except ValueError:
        raise CannotAnswer(f"{name} takes a number, not {text!r}") from None
    least, most = read_limits(field)
    if (
        (isinstance(number, float) and not math.isfinite(number))  # JSON has no such number
        or (least is not None and number < least)
        or (most is not None and number > most)
    ):
        raise CannotAnswer(f"{name} takes {describe_values(field)}, not {text!r}")
    return number
