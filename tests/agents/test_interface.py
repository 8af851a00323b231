"""Every adapter behind the interface of `chorus.agents.interface`."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chorus.agents import AGENTS, load_agent
from chorus.agents.interface import CannotAnswer, Document, SettingsScope, Source
from chorus.model.answer import Allow, Deny
from chorus.model.ids import SessionId
from chorus.model.outcomes import PromptOpened
from chorus.model.prompt import NoPrompt, QuestionTab

HOOK = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p", "hook_event_name": "SessionStart"}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_loaded_by_its_name(name: str) -> None:
    assert load_agent(name).name == name


@pytest.mark.parametrize("name", AGENTS)
def test_loading_an_agent_loads_no_library(name: str) -> None:
    code = (
        "import sys; from chorus.agents import load_agent\n"
        f"agent = load_agent({name!r}); agent.clients, agent.setup\n"
        "sys.exit(' '.join(sorted({'pydantic', 'orjson', 'tree_sitter'} & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_stream_is_read_once_into_outcomes() -> None:
    events = load_agent().events
    stream, documents, outcomes = events.read_stream(), events.document_filter(), events.read_outcomes()
    init = b'{"type":"system","subtype":"init","session_id":"s","cwd":"/p","uuid":"u"}\n'
    found = [*stream.feed(init + init), *stream.close()]
    new = [document.value for document in found if documents.is_new(document)]
    assert [len(found), len(new)] == [2, 1]
    assert outcomes.feed_value(new[0], source=Source.STREAM)
    assert outcomes.close() == []


def test_a_recording_of_any_kind_is_read() -> None:
    recording = load_agent().events.read_recording(width=80)
    events = [
        *recording.feed(json.dumps({"dir": "in", "msg": {"type": "user"}}).encode()),
        *recording.close(),
    ]
    assert events == [({"type": "user"}, Source.CONTROL_IN, "")]
    assert not recording.problems


def test_a_headless_client_is_started_new_or_with_an_earlier_session() -> None:
    setup = load_agent().setup
    assert setup.headless_arguments("s") == [*setup.headless_arguments(), "--resume", "s"]
    assert setup.program in AGENTS[0]


@pytest.mark.parametrize(
    ("version", "reads"), [("2.1.325", True), ("2.0.1", False), ("next", True), ("10.0.0", True)]
)
def test_an_older_client_does_not_read_settings_that_appear_later(version: str, reads: bool) -> None:
    assert load_agent().setup.reads_new_settings(version) is reads


def test_a_transcript_is_read_line_by_line(tmp_path: Path) -> None:
    clients = load_agent().clients
    transcript = tmp_path / "s.jsonl"
    transcript.write_bytes(b"{}\n{}")
    reader = clients.read_transcript(transcript)
    assert [list(reader.read_lines()), reader.position, reader.problem] == [[b"{}"], 3, None]
    assert clients.subagent_transcripts(transcript) == []


def test_a_hook_event_names_its_session() -> None:
    events = load_agent().events
    known = events.hook_session(HOOK | {"source": "startup"})
    assert known is not None
    assert known == (SessionId("s"), "/t.jsonl", "/p", True)
    resumed = events.hook_session(HOOK | {"source": "resume", "cwd": None})
    assert resumed == (SessionId("s"), "/t.jsonl", None, False)
    assert events.hook_session({"session_id": "s"}) is None


def test_a_notice_goes_with_the_reply_to_a_hook_of_the_main_agent() -> None:
    events = load_agent().events
    assert events.notice_session(HOOK) == "s"
    assert events.is_after_the_fact({"hook_event_name": "PostToolUse"})
    assert not events.is_after_the_fact({"hook_event_name": "PreToolUse"})
    assert events.asks_before_edits({"permission_mode": "default"})
    assert events.asks_before_edits({"permission_mode": "acceptEdits"}) is False
    assert events.asks_before_edits({"permission_mode": ["acceptEdits"]}) is None
    start = {"hook_event_name": "PreToolUse", "tool_name": "Task", "tool_use_id": "t1"}
    assert events.agent_of(start) == ("t1", True)
    assert events.agent_of(start | {"hook_event_name": "PostToolUse"}) == ("t1", False)
    assert events.agent_of(start | {"tool_name": ["Task"]}) == (None, False)
    assert events.agent_of({"hook_event_name": "SubagentStart", "agent_id": "a1"}) == ("a1", True)
    assert events.agent_of({"hook_event_name": "SubagentStop", "agent_id": "a1"}) == ("a1", False)
    assert events.is_about_form({"hook_event_name": "ElicitationResult"})
    assert not events.is_about_form(HOOK)
    assert events.notice_session(HOOK | {"agent_id": "a"}) is None
    assert events.notice_session(HOOK | {"hook_event_name": "Stop"}) is None
    output = {"hookEventName": "SessionStart", "additionalContext": "reverted"}
    assert events.notice_reply(HOOK, "reverted") == {"hookSpecificOutput": output}


def test_a_document_counts_as_exact_unless_marked() -> None:
    assert Document(b"{}", {}).exact


def opened(tool: str | None, tool_input: dict[str, Any], text: str | None = None) -> PromptOpened:
    return PromptOpened(SessionId("s"), None, tool, tool_input, None, "r", text, ())


def test_a_permission_request_becomes_a_prompt_and_its_answer_a_reply() -> None:
    prompts = load_agent().prompts
    request = opened("Bash", {"command": "make"})
    prompt = prompts.prompt_for(request)
    decision = prompts.permission_reply(Allow(), prompt, request)
    assert prompt.title == "Bash command"
    assert decision == {"behavior": "allow", "updatedInput": {"command": "make"}}
    assert prompts.hook_reply(decision)["hookSpecificOutput"]["decision"] is decision
    form = prompts.form_reply({"action": "accept", "content": {}})
    assert form["hookSpecificOutput"] == {
        "hookEventName": "ElicitationResult",
        "action": "accept",
        "content": {},
    }
    assert prompts.control_reply("r", decision)["response"]["request_id"] == "r"
    with pytest.raises(CannotAnswer):
        prompts.permission_reply(Allow("but only once"), prompt, request)
    assert prompts.may_be_about(prompt, "Bash", {"command": "make"})
    assert not prompts.may_be_about(prompt, "Bash", {"command": "ls"})


def test_a_prompt_in_plain_text_is_answered_with_yes_or_no() -> None:
    prompts = load_agent().prompts
    request = opened(None, {}, "Delete it?")
    prompt = prompts.prompt_for(request)
    assert prompt.question == "Delete it?"
    assert prompts.permission_reply(Deny("no"), prompt, request)["message"] == "no"


def test_a_request_printed_as_a_line_is_answered_with_one_key() -> None:
    prompts = load_agent().prompts
    request = opened(None, {}, "Delete it?")
    prompt = prompts.prompt_for(request)
    assert prompts.line_reply(prompts.permission_reply(Allow(), prompt, request)) == "y"
    assert prompts.line_reply(prompts.permission_reply(Deny(), prompt, request)) == "n"
    with pytest.raises(CannotAnswer):
        prompts.line_reply(prompts.permission_reply(Deny("not now"), prompt, request))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"type": "permission_request", "prompt": "Delete it?"}', True),
        ('{"type": "permission_request", "prompt": "Keep it?"}', False),
        ('{"type": "assistant", "prompt": "Delete it?"}', False),
        ("[]", False),
        ("Delete it?", False),
    ],
)
def test_a_request_is_recognised_in_a_printed_line(line: str, expected: bool) -> None:
    assert load_agent().prompts.is_request_line(line, "Delete it?") is expected


def test_a_question_belongs_to_the_call_that_asks_it() -> None:
    prompts = load_agent().prompts
    tool_input = {"questions": [{"question": "Which one?", "header": "Kind", "options": []}]}
    prompt = replace(
        prompts.prompt_for(opened("AskUserQuestion", tool_input)), tabs=(QuestionTab("Kind", False),)
    )
    assert prompts.shows_question_of(prompt, "AskUserQuestion", tool_input)
    assert not prompts.shows_question_of(prompt, "AskUserQuestion", {"questions": []})
    assert not prompts.shows_question_of(prompt, "Bash", tool_input)


def test_a_screen_without_a_dialog_has_no_prompt() -> None:
    prompts = load_agent().prompts
    reader = prompts.screen_reader()
    assert isinstance(reader.read("$ ls\n"), NoPrompt)
    assert reader.explain("$ ls\n")
    assert prompts.track_prompts().current is None


@pytest.mark.parametrize("scope", [SettingsScope.LOCAL, SettingsScope.PROJECT])
def test_hooks_are_installed_and_removed_again(tmp_path: Path, scope: SettingsScope) -> None:
    setup = load_agent().setup
    assert setup.hook_status(scope, tmp_path).events == ()
    change = setup.install_hooks(scope, tmp_path)
    assert (change.changed, change.path) == (True, setup.settings_path(scope, tmp_path))
    assert setup.hook_status(scope, tmp_path).current
    assert setup.uninstall_hooks(change.path, backups=setup.backup_directory()).changed
    assert not setup.uninstall_hooks(change.path).changed


def test_a_client_is_started_with_the_hooks_and_the_users_own_settings() -> None:
    arguments = ["--settings", '{"a": 1}', "-p", "hi"]
    start = load_agent().setup.watched_start("claude", arguments, Path("/s"), mod=False)
    option, settings, *rest = start.arguments
    assert start.environment == {}
    assert (option, rest) == ("--settings", ["-p", "hi"])
    assert {"a", "hooks"} == set(json.loads(settings))


def test_a_headless_client_gets_its_session_mode_and_servers() -> None:
    arguments = load_agent().setup.headless_arguments("s1", fork=True, mode="plan", servers=["notes"])
    assert arguments[-7:-1] == [
        "--resume",
        "s1",
        "--fork-session",
        "--permission-mode",
        "plan",
        "--mcp-config",
    ]
    assert json.loads(arguments[-1]) == {"mcpServers": {"notes": {"type": "sdk", "name": "notes"}}}


def test_a_report_of_the_mod_is_read_and_a_decision_given_back() -> None:
    agent = load_agent()
    assert agent.events.read_report({"event": "new"}) is None
    assert agent.prompts.mod_reply({"behavior": "allow"}) == {"behavior": "allow"}


def test_without_a_chorus_program_the_mod_looks_for_one_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = tmp_path / "claude"
    client.write_text("#!/bin/sh\necho 2.1.325\n")
    client.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("chorus.agents.claude_code.hooks.program.find_chorus_program", lambda: None)
    start = load_agent().setup.watched_start(str(client), [], Path("/s.sock"))
    assert "CHORUS_PROGRAM" not in start.environment


def test_an_elicitation_is_a_prompt_with_a_reply_of_its_own() -> None:
    prompts = load_agent().prompts
    asked = {"message": "Which one?", "requestedSchema": {"type": "object", "properties": {}}}
    request = PromptOpened(SessionId("s"), None, "Elicitation", asked, None, "r1", None, ())
    prompt = prompts.prompt_for(request)
    assert prompts.permission_reply(Deny(None), prompt, request) == {"action": "decline"}
