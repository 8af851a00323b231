"""`chorus prompts --screen`: one captured screen in, one prompt out."""

import json
from pathlib import Path
from typing import cast

import pytest

from chorus.cli import main
from chorus.commands.access.answers import render_answer
from chorus.errors import ExitCode
from chorus.model.api.json_api import AnswerJson, PromptJson
from tests.repos import UserRepo
from tests.screens import FIXTURES

EDIT = str(FIXTURES / "recordings" / "tui" / "edit_80.txt")


def test_a_prompt_is_printed_with_the_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompts", "--screen", EDIT, "--json"]) == ExitCode.OK
    prompt = json.loads(capsys.readouterr().out)
    assert list(prompt) == [
        "id", "session", "pane", "kind", "tool", "title", "question", "options", "fingerprint", "since",
    ]  # fmt: skip
    assert (prompt["session"], prompt["pane"], prompt["since"]) == (None, None, None)
    assert prompt["options"][2] == {"key": "3", "label": "No", "meaning": "deny"}


@pytest.mark.parametrize(("name", "kind"), [("fake_prompt_in_text", "none"), ("rewind_menu", "unknown")])
def test_a_screen_without_a_known_prompt_gives_its_kind(
    name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = FIXTURES / "recordings" / "tui" / f"{name}.txt"
    assert main(["prompts", "--screen", str(path), "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {"kind": kind}
    assert main(["prompts", "--screen", str(path)]) == ExitCode.OK
    assert capsys.readouterr().out.startswith(f"{kind}: ")


def test_the_explanation_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompts", "--screen", EDIT, "--explain"]) == ExitCode.OK
    printed = capsys.readouterr()
    assert "edit: yes" in printed.err
    assert "1     Yes  [allow]" in printed.out


@pytest.mark.parametrize("option", [["--explain"], ["--width", "80"]])
def test_what_is_about_a_screen_needs_one(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompts", *option]) == ExitCode.USAGE
    assert f"{option[0]} needs --screen FILE" in capsys.readouterr().err


def test_a_rule_in_the_users_config_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "chorus" / "config.toml"
    config.parent.mkdir()
    config.write_text("[prompts]\nquiet = ['Enter to continue · Esc to cancel']\n", encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    screen = str(FIXTURES / "recordings" / "tui" / "rewind_menu.txt")
    assert main(["prompts", "--screen", screen, "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {"kind": "none"}


@pytest.mark.parametrize("content", ["[prompts\n", "prompts = 3\n", "[prompts]\nquiet = ['(']\n"])
def test_an_invalid_config_is_an_error_with_a_hint(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "chorus").mkdir()
    (tmp_path / "chorus" / "config.toml").write_text(content, encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["prompts", "--screen", EDIT]) == ExitCode.SYSTEM_ERROR
    assert "hint: " in capsys.readouterr().err


def test_a_missing_screen_file_is_not_found(tmp_path: Path) -> None:
    assert main(["prompts", "--screen", str(tmp_path / "none.txt")]) == ExitCode.NOT_FOUND


def test_without_a_watcher_the_user_learns_that_nobody_watches(
    repo: UserRepo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.path)
    assert main(["prompts"]) == ExitCode.NOT_FOUND
    assert "no watcher is running" in capsys.readouterr().err
    assert main(["prompts", "--json"]) == ExitCode.OK
    shown = capsys.readouterr()
    assert shown.out == "[]\n"
    assert "no watcher is running" in shown.err


@pytest.mark.parametrize(
    ("decision", "done", "expected"),
    [
        ("allow", {"key": "1", "how": "keys"}, "approved Bash: Go on? with key 1: Yes"),
        (
            "allow-always",
            {"key": "2", "how": "keys"},
            "approved Bash: Go on? with key 2: Yes, and more",
        ),
        (
            "allow-always",
            {"key": None, "how": "hook"},
            "approved Bash: Go on? through the hook: Yes, and more",
        ),
        ("allow", {"key": None, "how": "control"}, "approved Bash: Go on? through the control protocol: Yes"),
        ("deny", {"key": "Enter", "how": "keys"}, "denied Bash: Go on? with key Enter: No"),
        ("answers", {"key": "1", "how": "keys"}, "answered Bash: Go on? with key 1"),
    ],
)
def test_the_output_names_the_chosen_option(
    decision: str, done: dict[str, str | None], expected: str
) -> None:
    labels = {"Yes": "allow", "Yes, and more": "allow-always", "No": "deny"}
    options = [
        {"key": str(n), "label": label, "meaning": meant}
        for n, (label, meant) in enumerate(labels.items(), 1)
    ]
    prompt = cast("PromptJson", {"title": "Bash", "question": "Go on?", "options": options})
    assert render_answer(prompt, decision, cast("AnswerJson", done)) == expected
