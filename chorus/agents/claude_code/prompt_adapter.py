"""Claude Code's prompts behind the interface of `chorus.agents.interface`."""

import json
from collections.abc import Mapping
from typing import Any

from chorus.agents.claude_code.dialogs import permission_requests
from chorus.agents.claude_code.dialogs.elicitations import prompt_for_elicitation
from chorus.agents.claude_code.dialogs.reader import explain_reading, read_screen
from chorus.agents.claude_code.dialogs.rules import PromptRules, read_prompt_rules
from chorus.agents.claude_code.replies.appearances import PromptAppearances
from chorus.agents.claude_code.replies.elicitation_replies import plan_elicitation_reply
from chorus.agents.claude_code.replies.key_sequences import without_blanks
from chorus.agents.claude_code.replies.permission_replies import DEFAULT_DENIAL, plan_permission_reply
from chorus.agents.interface import CannotAnswer, PromptReader, PromptTracker
from chorus.model.answer import Answer
from chorus.model.outcomes import PromptOpened
from chorus.model.prompt import NoPrompt, Prompt, UnknownPrompt
from chorus.model.tools import ELICITATION, QUESTION_TOOL


class DialogReader:
    def __init__(self, rules: PromptRules) -> None:
        self._rules = rules

    def read(self, text: str, *, width: int | None = None) -> Prompt | UnknownPrompt | NoPrompt:
        return read_screen(text, self._rules, width=width).found

    def explain(self, text: str, *, width: int | None = None) -> list[str]:
        return explain_reading(read_screen(text, self._rules, width=width))


class ClaudePrompts:
    may_be_about = staticmethod(permission_requests.may_be_about)

    def screen_reader(self, extra_rules: dict[str, Any] | None = None) -> PromptReader:
        return DialogReader(read_prompt_rules(extra_rules))

    def track_prompts(self) -> PromptTracker:
        return PromptAppearances()

    def prompt_for(self, request: PromptOpened) -> Prompt:
        if request.tool is None:
            return permission_requests.prompt_for_text(request.text or "")
        if request.tool == ELICITATION:
            return prompt_for_elicitation(request.input)
        return permission_requests.prompt_for_call(request.tool, request.input, request.suggestions)

    def shows_question_of(self, prompt: Prompt, tool: str, tool_input: Mapping[str, Any]) -> bool:
        if tool != QUESTION_TOOL or prompt.kind != "question":
            return False
        questions = permission_requests.read_questions(tool_input)
        texts = [without_blanks(str(question["question"])) for question in questions]
        return without_blanks(prompt.question) in texts and len(prompt.tabs) == len(texts)

    def permission_reply(self, answer: Answer, prompt: Prompt, request: PromptOpened) -> dict[str, Any]:
        if request.tool == ELICITATION:
            return plan_elicitation_reply(answer, prompt, request.input)
        return plan_permission_reply(answer, prompt, request.input, request.suggestions)

    def mod_reply(self, decision: dict[str, Any]) -> dict[str, Any]:
        return decision

    def hook_reply(self, decision: dict[str, Any]) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}

    def form_reply(self, decision: dict[str, Any]) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": "ElicitationResult", **decision}}

    def line_reply(self, decision: dict[str, Any]) -> str:
        if decision.get("message", DEFAULT_DENIAL) != DEFAULT_DENIAL:
            raise CannotAnswer("this client takes only yes or no, without a message")
        return "y" if decision["behavior"] == "allow" else "n"

    def is_request_line(self, line: str, text: str) -> bool:
        try:
            event = json.loads(line)
        except ValueError:
            return False
        if not isinstance(event, dict):
            return False
        return event.get("type") == "permission_request" and event.get("prompt") == text

    def control_reply(self, request: str, decision: dict[str, Any]) -> dict[str, Any]:
        response = {"subtype": "success", "request_id": request, "response": decision}
        return {"type": "control_response", "response": response}
