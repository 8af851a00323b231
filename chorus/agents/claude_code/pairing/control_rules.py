"""Pairing: questions and answers of the control protocol."""

from typing import Any, Literal

from chorus.agents.claude_code.events.base import SOURCE_KEY
from chorus.agents.claude_code.events.control import Cancel, CanUseTool, HookCallback, Response
from chorus.agents.claude_code.events.hook import HookOutput, PermissionRequest, PreToolUse
from chorus.agents.claude_code.events.parser import Event
from chorus.agents.claude_code.pairing.call_facts import Learned
from chorus.agents.claude_code.pairing.evidence import Evidence
from chorus.agents.claude_code.pairing.sessions import Spot
from chorus.agents.claude_code.pairing.state import Books, Handlers, Made, Question
from chorus.agents.interface import Source
from chorus.model.outcomes import Outcome, PromptClosed, PromptOpened


def hear_question(books: Books, event: CanUseTool, spot: Spot) -> list[Outcome]:
    if event.request is not None and event.request in books.questions:
        return []
    outcomes: list[Outcome] = []
    agent = event.asking_agent or spot.agent
    if event.call:
        # The question may be seen before the call it is about.
        outcomes += books.see(event, spot._replace(agent=agent), Made(event.call, event.tool, event.input))
        outcomes += books.ledger.learn(event.call, Learned(Evidence.ASKED))
    if event.request is not None:
        books.questions[event.request] = Question(event.call, by_hook=False)
    suggestions = read_suggestions(event.suggestions)
    prompt = PromptOpened(
        spot.session.id, event.call, event.tool, event.input, agent, event.request, event.text, suggestions
    )
    return [*outcomes, prompt]


def hear_nothing(books: Books, event: HookCallback, spot: Spot) -> list[Outcome]:
    """The callback itself says nothing of calls: what it carries does."""
    return []


def hear_callback(books: Books, event: HookCallback, inner: Event) -> None:
    """A hook is asked over the protocol. Only one that fires before a call can stop it."""
    if event.request is not None and isinstance(inner, PreToolUse | PermissionRequest):
        books.questions[event.request] = Question(inner.call or event.call, by_hook=True)


def hear_answer(books: Books, event: Response, spot: Spot) -> list[Outcome]:
    question = books.questions.pop(event.request, None) if event.request is not None else None
    payload = event.payload
    if question is None or payload is None:
        return []
    verdict, ran = _read_hook_answer(payload) if question.by_hook else _read_answer(payload)
    outcomes: list[Outcome] = []
    if question.call and (verdict == "deny" or ran is not None):
        evidence = Evidence.DENIED if verdict == "deny" else Evidence.NONE
        outcomes += books.ledger.learn(question.call, Learned(evidence, ran=ran))
    if verdict is not None and not question.by_hook:
        outcomes.append(PromptClosed(spot.session.id, question.call, event.request, verdict))
    return outcomes


def hear_cancel(books: Books, event: Cancel, spot: Spot) -> list[Outcome]:
    question = books.questions.pop(event.request, None)
    if question is None or question.by_hook:
        return []
    return [PromptClosed(spot.session.id, question.call, event.request, "cancelled")]


def read_suggestions(value: object) -> tuple[dict[str, Any], ...]:
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


_Answer = tuple[Literal["allow", "deny"] | None, dict[str, Any] | None]


def _read_answer(payload: dict[str, Any]) -> _Answer:
    behavior, ran = payload.get("behavior"), payload.get("updatedInput")
    if behavior == "deny":
        return "deny", None
    if behavior == "allow":
        return "allow", ran if isinstance(ran, dict) else None
    return None, None


def _read_hook_answer(payload: dict[str, Any]) -> _Answer:
    # Every field of a hook's answer is loose, so this cannot fail.
    output = HookOutput.model_validate({**payload, SOURCE_KEY: Source.CONTROL_IN})
    ran = output.specific.get("updatedInput") if output.specific else None
    return output.verdict, ran if isinstance(ran, dict) else None


HANDLERS: Handlers = {
    CanUseTool: hear_question,
    HookCallback: hear_nothing,
    Response: hear_answer,
    Cancel: hear_cancel,
}
