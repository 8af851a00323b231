"""The session's transcript, written late and in batches, as the client does.

Writes `<projects>/<session>.jsonl` and one file for each sub-agent. A line is on disk some time after the
event it describes, never before.
"""

import json
import threading
from pathlib import Path
from typing import Any

from tests.client_double.session import EFFORT, MODEL, Session
from tests.client_double.values import Agent, Json, Message

# The client's lines came 24 to 252 ms after the write they describe.
BATCH_SECONDS = 0.1

USAGE: Json = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 5,
}
FULL_USAGE: Json = {
    **USAGE,
    "output_tokens_details": {"thinking_tokens": 0},
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    "inference_geo": "",
    "iterations": [],
    "speed": "standard",
    "fallback_credit": None,
}


class Transcript:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: list[tuple[Path, Json]] = []
        self._last: dict[Path, str] = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._branch = session.git_branch()
        self._prompts = 0

    def prompt(self, message: Message) -> None:
        """Add the user's message, with the lines that the client writes around it."""
        session = self._session
        self._branch = session.git_branch()
        self._prompts += 1
        if session.interactive:
            snapshot = {"messageId": message.uuid, "trackedFileBackups": {}, "timestamp": message.time}
            self._plain(
                "file-history-snapshot", messageId=message.uuid, snapshot=snapshot, isSnapshotUpdate=False
            )
        else:
            self._plain(
                "queue-operation", operation="enqueue", timestamp=message.time, content=message.content
            )
            self._plain("queue-operation", operation="dequeue", timestamp=message.time)
        origin = "human" if session.interactive else "sdk"
        fields: Json = {
            "permissionMode": session.mode,
            **({"origin": {"kind": "human"}} if session.interactive else {}),
            "promptSource": "typed" if session.interactive else "sdk",
            "turnOrigin": origin,
            "turnPosition": {"promptIndex": self._prompts, "turnIndex": self._prompts},
        }
        self._line(message, {"promptId": session.prompt_id}, self._user(message), fields)

    def model(self, message: Message, block_index: int) -> None:
        """Add one block of the model, with its final stop reason."""
        agent, block = message.agent, message.content[0]
        body = {
            "id": message.message_id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": message.content,
            "stop_reason": message.stop_reason,
            "stop_sequence": None,
            "usage": FULL_USAGE,
            "stop_details": None,
        }
        head: Json = {
            "message": body,
            **({"toolInputStreamMs": 1} if block["type"] == "tool_use" else {}),
            "apiBlockIndex": block_index,
            "requestRef": message.message_id,
            "requestedModel": MODEL,
            "promptCacheRequested": "5m",
            **({"attributionAgent": agent.kind} if agent else {}),
            "type": "assistant",
        }
        self._line(message, {}, head, {"effort": EFFORT, "perTurnEffort": EFFORT, "madeBy": "model"})

    def result(self, message: Message) -> None:
        """Add the result of a call."""
        outcome, call = message.outcome, message.call
        assert outcome is not None
        assert call is not None
        fields: Json = {"toolUseResult": outcome.result} if message.agent is None or outcome.is_error else {}
        if call.tool == "Bash" and not outcome.refusal:
            fields["sandboxed"] = False
        if outcome.refusal:
            fields["toolDenialKind"] = outcome.refusal
        if outcome.feedback and outcome.is_error:
            fields |= {"userFeedback": outcome.feedback, "holdsPersonsWords": True}
        fields["sourceToolAssistantUUID"] = message.source_uuid
        if outcome.decision:
            fields["permissionDecision"] = _camel(outcome.decision)
        self._line(message, {"promptId": self._session.prompt_id}, self._user(message), fields)

    def told(self, message: Message) -> None:
        """Add a user message that was not typed: an interruption, or a message with an answer."""
        self._line(message, {"promptId": self._session.prompt_id}, self._user(message), {})

    def system(self, subtype: str, **fields: Any) -> None:
        message = Message("")
        self._line(message, {}, {"type": "system", "subtype": subtype}, fields)

    def mode(self) -> None:
        self._plain("mode", mode="normal")
        self._plain("permission-mode", permissionMode=self._session.mode)

    def last_prompt(self, text: str) -> None:
        leaf = self._last.get(self._session.transcript)
        self._plain("last-prompt", lastPrompt=text, leafUuid=leaf)

    def started(self, agent: Agent) -> None:
        """Write a sub-agent's metadata beside its transcript."""
        path = self._session.agent_transcript(agent.id).with_suffix(".meta.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = {
            "agentType": agent.kind,
            "description": agent.description,
            "toolUseId": agent.tool_use_id,
            "spawnDepth": 1,
        }
        path.write_text(json.dumps(facts))

    def flush(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._timer = None
            for path, line in waiting:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")

    def restart(self) -> None:
        """Start again after `/clear`: the same process has another session id."""
        self.flush()
        self._prompts = 0

    def _user(self, message: Message) -> Json:
        return {"type": "user", "message": {"role": "user", "content": message.content}}

    def _line(self, message: Message, lead: Json, head: Json, fields: Json) -> None:
        session, agent = self._session, message.agent
        path = session.agent_transcript(agent.id) if agent else session.transcript
        line = {
            "parentUuid": self._last.get(path),
            "isSidechain": agent is not None,
            **lead,
            **({"agentId": agent.id} if agent else {}),
            **head,
            "uuid": message.uuid,
            "timestamp": message.time,
            **fields,
            "userType": "external",
            "entrypoint": session.entrypoint,
            "cwd": str(session.cwd),
            "sessionId": session.id,
            "version": session.version,
            "gitBranch": self._branch,
        }
        self._last[path] = message.uuid
        self._write(path, line)

    def _plain(self, kind: str, **fields: Any) -> None:
        self._write(self._session.transcript, {"type": kind, **fields, "sessionId": self._session.id})

    def _write(self, path: Path, line: Json) -> None:
        with self._lock:
            self._waiting.append((path, line))
            if self._timer is None:
                self._timer = threading.Timer(BATCH_SECONDS, self.flush)
                self._timer.daemon = True
                self._timer.start()


def _camel(decision: Json) -> Json:
    """The stream has `reason_type`, the transcript `reasonType`."""
    names = {"reason_type": "reasonType"}
    said = {names.get(key, key): value for key, value in decision.items()}
    if said.get("source") == "user_temporary":
        said |= {"grantScope": "once", "reasonCode": "unknown"}
    elif said.get("decision") == "reject":
        said["reasonCode"] = "unknown"
    return said
