from pathlib import Path

from chorus.agents.claude_code.transcripts import (
    TranscriptTail,
    began_after,
    subagent_transcripts,
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
    assert list(TranscriptTail(path).read_lines()) == [line, b"end"]


def test_transcripts_are_found_by_directory_and_session(tmp_path: Path) -> None:
    path = transcript_of(tmp_path, "/src/my.proj_x", "abc")
    assert path == tmp_path / "-src-my-proj-x/abc.jsonl"
    assert subagent_transcripts(path) == []
    agents = path.with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-1.jsonl").touch()
    (agents / "agent-1.meta.json").touch()
    assert subagent_transcripts(path) == [agents / "agent-1.jsonl"]


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
