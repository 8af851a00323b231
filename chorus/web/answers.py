"""Check an answer from the page, and turn it into a request about its prompt."""

from typing import Any

from chorus.errors import ExitCode, UsageError
from chorus.inbox.repositories import mapping
from chorus.model.api.json_api import PromptJson
from chorus.model.api.requests import AnswerArguments, QuestionArgument
from chorus.panel.state.items import parse_prompt
from chorus.web.shown import APPROVALS, original_questions, why_not_approved

RELOAD_HINT = "Reload the page."
DECISIONS = ("allow", "allow-always", "deny", "option", "answers")


class NotApproved(UsageError):
    """The prompt cannot be approved from the page."""

    exit_code = ExitCode.REFUSED


def parse_page_answer(prompt: PromptJson, sent: dict[str, Any], *, by: str) -> AnswerArguments:
    """Check an answer sent by the page, and return the request for the watcher."""
    decision, message = sent.get("decision"), sent.get("message")
    if decision not in DECISIONS or not isinstance(message, str | None):
        raise UsageError("the page sent an invalid answer", hint=RELOAD_HINT)
    request: AnswerArguments = {
        "prompt": prompt["id"],
        "fingerprint": prompt["fingerprint"],
        "decision": decision,
        "by": by,
    }
    meaning = decision
    if decision == "option":
        parsed = parse_prompt(prompt)
        option = _pick(parsed.options if parsed else (), sent.get("option"))
        meaning, request["option"] = option.meaning, option.key
    elif decision == "answers":
        request["answers"] = _parse_answers(prompt, sent.get("answers"))
    if message is not None and message.strip():
        request["message"] = message.strip()
    why = why_not_approved(prompt)
    if why is not None and (meaning != "deny" or prompt["kind"] in ("unknown", "none")):
        raise NotApproved(why)
    assert meaning in (*APPROVALS, "deny", "answers", "other")
    return request


def _parse_answers(prompt: PromptJson, sent: object) -> list[QuestionArgument]:
    questions = original_questions(prompt)
    if questions is None or not isinstance(sent, list) or len(sent) != len(questions):
        raise UsageError("each question of the prompt needs an answer")
    answers: list[QuestionArgument] = []
    for question, value in zip(questions, sent, strict=True):
        one = mapping(value)
        text, positions = one.get("text"), one.get("choices", [])
        if not isinstance(text, str | None) or not isinstance(positions, list):
            raise UsageError("the page sent an invalid answer", hint=RELOAD_HINT)
        labels = [_pick(question["options"], position)["label"] for position in positions]
        own = text.strip() if text else None
        if not labels and not own:
            raise UsageError(f"no answer to: {question['question']}")
        answers.append({"question": question["question"], "labels": labels, "text": own or None})
    return answers


def _pick(items: Any, position: object) -> Any:  # noqa: ANN401  options and choices have their own types
    if not isinstance(position, int) or isinstance(position, bool) or not 0 <= position < len(items):
        raise UsageError("there is no such option", hint=RELOAD_HINT)
    return items[position]
