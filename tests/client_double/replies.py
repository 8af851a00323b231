"""Play the script's replies: output each block, run each call, output each result.

Calls run one after another in the order of their blocks, and start as soon as the model pauses,
even before its message is complete.
"""

import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chorus.demo.script import Pause, Text, Thinking, ToolUse
from tests.client_double.calls import REJECTED, STOP, Calls
from tests.client_double.hooks import Hooks
from tests.client_double.output import Output
from tests.client_double.script import THE_END, Emit, Reply, Script, Show, WaitForFile
from tests.client_double.transcript import Transcript
from tests.client_double.values import Agent, Call, Json, Message, Outcome

POLL_SECONDS = 0.02
# A refusal without a message also refuses the other calls of the same message.
SWEPT = Outcome(REJECTED + STOP, "User rejected tool use", is_error=True, refusal="user-rejected")


@dataclass(slots=True)
class Turn:
    agent: Agent | None = None
    text: str = ""  # the model's last text
    replies: int = 0
    results: int = 0
    denials: list[Json] = field(default_factory=list)
    interrupted: bool = False


@dataclass(slots=True)
class ReplyPlayer:
    script: Script
    hooks: Hooks
    transcript: Transcript
    output: Output
    calls: Calls
    interrupt: threading.Event = field(default_factory=threading.Event)

    def play(self, turn: Turn, prompt: str) -> None:
        for reply in (*self.script.replies_to(prompt), THE_END):
            if not self.reply(turn, reply):
                return

    def reply(self, turn: Turn, reply: Reply) -> bool:
        """Play one message of the model; True if it called a tool and must be asked again."""
        called = any(isinstance(step, ToolUse) for step in reply)
        template = Message(
            [], f"msg_{uuid.uuid4().hex[:24]}", turn.agent, stop_reason="tool_use" if called else "end_turn"
        )
        pending: list[Message] = []
        done: list[Message] = []
        turn.replies += 1
        for index, step in enumerate(reply):
            if self.interrupt.wait(self.script.pace_seconds):
                break
            if isinstance(step, Text | Thinking | ToolUse):
                message = self._block(turn, step, template, index)
                pending += [message] if message.call is not None else []
            else:
                done += self._run(turn, pending)
                pending = []
                self._stand_still(step)
        self.interrupt.wait(self.script.pace_seconds)
        done += self._run(turn, pending)
        turn.interrupted = turn.interrupted or self.interrupt.is_set()
        if done and not turn.interrupted:
            self._tell_batch(turn, done)
        return bool(done) and not turn.interrupted

    def tell(self, text: str, agent: Agent | None = None) -> None:
        """Add a user message that was not typed."""
        message = Message([{"type": "text", "text": text}], agent=agent)
        self.transcript.told(message)
        self.output.user_said(message)

    def _stand_still(self, step: Pause | WaitForFile | Show | Emit) -> None:
        match step:
            case Pause(seconds):
                self.interrupt.wait(seconds)
            case WaitForFile(path):
                while not (Path(path).exists() or self.interrupt.wait(POLL_SECONDS)):
                    pass
            case Show():
                self.output.show(step)
            case Emit(event):
                self.output.emit(dict(event))

    def _block(self, turn: Turn, step: Text | Thinking | ToolUse, template: Message, index: int) -> Message:
        call: Call | None = None
        match step:
            case Text(text):
                block: Json = {"type": "text", "text": text}
                turn.text = text
            case Thinking(text):
                block = {"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}
            case ToolUse(name, arguments, identifier, answer):
                identifier = identifier or f"toolu_{uuid.uuid4().hex[:24]}"
                # The client completes the input of an edit.
                told = {"replace_all": False, **arguments} if name == "Edit" else dict(arguments)
                call = Call(identifier, name, told, turn.agent, answer)
                block = {"type": "tool_use", "id": identifier, "name": name, "input": told}
        fresh = Message([block])
        message = replace(template, content=[block], call=call, uuid=fresh.uuid, time=fresh.time)
        self.transcript.model(message, index)
        self.output.model_said(message)
        return message

    def _run(self, turn: Turn, pending: Sequence[Message]) -> list[Message]:
        ended = []
        for message in pending:
            assert message.call is not None
            swept = turn.interrupted or self.interrupt.is_set()
            outcome = SWEPT if swept else self.calls.run(message.call)
            ended.append(self._result(turn, message, message.call, outcome))
        return ended

    def _result(self, turn: Turn, message: Message, call: Call, outcome: Outcome) -> Message:
        turn.results += 1
        turn.interrupted = turn.interrupted or outcome.interrupts
        if outcome.refusal in ("user-rejected", "permission-rule"):
            denial = {"tool_name": call.tool, "tool_use_id": call.id, "tool_input": dict(call.input)}
            turn.denials.append(denial)
        block: Json = {"tool_use_id": call.id, "type": "tool_result", "content": outcome.content}
        if outcome.is_error:
            block = {
                "type": "tool_result",
                "content": outcome.content,
                "is_error": True,
                "tool_use_id": call.id,
            }
        elif outcome.is_error is False:
            block["is_error"] = False
        result = Message([block], agent=turn.agent, call=call, outcome=outcome, source_uuid=message.uuid)
        self.transcript.result(result)
        self.output.call_ended(result)
        if outcome.feedback and not outcome.is_error:
            self.tell(outcome.feedback, turn.agent)
        return result

    def _tell_batch(self, turn: Turn, done: list[Message]) -> None:
        calls = [
            {
                "tool_name": message.call.tool,
                "tool_input": dict(message.call.input),
                "tool_use_id": message.call.id,
                "tool_response": message.outcome.content,
            }
            for message in done
            if message.call is not None and message.outcome is not None
        ]
        self.hooks.run("PostToolBatch", {"tool_calls": calls}, agent=turn.agent)
