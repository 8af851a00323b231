"""The control protocol: permission requests to the other end of stdin, and its own requests.

An answer without `updatedInput` is an error, as it is in the client. A request that is no longer
wanted is withdrawn with `control_cancel_request`.
"""

import threading
import uuid
from collections.abc import Callable
from typing import Any

from tests.client_double.hooks import Reply
from tests.client_double.output import Answer, Question
from tests.client_double.permissions import QUESTIONS, target_of
from tests.client_double.session import Session
from tests.client_double.settings import Hook
from tests.client_double.values import Json


class Control:
    def __init__(self, session: Session, write: Callable[[Json], None]) -> None:
        self._session = session
        self._write = write
        self._open: dict[str, Callable[[Json], None]] = {}
        self._callbacks: dict[str, list[Json]] = {}
        self.interrupt: Callable[[], None] = lambda: None

    def ask(self, question: Question) -> str:
        """Send a permission request, whose answer settles it; return its id."""
        call, verdict = question.call, question.verdict
        path = target_of(call)
        request: Json = {
            "subtype": "can_use_tool",
            "tool_name": call.tool,
            "display_name": call.tool,
            "input": dict(call.input),
        }
        description = path.name if path else call.input.get("description")
        request |= {"description": description} if description else {}
        if call.tool in QUESTIONS:
            request |= {"tool_use_id": call.id, "requires_user_interaction": True}
        else:
            request |= {"permission_suggestions": list(verdict.suggestions), "tool_use_id": call.id}
        request |= {"agent_id": call.agent.id} if call.agent else {}
        return self._request(request, lambda response: _settle(question, response))

    def cancel(self, request_id: str) -> None:
        if self._open.pop(request_id, None):
            self._write({"type": "control_cancel_request", "request_id": request_id})

    def run_callbacks(self, event: str, subject: str | None, value: Json) -> list[Reply]:
        """Call each hook that the other end registered, and wait for the replies."""
        replies = []
        for entry in self._callbacks.get(event, ()):
            matcher = entry.get("matcher")
            if matcher and subject not in str(matcher).split("|"):
                continue
            for callback in entry.get("hookCallbackIds", ()):
                replies.append(self._call_back(str(callback), value))
        return replies

    def take(self, message: Json) -> None:
        """Handle a line of the protocol from the other end."""
        if message["type"] == "control_response":
            response = message.get("response", {})
            settle = self._open.pop(str(response.get("request_id")), None)
            if settle is not None:
                settle(response)
            return
        if "request_id" in message:
            self._answer(str(message["request_id"]), message.get("request", {}))

    def close(self) -> None:
        """Deny what is pending: stdin ended."""
        for settle in list(self._open.values()):
            settle({"subtype": "error", "error": "stream closed"})

    def _answer(self, request_id: str, request: Json) -> None:
        subtype = request.get("subtype")
        response: Json = {}
        if subtype == "initialize":
            self._callbacks = request.get("hooks") or {}
            response = {
                "commands": [],
                "agents": [],
                "output_style": "default",
                "available_output_styles": ["default"],
                "models": [],
                "account": {},
                "pid": 0,
                "claude_code_version": self._session.version,
                "current_permission_mode": self._session.mode,
            }
        elif subtype == "set_permission_mode":
            self._session.mode = str(request.get("mode"))
            response = {"mode": self._session.mode}
        elif subtype == "interrupt":
            for open_id in list(self._open):
                settle = self._open[open_id]
                self.cancel(open_id)
                settle({"response": {"behavior": "deny", "interrupt": True}})
            response = {"still_queued": []}
        elif subtype != "set_model":
            error = f"Unsupported control request subtype: {subtype}"
            body: Json = {"subtype": "error", "request_id": request_id, "error": error}
            self._write({"type": "control_response", "response": body})
            return
        body = {"subtype": "success", "request_id": request_id, "response": response}
        self._write({"type": "control_response", "response": body})
        if subtype == "interrupt":
            self.interrupt()

    def _call_back(self, callback: str, value: Json) -> Reply:
        arrived = threading.Event()
        output: Json = {}

        def settle(response: Json) -> None:
            output.update(response.get("response") or {})
            arrived.set()

        request = {"subtype": "hook_callback", "callback_id": callback, "input": value}
        if "tool_use_id" in value:
            request["tool_use_id"] = value["tool_use_id"]
        self._request(request, settle)
        arrived.wait()
        return Reply(Hook("callback", callback), 0, output=output)

    def _request(self, request: Json, settle: Callable[[Json], None]) -> str:
        request_id = str(uuid.uuid4())
        self._open[request_id] = settle
        self._write({"type": "control_request", "request_id": request_id, "request": request})
        return request_id


def _settle(question: Question, response: Json) -> None:
    said: Any = response.get("response") or {}
    match said:
        case {"behavior": "allow", "updatedInput": dict(updated)}:
            modes = [item.get("mode") for item in said.get("updatedPermissions", ()) if item.get("mode")]
            question.settle(Answer(True, updated_input=updated, switch_mode=modes[0] if modes else None))
        case {"behavior": "allow"}:
            question.settle(Answer(False, message="Tool permission request failed: ZodError"))
        case {"behavior": "deny"}:
            message = str(said.get("message", ""))
            question.settle(Answer(False, message=message, interrupts=bool(said.get("interrupt"))))
        case _:
            question.settle(Answer(False, message="Tool permission request failed: Stream closed"))
