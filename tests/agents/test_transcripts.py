import os
from pathlib import Path

import pytest

from chorus.agents.claude_code.transcripts import (
    MAX_LINE_BYTES,
    MAX_READ_BYTES,
    MAX_READ_LINES,
    TranscriptTail,
    began_after,
    subagent_transcripts,
    transcript_directories,
    transcript_of,
)


def test_only_complete_lines_are_returned_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    tail = TranscriptTail(path)
    assert list(tail.read_lines()) == []
    path.write_bytes(b'{"a":1}\n{"b":')
    assert list(tail.read_lines()) == [b'{"a":1}']
    with path.open("ab") as file:
        file.write(b"2}\n\n")
    assert list(tail.read_lines()) == [b'{"b":2}']
    assert list(tail.read_lines()) == []
    assert tail.position == path.stat().st_size


def test_reading_continues_from_a_saved_position(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"1\n2\n3\n")
    assert list(TranscriptTail(path, position=2).read_lines()) == [b"2", b"3"]


def test_a_file_that_shrank_or_was_replaced_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"1\n2\n")
    tail = TranscriptTail(path)
    assert len(list(tail.read_lines())) == 2
    path.write_bytes(b"9\n")
    assert list(tail.read_lines()) == [b"9"]
    other = tmp_path / "other"
    other.write_bytes(b"a\nb\n")
    other.rename(path)
    assert list(tail.read_lines()) == [b"a", b"b"]


def test_a_line_longer_than_one_read_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = b"x" * (3 * 2**20 + 5)
    path.write_bytes(line + b"\nend\n")
    tail = TranscriptTail(path)
    steps = [list(tail.read_lines()) for _ in range(5)]
    assert steps == [[], [], [], [line, b"end"], []]
    assert tail.position == path.stat().st_size


def test_each_call_reads_a_bounded_part_and_says_whether_there_is_more(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = b"x" * (MAX_READ_BYTES // 8 - 1) + b"\n"
    path.write_bytes(line * 17)
    tail = TranscriptTail(path)
    counts = [(len(list(tail.read_lines())), tail.has_more) for _ in range(4)]
    assert counts == [(8, True), (8, True), (1, False), (0, False)]


def test_each_call_returns_a_bounded_number_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"{}\n" * (2 * MAX_READ_LINES) + b"{}\n\n{")
    tail = TranscriptTail(path)
    counts = [(len(list(tail.read_lines())), tail.has_more) for _ in range(4)]
    assert counts == [(MAX_READ_LINES, True), (MAX_READ_LINES, True), (1, False), (0, False)]
    with path.open("ab") as file:
        file.write(b"}\n")
    assert list(tail.read_lines()) == [b"{}"]


def test_an_unfinished_line_is_read_once_and_given_up_beyond_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"x" * 100 * 2**20)
    tail = TranscriptTail(path)
    for step in range(1, 101):
        assert list(tail.read_lines()) == []
        assert tail.position + tail._unfinished_bytes == step * MAX_READ_BYTES
        assert tail._unfinished_bytes <= MAX_LINE_BYTES
    with path.open("ab") as file:
        file.write(b'end of it\n{"a":1}\n')
    assert list(tail.read_lines())[-1] == b'{"a":1}'
    assert tail.position == path.stat().st_size


def test_an_unfinished_line_that_is_cut_off_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"1\nunfin")
    tail = TranscriptTail(path)
    assert list(tail.read_lines()) == [b"1"]
    os.truncate(path, 2)
    with path.open("ab") as file:
        file.write(b"2\n")
    assert list(tail.read_lines()) == [b"2"]


@pytest.mark.parametrize("odd", ["/dev/zero", "pipe", "sparse"])
def test_devices_pipes_and_huge_files_are_not_read(tmp_path: Path, odd: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 10 * 2**30)
    tail = TranscriptTail(tmp_path / odd)
    assert list(tail.read_lines()) == []
    assert tail.problem is not None
    assert ("unread" if odd == "sparse" else "not a file") in tail.problem
    assert not tail.has_more
    assert tail.position == 0


def test_a_pipe_or_device_has_no_history(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)  # nothing to read, and not the end
    assert began_after(tmp_path / "pipe", 0.0)
    assert began_after(Path("/dev/zero"), 0.0)
    os.close(writer)


def test_transcripts_are_found_by_directory_and_session(tmp_path: Path) -> None:
    path = transcript_of(tmp_path, "/src/my.proj_x", "abc")
    assert path == tmp_path / "-src-my-proj-x/abc.jsonl"
    assert subagent_transcripts(path) == []
    agents = path.with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-1.jsonl").touch()
    (agents / "agent-1.meta.json").touch()
    assert subagent_transcripts(path) == [agents / "agent-1.jsonl"]
    assert transcript_directories(path) == [path.parent, agents]


def test_a_transcript_that_began_later_has_no_history(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    moment = 1_767_323_045.0  # 2026-01-02T03:04:05Z
    assert began_after(path, moment)
    path.write_bytes(b"")
    assert began_after(path, moment)
    path.write_bytes(b'{"type":"mode"}\nnonsense\n{"timestamp":"2026-01-02T03:04:06.000Z"}\n')
    assert began_after(path, moment)
    assert not began_after(path, moment + 60)
    path.write_bytes(b'{"type":"mode"}\n')
    assert not began_after(path, moment)
