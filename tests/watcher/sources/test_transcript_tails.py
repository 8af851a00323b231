import json
import os
from pathlib import Path

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.ids import SessionId
from chorus.watcher.sources.transcript_source import (
    LATE_SECONDS,
    MAX_POSITIONS,
    MAX_STEP_BYTES,
    TranscriptLine,
    TranscriptTails,
)

S = SessionId("s")


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"old 1\nold 2\n")
    return path


def append(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(text)


def test_lines_written_before_a_session_is_watched_are_history(tmp_path: Path, transcript: Path) -> None:
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    tails.follow(S, transcript)
    append(transcript, b"new\n")
    assert list(tails.read()) == [
        TranscriptLine(S, b"old 1", True),
        TranscriptLine(S, b"old 2", True),
        TranscriptLine(S, b"new", False),
    ]
    assert list(tails.read()) == []


def test_a_session_watched_from_its_start_has_no_history(tmp_path: Path, transcript: Path) -> None:
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    tails.follow(S, transcript, from_start=True)
    assert [line.history for line in tails.read()] == [False, False]


def test_a_subagents_transcript_is_followed_from_its_start_when_it_appears(
    tmp_path: Path, transcript: Path
) -> None:
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    old = transcript.with_suffix("") / "subagents/agent-0.jsonl"
    append(old, b"before\n")
    tails.follow(S, transcript)
    list(tails.read())
    append(transcript.with_suffix("") / "subagents/agent-1.jsonl", b"sub\n")
    append(old, b"after\n")
    assert sorted(tails.read(), key=lambda line: line.text) == [
        TranscriptLine(S, b"after", False),
        TranscriptLine(S, b"sub", False),
    ]


def test_lines_written_without_a_watcher_are_new_to_the_next_one(tmp_path: Path, transcript: Path) -> None:
    first = TranscriptTails(AGENT.clients, tmp_path / "kept")
    first.load()
    first.follow(S, transcript)
    list(first.read())
    first.save()
    append(transcript, b"missed\n")

    second = TranscriptTails(AGENT.clients, tmp_path / "kept")
    second.load()
    second.follow(S, transcript)
    assert [line.history for line in second.read()] == [True, True, False]


@pytest.mark.parametrize("from_start", [False, True])
def test_a_session_counts_as_watched_even_if_the_watcher_was_killed_before_it_read_a_line(
    tmp_path: Path, transcript: Path, from_start: bool
) -> None:
    first = TranscriptTails(AGENT.clients, tmp_path / "kept")
    first.follow(S, transcript, from_start=from_start)
    append(transcript, b"missed\n")
    append(transcript.with_suffix("") / "subagents/agent-1.jsonl", b"sub\n")

    second = TranscriptTails(AGENT.clients, tmp_path / "kept")
    second.load()
    second.follow(S, transcript)
    assert [line.history for line in second.read()] == [not from_start, not from_start, False, False]


def test_an_ended_session_is_no_longer_read(tmp_path: Path, transcript: Path) -> None:
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    tails.follow(S, transcript)
    tails.forget(S)
    assert list(tails.read()) == []


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[1]", b'{"a": "b"}'])
def test_a_damaged_position_file_counts_as_empty(tmp_path: Path, transcript: Path, rubbish: bytes) -> None:
    (tmp_path / "kept").write_bytes(rubbish)
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    tails.load()
    tails.follow(S, transcript)
    assert all(line.history for line in tails.read())


@pytest.mark.parametrize("odd", ["a directory", "a pipe", "x" * 5000, "a\0b", "/", "no such file/s.jsonl"])
def test_an_unreadable_transcript_does_not_stop_the_others(
    tmp_path: Path, transcript: Path, odd: str
) -> None:
    (tmp_path / "a directory").mkdir()
    os.mkfifo(tmp_path / "a pipe")
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    tails.follow(SessionId("odd"), tmp_path / odd)
    tails.follow(S, transcript, from_start=True)

    for _ in range(2):
        append(transcript, b"new\n")
        assert {line.session for line in tails.read()} == {S}
    assert [str(tmp_path / odd) in problem for problem in tails.problems] == [True] * ("no such" not in odd)


def test_an_ended_session_is_followed_until_nothing_more_comes_from_it(
    tmp_path: Path, transcript: Path
) -> None:
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    tails.follow(S, transcript)
    list(tails.read())
    tails.forget_quiet([S], 0.0)
    tails.forget_quiet([S], LATE_SECONDS)
    append(transcript, b"late\n")
    assert [line.text for line in tails.read()] == [b"late"]
    tails.forget_quiet([S], LATE_SECONDS + 1)
    assert tails.followed == {S}

    tails.forget_quiet([S], 2 * LATE_SECONDS + 2)
    assert tails.followed == set()
    append(transcript, b"resumed\n")
    tails.follow(S, transcript)
    assert [line.text for line in tails.read() if not line.history] == [b"resumed"]


def test_a_session_that_is_resumed_is_still_followed(tmp_path: Path, transcript: Path) -> None:
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    tails.follow(S, transcript)
    tails.forget_quiet([S], 0.0)
    tails.forget_quiet([], 1.0)
    tails.forget_quiet([S], LATE_SECONDS + 2)
    assert tails.followed == {S}


def test_positions_of_old_sessions_are_dropped(tmp_path: Path, transcript: Path) -> None:
    file = tmp_path / "kept"
    file.write_text(json.dumps({f"/{number}.jsonl": 7 for number in range(MAX_POSITIONS + 5)}))
    tails = TranscriptTails(AGENT.clients, file)
    tails.load()
    tails.follow(S, transcript)

    kept = json.loads(file.read_bytes())
    assert list(kept) == [*(f"/{number}.jsonl" for number in range(5, MAX_POSITIONS + 5)), str(transcript)]


def test_one_step_reads_a_bounded_part_of_all_files_together(tmp_path: Path) -> None:
    tails = TranscriptTails(AGENT.clients, tmp_path / "kept")
    for number in range(4):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"0123456\n" * (MAX_STEP_BYTES // 8 - 1))
        tails.follow(SessionId(f"s{number}"), path, from_start=True)
    sizes: list[int] = []
    while not sizes or tails.has_more:
        sizes.append(sum(len(line.text) + 1 for line in tails.read()))
    assert max(sizes) < 2 * MAX_STEP_BYTES
    assert sum(sizes) == 4 * (MAX_STEP_BYTES - 8)
