"""A rewind is recognized by the client's copies and its open dialog."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.rewinds import is_rewinding

MOMENT = 1000.0


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """The transcript of session `s`, in a configuration directory with a copy of `f.txt`."""
    path = tmp_path / "projects" / "-p" / "s.jsonl"
    copies = tmp_path / "file-history" / "s"
    copies.mkdir(parents=True)
    (tmp_path / "sessions").mkdir()
    file = tmp_path / "f.txt"
    file.write_text("text\n")
    (copies / f"{hashlib.sha256(str(file).encode()).hexdigest()[:16]}@v1").write_text("text\n")
    return path


def say(transcript: Path, **session: Any) -> None:
    file = transcript.parent.parent.parent / "sessions" / "1.json"
    file.write_text(json.dumps({"sessionId": "s", **session}))


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ({"status": "waiting", "waitingFor": "dialog open", "statusUpdatedAt": 990_000}, True),
        ({"status": "waiting", "waitingFor": "dialog open", "statusUpdatedAt": 1_001_000}, False),
        ({"status": "idle", "statusUpdatedAt": 1_000_600}, True),
        ({"status": "idle", "statusUpdatedAt": 1_009_000}, False),
        ({"status": "idle", "statusUpdatedAt": 999_000}, False),
        ({"status": "busy", "statusUpdatedAt": 1_000_600}, False),
        ({"status": "idle"}, False),
        ({"status": "idle", "statusUpdatedAt": 1_000_600, "entrypoint": "cli"}, True),
        ({"status": "idle", "statusUpdatedAt": 1_000_600, "entrypoint": "sdk-cli"}, False),
        ({"sessionId": "other", "status": "idle", "statusUpdatedAt": 1_000_600}, False),
    ],
)
def test_the_dialog_was_open_when_the_file_was_written(
    transcript: Path, session: dict[str, Any], expected: bool
) -> None:
    say(transcript, **session)
    assert is_rewinding(transcript, transcript.parent.parent.parent / "f.txt", MOMENT) is expected


def test_a_file_that_the_client_never_copied_was_not_rewound(transcript: Path, tmp_path: Path) -> None:
    say(transcript, status="idle", statusUpdatedAt=1_000_600)
    (tmp_path / "g.txt").write_text("text\n")
    assert not is_rewinding(transcript, tmp_path / "g.txt", MOMENT)
    assert is_rewinding(transcript, tmp_path / "removed.txt", MOMENT)


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_session_file_that_cannot_be_read_says_nothing(transcript: Path, content: str) -> None:
    (transcript.parent.parent.parent / "sessions" / "1.json").write_text(content)
    assert not is_rewinding(transcript, transcript.parent.parent.parent / "f.txt", MOMENT)
