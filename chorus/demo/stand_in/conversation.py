"""The conversation of the stand-in: the story's replies, their tool calls, and the hooks around them.

A thread plays the turns. It changes the screen's state in single steps that need no lock.
"""

import queue
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.demo import story
from chorus.demo.script import Text, ToolUse
from chorus.demo.stand_in.hooks import Hooks
from chorus.demo.stand_in.screen import DIM, TYPED, Block, Dialog, State
from chorus.demo.stand_in.session import MODEL, Json, Session, Transcript
from chorus.demo.stand_in.tools import ToolResult, Tools, failure, program_of

# The pause between the steps of a reply: slow enough to follow.
PACE_SECONDS = 0.2
# The indexes of the dialog's options.
ALLOW, ALLOW_PROGRAM, AUTO_MODE, DENY = range(4)
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
INTERRUPTED = "[Request interrupted by user]"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a permission request. `message`: the reason for a denial."""

    allow: bool
    message: str | None = None


class Conversation:
    def __init__(self, session: Session, settings: str, state: State, changed: Callable[[], None]) -> None:
        self.interrupt = threading.Event()
        self._session = session
        self._state = state
        self._changed = changed
        self._hooks = Hooks(session, settings)
        self._transcript = Transcript(session)
        self._tools = Tools(session, self.interrupt)

    def begin(self) -> None:
        self._hooks.run("SessionStart", {"source": "startup", "model": MODEL}, subject="startup")

    def end(self, reason: str) -> None:
        self._hooks.run("SessionEnd", {"reason": reason}, subject=reason)

    def stop(self) -> None:
        """Interrupt the turn, and deny an open permission request."""
        self.interrupt.set()
        if self._state.dialog is not None:
            self._state.dialog.answer(DENY)

    def send(self, text: str) -> None:
        """Play the turn that answers a message of the user."""
        self.interrupt.clear()
        self._session.prompt_id = str(uuid.uuid4())
        self._state.working_since = time.monotonic()
        self._show(Block(text, "❯", TYPED))
        self._hooks.run("UserPromptSubmit", {"prompt": text})
        self._transcript.add_user(text)
        last_text = ""
        for reply in self._find_replies(text):
            last_text = self._play(reply) or last_text
            if self.interrupt.is_set():
                self._transcript.add_user([{"type": "text", "text": INTERRUPTED}])
                self._show(Block("Interrupted · What should Claude do instead?", "  ⎿ ", DIM))
                break
        else:
            self._hooks.run("Stop", {"stop_hook_active": False, "last_assistant_message": last_text})
        self._state.working_since = None
        self._changed()

    def _find_replies(self, text: str) -> Sequence[Sequence[Text | ToolUse]]:
        messages = story.messages(str(self._session.cwd))
        return next((message.replies for message in messages if message.text in text), [[Text("Done.")]])

    def _play(self, reply: Sequence[Text | ToolUse]) -> str:
        """Play one message of the model and its calls. Return the last text of the message."""
        message_id = f"msg_{uuid.uuid4().hex[:24]}"
        calls = [step for step in reply if isinstance(step, ToolUse)]
        stop_reason = "tool_use" if calls else "end_turn"
        last_text = ""
        sources: list[str] = []
        for step in reply:
            if self.interrupt.wait(PACE_SECONDS):
                return last_text
            match step:
                case Text(text):
                    last_text = text
                    self._transcript.add_assistant(message_id, {"type": "text", "text": text}, stop_reason)
                    self._show(Block(text))
                case ToolUse(name, tool_input, identifier):
                    block = {"type": "tool_use", "id": identifier, "name": name, "input": dict(tool_input)}
                    sources.append(self._transcript.add_assistant(message_id, block, stop_reason))
        self.interrupt.wait(PACE_SECONDS)
        for call, source in zip(calls, sources, strict=True):
            result = self._run_call(call)
            content: Json = {"type": "tool_result", "tool_use_id": call.id, "content": result.text}
            content |= {"is_error": True} if result.is_error else {}
            self._transcript.add_user([content], toolUseResult=result.report, sourceToolAssistantUUID=source)
        return last_text

    def _run_call(self, call: ToolUse) -> ToolResult:
        tool_input = {"replace_all": False, **call.input} if call.name == "Edit" else dict(call.input)
        fields: Json = {"tool_name": call.name, "tool_input": tool_input, "tool_use_id": call.id}
        self._hooks.run("PreToolUse", fields, subject=call.name)
        if self._tools.must_ask(call.name, tool_input):
            decision = self._ask(tool_input)
            if not decision.allow:
                if decision.message is None:
                    self.interrupt.set()
                self._show(Block(f"{call.name}({_describe(tool_input)})", below=("Not run · rejected",)))
                return failure(decision.message or REJECTED)
        started = time.monotonic()
        result = self._tools.run(call.name, tool_input)
        fields["duration_ms"] = round((time.monotonic() - started) * 1000)
        if result.is_error:
            failed = {"error": result.text, "is_interrupt": self.interrupt.is_set()}
            self._hooks.run("PostToolUseFailure", fields | failed, subject=call.name)
        else:
            self._hooks.run("PostToolUse", fields | {"tool_response": result.report}, subject=call.name)
        is_patch = bool(result.patch)
        below = result.patch if is_patch else result.text.split("\n") if call.name == "Bash" else ()
        self._show(Block(f"{call.name}({_describe(tool_input)})", below=tuple(below), is_patch=is_patch))
        return result

    def _ask(self, tool_input: Mapping[str, Any]) -> Decision:
        """Show the permission dialog while the hooks run. Return the first answer: the user's or a hook's."""
        answers: queue.SimpleQueue[int | Json] = queue.SimpleQueue()
        command, program = str(tool_input["command"]), program_of(tool_input)
        description = str(tool_input.get("description", "Run shell command"))
        rule = {"toolName": "Bash", "ruleContent": f"{program} *"}
        suggestion = {
            "type": "addRules",
            "rules": [rule],
            "behavior": "allow",
            "destination": "localSettings",
        }

        def ask_hooks() -> None:
            fields: Json = {"tool_name": "Bash", "tool_input": dict(tool_input)}
            fields["permission_suggestions"] = [suggestion]
            for output in self._hooks.run("PermissionRequest", fields, subject="Bash"):
                if isinstance(output.get("decision"), dict):
                    answers.put(output["decision"])

        self._state.dialog = Dialog(command, description, program, answers.put)
        self._changed()
        threading.Thread(target=ask_hooks, daemon=True).start()
        answer = answers.get()
        self._state.dialog = None
        if isinstance(answer, dict):
            message = str(answer.get("message", "Denied by PermissionRequest hook"))
            return Decision(answer.get("behavior") == "allow", message)
        if answer == ALLOW_PROGRAM:
            self._tools.allowed.add(program)
        elif answer == AUTO_MODE:
            self._session.mode = self._state.mode = "auto"
        return Decision(answer != DENY)

    def _show(self, block: Block) -> None:
        self._state.blocks.append(block)
        self._changed()


def _describe(tool_input: Mapping[str, Any]) -> str:
    return str(tool_input.get("command") or str(tool_input.get("file_path", "")).rpartition("/")[2])
