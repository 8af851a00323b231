"""Turn reports of the mod into hook events.

A report of what a session has cost becomes `SessionMeasured`, which no hook reports.
"""

from collections.abc import Mapping
from typing import Any

# How long the mod makes the client wait for the answer to a report: LIMIT_MS in hooks/mod/hooks/register.js.
WAIT_SECONDS = 0.2


def read_report(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the hook event for a report; None if this version does not understand the report."""
    kind = report.get("event")
    if kind == "hook":
        hook = report.get("hook")
        return dict(hook) if isinstance(hook, dict) else None
    session = report.get("session")
    if kind not in ("before", "after", "measure") or not isinstance(session, dict):
        return None
    if kind == "measure":
        measured = {"cost": report.get("cost"), "context": report.get("context")}
        return {**session, **measured, "hook_event_name": "SessionMeasured"}
    call = {
        **session,
        "cwd": report.get("cwd") or session.get("cwd"),
        "tool_name": report.get("tool"),
        "tool_input": report.get("input"),
        "tool_use_id": report.get("call"),
        "agent_id": report.get("agent"),
    }
    if kind == "before":
        return {**call, "hook_event_name": "PreToolUse"}
    if report.get("isError") or report.get("deny"):
        error = report.get("deny") or report.get("text") or report.get("result")
        return {**call, "hook_event_name": "PostToolUseFailure", "error": error}
    return {**call, "hook_event_name": "PostToolUse", "tool_response": report.get("result")}
