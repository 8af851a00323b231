"""One call from its validation to its result: hooks, permission, the run itself.

A call that fails its checks fires no hook. PreToolUse comes before the question and before the
write; PostToolUse after the write and before the result is told.
"""

import threading
import time
from dataclasses import replace
from pathlib import Path

from tests.client_double import file_tools as filetools
from tests.client_double.change import Change
from tests.client_double.hooks import Hooks, Reply
from tests.client_double.output import Answer, Output, Question
from tests.client_double.permissions import QUESTIONS, Permissions, Verdict, target_of
from tests.client_double.shell import Shell
from tests.client_double.tasks import Tasks
from tests.client_double.values import Agent, Call, Json, Outcome, failure

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected "
    "(eg. if it was a file edit, the new_string was NOT written to the file). "
)
STOP = "STOP what you are doing and wait for the user to tell you how to proceed."
SAID = "To tell you how to proceed, the user said:\n"
BY_USER: Json = {"decision": "accept", "source": "user_temporary"}
NOT_BY_CONFIG: Json = {"decision": "reject", "source": "config"}
NOT_BY_USER: Json = {"decision": "reject", "source": "user_reject"}


class Calls:
    def __init__(
        self, output: Output, hooks: Hooks, permissions: Permissions, shell: Shell, tasks: Tasks
    ) -> None:
        self._front = output
        self._hooks = hooks
        self._permissions = permissions
        self._shell = shell
        self._tasks = tasks
        # The files that the model has read; a sub-agent has its own.
        self._known: set[tuple[Agent | None, Path]] = set()
        # Two agents never write at once.
        self._writing = threading.Lock()

    def run(self, call: Call) -> Outcome:
        invalid = self._check(call)
        if isinstance(invalid, Outcome):
            return invalid
        before = self._run_hooks("PreToolUse", call, {})
        stopped = _stopped_by(before)
        if stopped is not None:
            return stopped
        verdict = self._judge(call, before)
        if verdict.ask:
            answer = self._ask(call, verdict)
            if not answer.allow:
                return _refused(answer)
            if answer.updated_input is not None:
                call = replace(call, input=answer.updated_input)
            return replace(self._perform(call, answer), decision=BY_USER, feedback=answer.feedback)
        return replace(self._perform(call), decision=verdict.decision)

    def _check(self, call: Call) -> Change | Outcome | None:
        if call.tool in filetools.PLANS:
            return filetools.plan(call.tool, call.input, known=(call.agent, target_of(call)) in self._known)
        known = call.tool in KNOWN or call.tool.startswith("mcp__") or call.answer is not None
        return None if known else failure(f"Error: No such tool available: {call.tool}")

    def _judge(self, call: Call, before: list[Reply]) -> Verdict:
        verdict = self._permissions.judge(call)
        match [reply.specific.get("permissionDecision") for reply in before]:
            case decisions if "ask" in decisions:
                return replace(verdict, ask=True)
            case decisions if "allow" in decisions and call.tool not in QUESTIONS:
                return replace(verdict, ask=False, decision={"decision": "accept", "source": "hook"})
        return verdict

    def _ask(self, call: Call, verdict: Verdict) -> Answer:
        change = self._check(call)
        question = Question(call, verdict, change if isinstance(change, Change) else None)
        answer = self._front.ask(question, lambda: self._ask_hooks(call, verdict))
        session = self._permissions.session
        if answer.switch_mode:
            session.mode = answer.switch_mode
        if answer.always and verdict.directory is not None:
            self._permissions.directories.add(verdict.directory)
        if answer.always and verdict.rule is not None and not answer.by_hook:
            self._permissions.settings.allow(verdict.rule)
        return answer

    def _ask_hooks(self, call: Call, verdict: Verdict) -> Answer | None:
        """The decision of the PermissionRequest hooks; None leaves it to the user."""
        fields = {
            "tool_name": call.tool,
            "tool_input": dict(call.input),
            "permission_suggestions": list(verdict.suggestions),
        }
        for reply in self._hooks.run("PermissionRequest", fields, subject=call.tool, agent=call.agent):
            decision = reply.specific.get("decision")
            said: Json = decision if isinstance(decision, dict) else {}
            if said.get("behavior") == "allow":
                return Answer(True, by_hook=True, updated_input=said.get("updatedInput"))
            if said.get("behavior") == "deny":
                message = str(said.get("message", "Denied by PermissionRequest hook"))
                interrupts = bool(said.get("interrupt"))
                return Answer(False, by_hook=True, message=message, interrupts=interrupts)
        return None

    def _perform(self, call: Call, answer: Answer | None = None) -> Outcome:
        started = time.monotonic()
        outcome = self._do(call, answer)
        fields: Json = {"duration_ms": round((time.monotonic() - started) * 1000)}
        if outcome.is_error:
            error = {"error": outcome.content, "is_interrupt": False}
            self._run_hooks("PostToolUseFailure", call, error | fields)
            return outcome
        replies = self._run_hooks("PostToolUse", call, fields, response=outcome.result)
        blocked = [reply.reason for reply in replies if reply.blocks]
        if blocked:
            return replace(outcome, content=f"{outcome.content}\n{blocked[0]}")
        return outcome

    def _do(self, call: Call, answer: Answer | None) -> Outcome:
        if call.tool == "Read":
            outcome = filetools.read(call.input)
        elif call.tool in filetools.PLANS:
            # Plan again: the file may have changed while the client asked.
            with self._writing:
                planned = self._check(call)
                outcome = planned.apply() if isinstance(planned, Change) else planned or failure("gone")
        elif call.tool in ("Agent", "Task"):
            return self._tasks.run_agent(call)
        elif call.tool == "Bash" and call.input.get("run_in_background"):
            return self._tasks.run_command(call)
        elif call.tool == "Bash":
            return self._shell.run(call.input, read_before=[path for _, path in self._known])
        elif call.tool == "AskUserQuestion":
            return _answered(call, answer)
        else:
            text = call.answer or ANSWERS.get(call.tool, f"{call.tool} done.")
            return Outcome(text, {"content": text})
        path = target_of(call)
        if path is not None and not outcome.is_error and call.tool in ("Read", "Write"):
            self._known.add((call.agent, path))
        return outcome

    def _run_hooks(self, event: str, call: Call, fields: Json, response: object = None) -> list[Reply]:
        told: Json = {"tool_name": call.tool, "tool_input": dict(call.input)}
        if response is not None:
            told["tool_response"] = response
        replies = self._hooks.run(
            event, {**told, "tool_use_id": call.id, **fields}, subject=call.tool, agent=call.agent
        )
        for reply in replies:
            if reply.complaint:
                self._front.hook_failed(event, call.tool, reply.complaint)
        return replies


