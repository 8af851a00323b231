"""`chorus inspect`: the actions of a recording."""

import io
import json
import os
import pty
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chorus.cli import main
from chorus.commands.inspect import Findings, Row, inspect, render
from chorus.errors import ExitCode
from tests.agents.recordings import RECORDINGS, tables
from tests.agents.terminal.tmux_rows import capture

ROOT = Path(__file__).parent.parent.parent
TABLE = {name: rows for name, rows in tables().items() if not name.startswith("tmux/hist")}
# Small enough to be wrapped and cut in many ways.
STREAMS = [name for name in TABLE if (RECORDINGS / name).stat().st_size < 40_000 and "headless" in name]


def actions(findings: Findings) -> list[list[Any]]:
    return [[row.id, row.tool, list(row.paths), row.status, row.agent] for row in findings.rows.values()]


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["inspect", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize("name", TABLE)
def test_every_recording_gives_its_expected_table(name: str) -> None:
    data = (RECORDINGS / name).read_bytes()
    findings = inspect([data])
    assert actions(findings) == TABLE[name]
    assert set(findings.unknown) <= {"control_request/no_such_thing"}
    assert findings.problems == {}


@pytest.mark.parametrize("name", STREAMS)
def test_a_recording_in_random_chunks_and_twice_over_gives_the_same(name: str) -> None:
    data, chance = (RECORDINGS / name).read_bytes() * 2, random.Random(name)
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(20))
    chunks = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert actions(inspect(chunks)) == TABLE[name]


@pytest.mark.parametrize("name", STREAMS)
def test_a_recording_wrapped_at_some_width_gives_the_same(name: str) -> None:
    lines = (RECORDINGS / name).read_text().splitlines()
    for width in random.Random(name).sample(range(20, 301), 3):
        assert actions(inspect([capture(lines, width).encode()], width=width)) == TABLE[name], width


@pytest.mark.parametrize("run", ["w80", "w81_odd", "w120", "w237", "partial_80", "resize_80_to_120_to_60"])
@pytest.mark.parametrize("kind", ["pipe-pane.bin", "control.txt", "capture-J.txt", "capture.txt"])
def test_all_four_captures_of_a_run_give_its_actions(run: str, kind: str) -> None:
    width = {"w81_odd": 81, "resize_80_to_120_to_60": 120, "partial_80": 80}.get(run) or int(run[1:])
    data = (RECORDINGS / "tmux" / f"{run}.{kind}").read_bytes()
    findings = inspect([data], width=width if kind == "capture.txt" else None)
    assert actions(findings) == TABLE[f"tmux/{run}.truth.jsonl"]
    assert set(findings.problems) <= {"noise", "ambiguous-wrap"}


def test_a_truncated_event_is_counted() -> None:
    findings = inspect([(RECORDINGS / "tmux/hist2000_big200k.pipe-pane.bin").read_bytes()])
    assert (findings.events, findings.problems) == (3, {"cut-off": 1})


def test_json_has_the_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    path = RECORDINGS / "headless" / "subagent.jsonl"
    code, out, err = typed(capsys, str(path), "--json")
    assert (code, err) == (ExitCode.OK, "")
    result = json.loads(out)
    assert list(result)[:4] == ["actions", "events", "unknown", "problems"]
    assert list(result)[4:] == ["sessions", "turns", "prompts", "width", "unused"]
    assert [turn["answer"] for turn in result["turns"]] == [result["turns"][0]["answer"]]
    assert (result["prompts"], result["width"], result["unused"]) == ([], None, [])
    assert result["events"] == 16
    result["actions"][1]["session"] = result["actions"][1]["session"][:6]
    assert result["actions"][1] == {
        "id": "toolu_2d090744100f4458ab9ed7",
        "tool": "Read",
        "paths": ["/src/proj/app.py"],
        "status": "succeeded",
        "agent": "ae9ca44474956ceeb",
        "session": "93e0a4",
        "turn": "1",
    }


def test_the_default_output_is_a_table_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = typed(capsys, str(RECORDINGS / "headless" / "parallel_one_fails.jsonl"))
    lines = out.splitlines()
    assert (code, err) == (ExitCode.OK, "")
    assert lines[0].split() == ["tool", "status", "turn", "agent", "id", "paths"]
    assert lines[3].split()[:2] == ["Edit", "failed"]
    assert lines[-1] == "11 events, 4 actions: 3 succeeded, 1 failed"
    assert "\x1b" not in out


