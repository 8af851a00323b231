"""The reply to a permission request: a decision, in the form of permission hooks and the control protocol."""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from chorus.agents.claude_code.dialogs.permission_requests import read_labels, read_questions
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
from chorus.model.prompt import OPTION_NAMES, Option, Prompt

DEFAULT_DENIAL = "The user does not want this. Stop, and wait for the user to say what to do instead."


def plan_permission_reply(
    answer: Answer,
    prompt: Prompt,
    tool_input: Mapping[str, Any],
    suggestions: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the decision. Raises CannotAnswer if the answer does not fit the request.

    An approval contains the whole tool input, because the client runs the call with `updatedInput`.
    """
    match answer:
        case Allow(text):
            if text is not None:
                raise CannotAnswer("this prompt cannot be approved with a message")
            if prompt.kind == "question":
                raise CannotAnswer("a question needs an option or a text as its answer")
            return {"behavior": "allow", "updatedInput": dict(tool_input)}
        case AllowAlways():
            if not suggestions:
                raise CannotAnswer(f"this prompt has no {OPTION_NAMES['allow-always']} option")
            permissions = [dict(suggestion) for suggestion in suggestions]
            return {"behavior": "allow", "updatedInput": dict(tool_input), "updatedPermissions": permissions}
        case Deny(text):
            return {"behavior": "deny", "message": DEFAULT_DENIAL if text is None else text}
        case ChooseOption(key, text):
            option = prompt.option(key)
            if option is None:
                raise CannotAnswer(f"this prompt has no option {key!r}")
            meant = _answer_meant_by(option, prompt, text)
            return plan_permission_reply(meant, prompt, tool_input, suggestions)
        case QuestionAnswers(answers):
            return {"behavior": "allow", "updatedInput": _with_answers(tool_input, answers)}
        case _:
            assert_never(answer)


def _answer_meant_by(option: Option, prompt: Prompt, text: str | None) -> Answer:
    match option.meaning:
        case "allow":
            return Allow(text)
        case "allow-always":
            return AllowAlways()
        case "deny":
            return Deny(text)
    labels = () if option.text_input == "replace" else (option.label,)
    return QuestionAnswers((QuestionAnswer(prompt.question, labels, text),))


def _with_answers(tool_input: Mapping[str, Any], answered: tuple[QuestionAnswer, ...]) -> dict[str, Any]:
    questions = {str(question["question"]): question for question in read_questions(tool_input)}
    answers: dict[str, str] = {}
    for answer in answered:
        if answer.question not in questions or answer.question in answers:
            raise CannotAnswer(f"there is no such question: {answer.question!r}")
        answers[answer.question] = _answer_text(questions[answer.question], answer)
    if len(answers) != len(questions):
        raise CannotAnswer(f"the prompt has {len(questions)} question(s), got {len(answers)} answer(s)")
    return {**tool_input, "answers": answers}


def _answer_text(question: Mapping[str, Any], answer: QuestionAnswer) -> str:
    if answer.text is not None:
        if answer.labels:
            raise CannotAnswer("give either options or text, not both")
        return answer.text
    known = read_labels(question)
    for label in answer.labels:
        if label not in known:
            raise CannotAnswer(f"no option has the label {label!r}")
    takes_several = question.get("multiSelect") is True
    if not answer.labels or (len(answer.labels) > 1 and not takes_several):
        needed = "at least" if takes_several else "exactly"
        raise CannotAnswer(f"this question needs {needed} one choice")
    return ", ".join(answer.labels)
