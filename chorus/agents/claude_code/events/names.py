"""Names of event types that are known but irrelevant to calls.

Collected from clients 2.1.197 and 2.1.325. `chorus inspect` lists types that are missing here as "unknown".
"""

# Top-level `type`s in the stream.
IRRELEVANT_EVENTS = (
    "auth_status", "command_lifecycle", "keep_alive", "prompt_suggestion", "streamlined_text",
    "streamlined_tool_use_summary", "tool_progress", "tool_use_summary",
    "update_environment_variables",
)  # fmt: skip

# Transcript lines.
BOOKKEEPING = (
    "agent-color", "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob",
    "api-request-shape", "artifact-autoreact-ledger", "atis-latch", "attribution-snapshot", "bridge-session",
    "content-replacement", "custom-title", "data-flow-incomplete", "data-flow-records",
    "derived-from", "file-history-delta", "file-history-snapshot", "frame-link", "isolation-latch",
    "last-prompt", "memory-mode", "mode", "pr-link", "progress", "repl-mode",
    "session-owner", "speculation-accept", "tag", "task-summary", "tools-used", "worktree-state",
)  # fmt: skip

# `system` subtypes.
IRRELEVANT_SYSTEM_EVENTS = (
    "agents_killed", "api_metrics", "away_summary", "background_tasks_changed",
    "bridge_state", "bridge_status", "checkpoint_done", "code_change_published", "commands_changed",
    "control_request_progress", "elicitation_complete", "file_attachments_missing", "file_snapshot",
    "files_persisted", "hook_progress", "hook_response", "hook_started", "informational",
    "inherited_asks_settled", "instruction_size_warning", "local_command", "local_command_output",
    "memory_recall", "memory_saved", "microcompact_boundary", "mirror_error", "model_consent_fallback",
    "model_fallback", "model_refusal_fallback", "model_refusal_no_fallback", "notification",
    "per_turn_effort_changed", "permission_check_status", "permission_retry", "plugin_install",
    "post_turn_summary", "rewind_stand_in", "scheduled_task_fire", "session_metadata",
    "session_state_changed", "session_title_changed", "session_writes_lost", "start_folder",
    "stop_hook_summary", "task_progress", "task_summary", "thinking", "thinking_tokens", "tool_host_result",
    "turn_began_before_init", "turn_handoff_available", "turn_preempted", "turn_starting",
    "ui_invalidate", "ui_status", "vcs_state_changed", "worker_shutting_down",
)  # fmt: skip

# `control_request` subtypes.
REQUESTS = (
    "apply_flag_settings", "cancel_async_message", "channel_enable", "end_session",
    "generate_session_title", "get_context_usage", "get_plan", "get_settings", "list_models",
    "mcp_authenticate", "mcp_clear_auth", "mcp_reconnect", "mcp_set_servers", "mcp_status", "mcp_toggle",
    "reload_plugins", "rename_session", "request_user_dialog", "rewind_files", "seed_read_state",
    "set_max_thinking_tokens", "set_model", "side_question", "stop_task",
)  # fmt: skip

# `hook_event_name`s.
HOOKS = (
    "ConfigChange", "CwdChanged", "Elicitation", "ElicitationResult", "FileChanged", "InstructionsLoaded",
    "Notification", "PostCompact", "PreCompact", "Setup", "SubagentStart", "TaskCompleted",
    "TaskCreated", "TeammateIdle", "UserPromptExpansion", "WorktreeCreate", "WorktreeRemove",
)  # fmt: skip

# Hook output has no type of its own: it is recognised by its keys.
HOOK_OUTPUT_KEYS = frozenset(
    {"continue", "decision", "hookSpecificOutput", "stopReason", "suppressOutput", "systemMessage"}
)
