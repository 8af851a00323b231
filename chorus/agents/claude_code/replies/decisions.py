"""What to say to a client that asked in words: the decision its permission hook or its protocol takes.

Receives an answer and the call it is about. Gives the decision as the client reads it. An answer that
does not fit is refused, and nothing is said.
"""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from chorus.agents.claude_code.dialogs.requests import read_labels, read_questions
from chorus.agents.claude_code.replies.steps import Stop
from chorus.model.answer import Allow, AllowAlways, Answer, Choose, Deny, Replies, Reply
from chorus.model.prompt import Option, Prompt

NO = "The user does not want this. Stop, and wait for the user to say what to do instead."


def plan_decision(
    answer: Answer, prompt: Prompt, given: Mapping[str, Any], suggestions: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The decision. What is allowed is always named in full: the client runs `updatedInput`."""
    match answer:
        case Allow(text):
            if text is not None:
                raise Stop("a yes takes no words this way")
            if prompt.kind == "question":
                raise Stop("a question is answered with a choice")
            return {"behavior": "allow", "updatedInput": dict(given)}
        case AllowAlways():
            if not suggestions:
                raise Stop("no option of this prompt means 'allow-always'")
            permissions = [dict(suggestion) for suggestion in suggestions]
            return {"behavior": "allow", "updatedInput": dict(given), "updatedPermissions": permissions}
        case Deny(text):
            return {"behavior": "deny", "message": NO if text is None else text}
        case Choose(key, text):
            return _choose(prompt, given, suggestions, key, text)
        case Replies(replies):
            return {"behavior": "allow", "updatedInput": _answered(given, replies)}
        case _:
            assert_never(answer)


def _choose(
    prompt: Prompt,
    given: Mapping[str, Any],
    suggestions: Sequence[Mapping[str, Any]],
    key: str,
    text: str | None,
) -> dict[str, Any]:
    option = prompt.option(key)
    if option is None:
        raise Stop(f"this prompt has no option {key!r}")
    return plan_decision(_meant(prompt, option, text), prompt, given, suggestions)


def _meant(prompt: Prompt, option: Option, text: str | None) -> Answer:
    match option.meaning:
        case "allow":
            return Allow(text)
        case "allow-always":
            return AllowAlways()
        case "deny":
            return Deny(text)
    labels = () if option.text == "instead" else (option.label,)
    return Replies((Reply(prompt.question, labels, text),))


def _answered(given: Mapping[str, Any], replies: tuple[Reply, ...]) -> dict[str, Any]:
    questions = {str(question["question"]): question for question in read_questions(given)}
    answers: dict[str, str] = {}
    for reply in replies:
        if reply.question not in questions or reply.question in answers:
            raise Stop(f"no such question is asked: {reply.question!r}")
        answers[reply.question] = _said(questions[reply.question], reply)
    if len(answers) != len(questions):
        raise Stop(f"{len(questions)} questions are asked, {len(answers)} replies are given")
    return {**given, "answers": answers}


def _said(question: Mapping[str, Any], reply: Reply) -> str:
    if reply.text is not None:
        if reply.labels:
            raise Stop("a reply is choices, or words of your own")
        return reply.text
    known = read_labels(question)
    for label in reply.labels:
        if label not in known:
            raise Stop(f"no one choice is {label!r}")
    if not reply.labels or (len(reply.labels) > 1 and question.get("multiSelect") is not True):
        raise Stop("this question takes one choice")
    return ", ".join(reply.labels)