def test_a_late_correction_is_shown() -> None:
    findings = inspect([(RECORDINGS / "2.1.325/control/permission_and_interrupt.jsonl").read_bytes()])
    assert [row.status for row in findings.rows.values()][:3] == ["denied", "succeeded", "unfinished"]


def test_a_session_id_that_comes_late_is_shown() -> None:
    lines = [
        {"type": "tool_use", "id": "t", "toolName": "Edit", "toolInput": {"file_path": "/p/a"}},
        {"type": "tool_result", "toolUseId": "t", "isError": False},
        {"type": "result", "sessionId": "s"},
    ]
    findings = inspect([json.dumps(line).encode() + b"\n" for line in lines])
    assert findings.rows["t"].session == "s"


def test_counts_of_what_is_not_understood_are_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = ['{"type":"from-the-future"}', '{"type":"user"}', "noise", '{"type":"text","text":"x"}']
    (tmp_path / "r").write_text("\n".join(lines) + "\n")
    code, out, _ = typed(capsys, str(tmp_path / "r"))
    assert code == ExitCode.OK
    assert out.splitlines() == [
        "3 events, 0 actions",
        "unknown: from-the-future 1",
        "problems: noise 1, malformed:user 1",
        "rows without an event: 1",
        "  3: noise",
    ]


def test_a_recording_without_events_is_not_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "r").write_text("$ ls\n")
    code, out, err = typed(capsys, str(tmp_path / "r"), "--json")
    assert code == ExitCode.NOT_FOUND
    found = json.loads(out)
    assert (found["actions"], found["events"], found["unused"]) == ([], 0, [{"row": 1, "text": "$ ls"}])
    assert (found["unknown"], found["problems"]) == ({}, {"noise": 1})
    assert err.startswith("chorus: no events in ")


def test_a_missing_file_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = typed(capsys, str(tmp_path / "no"))
    assert (code, out) == (ExitCode.NOT_FOUND, "")
    assert err == f"chorus: file not found: {tmp_path / 'no'}\n"


def test_a_directory_cannot_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = typed(capsys, str(tmp_path))
    assert (code, out) == (ExitCode.SYSTEM_ERROR, "")
    assert err == f"chorus: cannot read {tmp_path}: Is a directory\n"


def test_the_width_of_a_wrapped_capture_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = typed(capsys, str(RECORDINGS / "tmux" / "w80.capture.txt"))
    assert "wrapped at 80 columns" in out
    assert err == ""


def test_sessions_turns_and_prompts_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "opus"},
        {"type": "user", "message": {"role": "user", "content": "fix it"}, "session_id": "s"},
        {"type": "permission_request", "prompt": "Allow it?"},
        {"type": "result", "subtype": "error_max_turns", "is_error": True, "session_id": "s"},
    ]
    (tmp_path / "r").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _, out, _ = typed(capsys, str(tmp_path / "r"))
    assert out.splitlines()[:6] == [
        "session s opus",
        "  1         failed   fix it",
        "            0 tokens in, 0 out",
        "            failed: error_max_turns",
        "prompt Allow it?: no answer",
        "",
    ]


def test_standard_input_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = (RECORDINGS / "headless" / "edit_ok.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, out, _ = typed(capsys, "-", "--json")
    assert code == ExitCode.OK
    assert len(json.loads(out)["actions"]) == 2


def test_it_needs_no_repository_and_shows_colour_only_on_a_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "chorus", "inspect", str(RECORDINGS / "headless" / "edit_ok.jsonl")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    plain = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "\x1b" not in plain.stdout
    ours, theirs = pty.openpty()
    subprocess.run(command, cwd=tmp_path, env=environment, stdout=theirs, check=True)
    os.close(theirs)
    assert b"\x1b[32msucceeded" in os.read(ours, 65536)
    os.close(ours)


def test_a_recording_cannot_control_the_terminal() -> None:
    findings = Findings(rows={"t": Row("t\x1b[2J", "Edit\n", ("/p/\x9b31m", "/p/日本"))}, events=1)
    findings.unknown["\x1b]0;title\x07"] = 1
    shown = "\n".join(render(findings, colour=False))
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
    assert "/p/日本" in shown
