"""Every adapter behind the interface of `chorus.agents.interface`."""

import subprocess
import sys
from pathlib import Path

import pytest

from chorus.agents import AGENTS, load_agent
from chorus.agents.interface import Document, Source
from chorus.model.ids import SessionId

HOOK = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p", "hook_event_name": "SessionStart"}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_loaded_by_its_name(name: str) -> None:
    assert load_agent(name).name == name


@pytest.mark.parametrize("name", AGENTS)
def test_loading_an_agent_loads_no_library(name: str) -> None:
    code = (
        f"import sys; from chorus.agents import load_agent; load_agent({name!r}).clients\n"
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
    assert events.notice_session(HOOK | {"agent_id": "a"}) is None
    assert events.notice_session(HOOK | {"hook_event_name": "Stop"}) is None
    output = {"hookEventName": "SessionStart", "additionalContext": "reverted"}
    assert events.notice_reply(HOOK, "reverted") == {"hookSpecificOutput": output}


def test_a_document_counts_as_exact_unless_marked() -> None:
    assert Document(b"{}", {}).exact
