"""The events of a headless run, one JSON object per line, with the client's keys in its order.

Pure: receives what happened, gives event objects. Every event but those of the control protocol
names its session and has an id of its own.
"""

import json
import os
import uuid

from tests.client_double.hooks import Reply
from tests.client_double.output import TurnEnd
from tests.client_double.session import MODEL, Session
from tests.client_double.transcript import FULL_USAGE, USAGE
from tests.client_double.values import Json, Message

# fmt: off
TOOLS = [
    "Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterWorktree", "ExitWorktree", "ListAgents",
    "Monitor", "NotebookEdit", "Read", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill", "TaskStop",
    "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
]
# fmt: on
ASKING_TOOLS = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"]
FAST_MODE: Json = {"fast_mode_state": "off", "fast_mode_disabled_reason": "sdk_opt_in_required"}
NO_SUBAGENTS: Json = {
    "spawned": 0,
    "requested": {"background": 0, "foreground": 0, "unset": 0},
    "started_in_background": 0,
    "max_depth": 0,
    "spawned_by_subagents": 0,
    "completed": 0,
    "failed": 0,
    "killed": {"parent": 0, "user": 0, "system": 0},
    "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
    "by_type": {},
}


def render(event: Json) -> str:
    """Render one line. The two separators that some readers take for a newline are escaped."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


class Events:
    def __init__(self, session: Session, *, can_ask: bool) -> None:
        self._session = session
        self._tools = sorted([*TOOLS, *ASKING_TOOLS]) if can_ask else TOOLS
        self._results = 0

    def init(self) -> Json:
        session = self._session
        return {
            "type": "system",
            "subtype": "init",
            "cwd": str(session.cwd),
            "session_id": session.id,
            "tools": ["Task", *self._tools],
            "mcp_servers": [],
            "model": MODEL,
            "permissionMode": session.mode,
            "slash_commands": ["clear", "compact", "context", "init", "model", "usage"],
            "terminal_slash_commands": ["doctor", "color"],
            "apiKeySource": "none",
            "claude_code_version": session.version,
            "output_style": "default",
            "agents": ["claude", "Explore", "general-purpose", "Plan"],
            "skills": [],
            "plugins": [],
            "capabilities": ["interrupt_receipt_v1"],
            "analytics_disabled": True,
            "product_feedback_disabled": True,
            "uuid": _new(),
            "memory_paths": {"auto": f"{session.projects}/memory/"},
            "original_cwd": str(session.cwd),
            "additional_directories": [],
            "messaging_socket_path": f"/tmp/cc-socks/{os.getpid()}.sock",
            **FAST_MODE,
            "per_turn_effort_active": True,
            "ultrathink_available": False,
            "ultrathink_typed_raises": False,
            "view_mode": "default",
        }

    def hook_started(self, hook_id: str, name: str, event: str) -> Json:
        return self._system("hook_started", hook_id=hook_id, hook_name=name, hook_event=event)

    def hook_response(self, hook_id: str, name: str, event: str, reply: Reply) -> Json:
        said = {
            "output": reply.stdout,
            "stdout": reply.stdout,
            "stderr": reply.stderr,
            "exit_code": reply.code,
        }
        outcome = "success" if reply.code == 0 else "error"
        return self._system(
            "hook_response", hook_id=hook_id, hook_name=name, hook_event=event, **said, outcome=outcome
        )

    def assistant(self, message: Message) -> Json:
        body = {
            "id": message.message_id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": message.content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": USAGE,
            "context_management": None,
        }
        return {"type": "assistant", "message": body, **self._place(message), **_agent_tail(message)}

    def user(self, message: Message) -> Json:
        event: Json = {"type": "user", "message": {"role": "user", "content": message.content}}
        event |= self._place(message)
        call, outcome = message.call, message.outcome
        if call is not None and outcome is not None:
            if message.agent is None or outcome.is_error:
                event["tool_use_result"] = outcome.result
            meta: Json = {"id": call.id}
            if outcome.refusal:
                meta["non_execution_kind"] = outcome.refusal
            if outcome.decision:
                meta["permission_decision"] = outcome.decision
            if len(meta) > 1:
                event["tool_result_meta"] = [meta]
        return {**event, **_agent_tail(message)}

    def system(self, subtype: str, fields: Json) -> Json:
        return self._system(subtype, **fields)

    def result(self, end: TurnEnd) -> Json:
        usage = {**FULL_USAGE, "input_tokens": 10 * end.replies, "output_tokens": 5 * end.replies}
        models = {MODEL: {"inputTokens": 10 * end.replies, "outputTokens": 5 * end.replies, "costUSD": 0}}
        milliseconds = round(end.seconds * 1000)
        event: Json = {
            "duration_api_ms": milliseconds,
            "stop_reason": "tool_use" if end.interrupted else "end_turn",
            "session_id": self._session.id,
            "total_cost_usd": 0.0001,
            "usage": usage,
            "modelUsage": models,
            "permission_denials": list(end.denials),
            "terminal_reason": "aborted_tools" if end.interrupted else "completed",
            **FAST_MODE,
            **({"origin": end.origin} if end.origin else {}),
            "subagent_stats": NO_SUBAGENTS,
            "safety_stops": 0,
            "is_error": end.interrupted,
            "num_turns": end.results + 1,
            **_ending(end, milliseconds),
            "queued_turn_count": 0,
            "result_index": self._results,
            "model_usage_since_last_result": models,
        }
        self._results += 1
        return event

    def _place(self, message: Message) -> Json:
        agent = message.agent
        return {
            "parent_tool_use_id": agent.tool_use_id if agent else None,
            **({"agent_id": agent.id} if agent else {}),
            "session_id": self._session.id,
            "uuid": message.uuid,
            "timestamp": message.time,
        }

    def _system(self, subtype: str, **fields: object) -> Json:
        return {
            "type": "system",
            "subtype": subtype,
            **fields,
            "uuid": _new(),
            "session_id": self._session.id,
        }


def _ending(end: TurnEnd, milliseconds: int) -> Json:
    named: Json = {"type": "result", "duration_ms": milliseconds, "uuid": _new()}
    if end.interrupted:
        errors = ["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"]
        return {"subtype": "error_during_execution", "errors": errors, **named}
    times = {"ttft_stream_ms": 1, "time_to_request_ms": 1, "first_content_frame_ms": 1}
    said = {"subtype": "success", "api_error_status": None, "result": end.text, "ttft_ms": 1}
    return {**said, **named, **times}


def _agent_tail(message: Message) -> Json:
    agent = message.agent
    return {"subagent_type": agent.kind, "task_description": agent.description} if agent else {}


def _new() -> str:
    return str(uuid.uuid4())
