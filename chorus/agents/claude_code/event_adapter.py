"""Claude Code's events behind the interface of `chorus.agents.interface`."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorus.agents.claude_code.mod.reports import WAIT_SECONDS, read_report
from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.captures import read_capture
from chorus.agents.claude_code.terminal.documents import SeenDocuments
from chorus.agents.claude_code.terminal.recording import Recording
from chorus.agents.interface import (
    Document,
    DocumentFilter,
    HookSession,
    OutcomeReader,
    RecordingReader,
    StreamReader,
)
from chorus.model.ids import SessionId
from chorus.model.tools import AGENT_TOOLS

# The hook events that only report something already done.
_AFTER_THE_FACT = frozenset(
    {"PostToolUse", "PostToolUseFailure", "PostToolBatch", "Stop", "SubagentStart", "SubagentStop"}
)
# The permission modes in which the client does not ask before it edits a file of the project.
_UNASKED_MODES = frozenset({"acceptEdits", "auto", "bypassPermissions", "dontAsk"})
# The hook events whose reply may hold text for the agent.
_NOTICE_EVENTS = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse"})


class ClaudeEvents:
    report_wait_seconds = WAIT_SECONDS

    def read_stream(self) -> StreamReader:
        return Reassembler(unwrapped=True)

    def read_capture(self, data: bytes, widths: Sequence[int] = ()) -> list[Document]:
        return read_capture(data, widths)

    def read_recording(self, *, width: int | None = None) -> RecordingReader:
        return Recording(width=width)

    def document_filter(self) -> DocumentFilter:
        return SeenDocuments()

    def read_outcomes(self) -> OutcomeReader:
        return Pairing()

    def read_report(self, report: Mapping[str, Any]) -> dict[str, Any] | None:
        return read_report(report)

    def hook_session(self, event: Mapping[str, Any]) -> HookSession | None:
        session, transcript = event.get("session_id"), event.get("transcript_path")
        if not isinstance(session, str) or not isinstance(transcript, str):
            return None
        cwd = event.get("cwd")
        is_new = event.get("hook_event_name") == "SessionStart" and event.get("source") == "startup"
        return HookSession(SessionId(session), transcript, cwd if isinstance(cwd, str) else None, is_new)

    def is_after_the_fact(self, event: Mapping[str, Any]) -> bool:
        name = event.get("hook_event_name")
        return isinstance(name, str) and name in _AFTER_THE_FACT

    def asks_before_edits(self, event: Mapping[str, Any]) -> bool | None:
        mode = event.get("permission_mode")
        return mode not in _UNASKED_MODES if isinstance(mode, str) else None

    def agent_of(self, event: Mapping[str, Any]) -> tuple[str | None, bool]:
        name, agent, call = (event.get(key) for key in ("hook_event_name", "agent_id", "tool_use_id"))
        if isinstance(agent, str):
            return agent, name != "SubagentStop"
        tool = event.get("tool_name")
        if isinstance(tool, str) and tool in AGENT_TOOLS and isinstance(call, str):
            return call, name == "PreToolUse"
        return None, False

    def is_about_form(self, event: Mapping[str, Any]) -> bool:
        return event.get("hook_event_name") in ("Elicitation", "ElicitationResult")

    def notice_session(self, event: Mapping[str, Any]) -> SessionId | None:
        name, session = event.get("hook_event_name"), event.get("session_id")
        # A reply to a sub-agent's hook reaches only the sub-agent.
        if name not in _NOTICE_EVENTS or not isinstance(session, str) or event.get("agent_id") is not None:
            return None
        return SessionId(session)

    def notice_reply(self, event: Mapping[str, Any], text: str) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": text}}