ANSWERS = {
    "EnterPlanMode": "Entered plan mode.",
    "ExitPlanMode": "User has approved exiting plan mode. You can now proceed.",
    "ToolSearch": "",
    "WebFetch": "The page could not be fetched: the client double has no network.",
    "WebSearch": "No results: the client double has no network.",
}
KNOWN = {*ANSWERS, "Read", "Bash", "Agent", "Task", "AskUserQuestion"}


def _stopped_by(replies: list[Reply]) -> Outcome | None:
    for reply in replies:
        decision = reply.specific.get("permissionDecision")
        if decision == "deny" or (reply.blocks and decision is None):
            reason = reply.specific.get("permissionDecisionReason") or reply.reason
            return replace(failure(str(reason), tagged=False), refusal="hook")
    return None


def _refused(answer: Answer) -> Outcome:
    if answer.message is not None and not answer.interrupts:
        outcome = failure(answer.message, tagged=False)
        if answer.by_default:
            return replace(outcome, refusal="user-rejected", decision=NOT_BY_CONFIG)
        return replace(outcome, refusal="permission-rule", decision=NOT_BY_USER)
    if answer.feedback:
        outcome = failure(REJECTED + SAID + answer.feedback, tagged=False)
        return replace(outcome, refusal="user-rejected", feedback=answer.feedback, decision=NOT_BY_USER)
    return Outcome(
        REJECTED + STOP, "User rejected tool use", is_error=True, refusal="user-rejected", interrupts=True
    )


def _answered(call: Call, answer: Answer | None) -> Outcome:
    answers = (answer.answers if answer else None) or dict(call.input.get("answers", {}))
    pairs = ", ".join(f'"{question}"="{said}"' for question, said in answers.items())
    text = f"Your questions have been answered: {pairs}. You can now continue with these answers in mind."
    return Outcome(text, {"questions": call.input.get("questions", []), "answers": answers})
