from typing import Any

import pytest

from chorus.agents.claude_code.dialogs.elicitations import prompt_for_elicitation, render_form
from chorus.agents.claude_code.replies.elicitation_replies import plan_elicitation_reply
from chorus.agents.interface import CannotAnswer
from chorus.model.answer import Allow, Answer, ChooseOption, Deny, QuestionAnswer, QuestionAnswers

SCHEMA = {
    "properties": {
        "city": {"type": "string", "description": "Which city?"},
        "size": {"enum": ["small", "large"]},
        "sure": {"type": "boolean", "title": "Sure?"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "weight": {"type": "number", "minimum": 1},
        "odd": "not a field",
    },
    "required": ["city"],
}


def asked(schema: Any, **more: Any) -> dict[str, Any]:
    return {
        "server": "forms",
        "message": "Tell me.",
        "schema": schema,
        "questions": render_form(schema),
        **more,
    }


def reply(answer: Answer, value: dict[str, Any]) -> dict[str, Any]:
    return plan_elicitation_reply(answer, prompt_for_elicitation(value), value)


def answers(**given: str) -> QuestionAnswers:
    return QuestionAnswers(tuple(QuestionAnswer(name, (), text) for name, text in given.items()))


def test_each_field_of_a_form_is_a_question_and_keeps_its_type() -> None:
    value = asked(SCHEMA)
    prompt = prompt_for_elicitation(value)
    assert (prompt.kind, prompt.title, prompt.question) == ("question", "forms asks", "Which city?")
    assert [question["header"] for question in value["questions"]] == [
        "city",
        "size",
        "sure",
        "count",
        "weight",
    ]
    given = answers(**{"Which city?": "Rome", "size": "large", "Sure?": "Yes", "count": "3", "weight": "1.5"})
    content = {"city": "Rome", "size": "large", "sure": True, "count": 3, "weight": 1.5}
    assert reply(given, value) == {"action": "accept", "content": content}
    assert reply(Deny(), value) == {"action": "decline"}
    assert reply(ChooseOption("1", "Rome"), value)["content"] == {"city": "Rome"}


@pytest.mark.parametrize(
    "answer",
    [
        Allow(),
        answers(size="large"),
        answers(**{"Which city?": "Rome", "size": "huge"}),
        answers(**{"Which city?": "Rome", "count": "many"}),
        answers(**{"Which city?": "Rome", "count": "0"}),
        answers(**{"Which city?": "Rome", "count": "12"}),
        answers(**{"Which city?": "Rome", "weight": "nan"}),
        answers(**{"Which city?": "Rome", "weight": "inf"}),
        answers(**{"Which city?": "Rome", "else": "x"}),
        ChooseOption("7", None),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(answer: Answer) -> None:
    with pytest.raises(CannotAnswer):
        reply(answer, asked(SCHEMA))


def test_a_prompt_says_what_each_further_question_takes() -> None:
    fields: dict[str, Any] = {
        **SCHEMA["properties"],  # type: ignore[dict-item]  # a mapping
        "weight": {"type": "number", "title": "Weight", "minimum": "none"},
        "name": {"type": "string"},
    }
    prompt = prompt_for_elicitation(asked({"properties": fields, "required": ["city", "name"]}))
    assert prompt.body == (
        "Tell me.",
        "size (small, large; optional)",
        "sure: Sure? (Yes, No; optional)",
        "count (a number from 1 up to 9; optional)",
        "weight: Weight (a number; optional)",
        "name",
    )


def test_fields_with_the_same_description_are_answered_one_by_one() -> None:
    field = {"type": "string", "description": "A path"}
    value = asked({"properties": {"source": field, "target": field}, "required": ["source", "target"]})
    assert prompt_for_elicitation(value).body == ("Tell me.", "target: A path (target)")
    given = answers(**{"A path (source)": "a.txt", "A path (target)": "b.txt"})
    assert reply(given, value)["content"] == {"source": "a.txt", "target": "b.txt"}


def test_a_request_without_fields_is_accepted_or_declined() -> None:
    value = asked(None, url="https://example.com")
    assert prompt_for_elicitation(value).body == ("https://example.com",)
    assert reply(Allow(), value) == reply(ChooseOption("1"), value) == {"action": "accept", "content": {}}
    assert reply(ChooseOption("2"), value) == {"action": "decline"}


def test_the_values_of_a_field_are_options() -> None:
    value = asked({"properties": {"size": {"enum": ["small", "large"]}}})
    assert [option.label for option in prompt_for_elicitation(value).options] == ["small", "large"]
    assert reply(ChooseOption("2"), value)["content"] == {"size": "large"}
