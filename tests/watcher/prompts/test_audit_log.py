"""Every answer is logged, whatever happens to the file."""

import json
from pathlib import Path
from typing import Any

import pytest

from chorus.cli import main
from chorus.commands.access.answers import render_answers
from chorus.errors import ExitCode
from chorus.watcher.prompts.audit_log import AuditLog

PROMPT: Any = {
    "id": "0.1.abc", "pane": "%0", "session": "s", "title": "Bash command", "question": "Proceed?",
    "body": "rm -rf build\nmore", "input": {"command": "rm -rf build"},
}  # fmt: skip


def add(audit: AuditLog, answer: str, **more: Any) -> None:
    audit.write(PROMPT, answer, **({"by": "command", "how": "keys", "keys": ["1"]} | more))


def test_entries_are_read_in_order_and_complete(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "prompts.jsonl")
    add(audit, "allow", screen="the screen")
    add(audit, "deny", keys=[], refused="copy mode")

    first, second = audit.read()

    assert list(first) == ["time", "prompt", "answer", "by", "how", "keys", "screen", "refused"]
    assert (first["screen"], first["refused"], second["refused"]) == ("the screen", None, "copy mode")
    assert "input" not in first["prompt"]
    assert (tmp_path / "prompts.jsonl").stat().st_mode & 0o777 == 0o600


def test_an_incomplete_line_does_not_hide_others(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "prompts.jsonl")
    add(audit, "one")
    with audit.path.open("ab") as file:
        file.write(b'{"time": "x", "prompt": {"a": {}}')
    add(audit, "two")

    assert [entry["answer"] for entry in audit.read()] == ["one", "two"]


def test_an_old_file_is_kept_beside_the_new_one(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "prompts.jsonl", max_bytes=900)
    for number in range(4):
        add(audit, str(number))

    answers = [entry["answer"] for entry in audit.read()]
    assert answers == ["0", "1", "2", "3"][-len(answers) :]
    assert "3" in answers


def test_a_full_disk_does_not_fail_the_audit_log(tmp_path: Path) -> None:
    add(AuditLog(tmp_path / "nowhere" / "prompts.jsonl"), "allow")


def test_log_answered_shows_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / ".git" / "chorus"
    home.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert main(["log", "--prompts"]) == ExitCode.NOT_FOUND
    audit = AuditLog(home / "prompts.jsonl")
    add(audit, "allow")
    add(audit, "deny", keys=[], refused="the prompt is gone\x1b[31m")
    add(audit, "allow", by="policy: rule `allow tool='Write'`", how="hook", keys=[])
    capsys.readouterr()

    assert main(["log", "--prompts"]) == ExitCode.OK
    printed = capsys.readouterr().out
    assert "allow  by command  (keys 1, pane %0)" in printed
    assert "Bash command: Proceed?  | rm -rf build" in printed
    assert "refused: the prompt is gone�[31m" in printed
    assert "by policy: rule `allow tool='Write'`  (through the hook, pane %0)" in printed
    assert main(["log", "--prompts", "--json", "-n", "1"]) == ExitCode.OK
    assert [entry["how"] for entry in json.loads(capsys.readouterr().out)] == ["hook"]


@pytest.mark.parametrize(
    ("answer", "keys", "label"),
    [
        ("allow always", ["2"], "Yes, and switch to accept edits"),
        ("allow always", [], "Yes, and switch to accept edits"),  # through a hook
        ("option 2", ["Down", "Enter"], "Yes, and switch to accept edits"),
        ("deny: use pytest", ["Tab"], "No"),
        ("Which language? Go", ["1"], None),
    ],
)
def test_the_chosen_option_is_shown_with_its_label(answer: str, keys: list[str], label: str | None) -> None:
    options = [
        {"key": "1", "label": "Yes", "meaning": "allow"},
        {"key": "2", "label": "Yes, and switch to accept edits", "meaning": "allow-always"},
        {"key": "3", "label": "No", "meaning": "deny"},
    ]
    entry: Any = {"time": "2026-01-02T03:04:05", "answer": answer, "by": "panel", "how": "keys", "keys": keys}
    entry |= {"prompt": {**PROMPT, "options": options}, "refused": None}
    lines = list(render_answers([entry]))
    assert [line for line in lines if line.startswith("  > ")] == ([f"  > {label}"] if label else [])
