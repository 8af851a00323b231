"""Messages of `chorus run` and `chorus send`: text, images, and what goes to the client unchanged."""

from argparse import Namespace
from pathlib import Path

import pytest

from chorus.agents import load_agent
from chorus.cli import main
from chorus.commands import run
from chorus.commands.access.messages import (
    MAX_IMAGE_BYTES,
    TurnFailed,
    check_message,
    print_answer,
    read_image,
)
from chorus.errors import ExitCode, UsageError
from chorus.model.api.json_api import TurnJson
from tests.commands.test_turns import a_turn

IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n...",
    "image/jpeg": b"\xff\xd8\xff\xe0...",
    "image/gif": b"GIF89a...",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBP...",
}


@pytest.mark.parametrize("media_type", IMAGES)
def test_the_four_kinds_of_images_are_read_by_their_content(tmp_path: Path, media_type: str) -> None:
    path = tmp_path / "picture.txt"
    path.write_bytes(IMAGES[media_type])
    assert read_image(str(path))["media_type"] == media_type


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot read {}: No such file or directory"),
        (b"", "{} is not a PNG, JPEG, GIF or WebP image"),
        (b"RIFF....WAVE", "{} is not a PNG, JPEG, GIF or WebP image"),
        (IMAGES["image/png"].ljust(MAX_IMAGE_BYTES + 1), f"{{}} has {MAX_IMAGE_BYTES + 1:,} bytes"),
    ],
)
def test_a_file_that_is_too_big_or_not_an_image_is_refused(
    tmp_path: Path, content: bytes | None, why: str
) -> None:
    path = tmp_path / "picture.png"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        read_image(str(path))
    assert why.format(path) in str(refused.value)


def test_a_message_is_a_text_or_an_image() -> None:
    check_message(None, ["picture.png"])
    for empty in (None, "", " \n"):
        with pytest.raises(UsageError, match="the message is empty"):
            check_message(empty, [])


@pytest.mark.parametrize(
    "words",
    [
        ["run", " "],
        ["run", "x", "--fork"],
        ["run", "x", "--end"],
        ["run", "x", "--image", "/no/such/file"],
        ["run", "x", "--mcp", "nameless"],
        ["run", "x", "--mcp", "sums=/no/such/server --fast"],
        ["send"],
        ["send", " "],
        ["send", "--wait"],
        ["send", "--follow", "--end"],
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_anything_starts(words: list[str]) -> None:
    assert main(words) == ExitCode.USAGE


def test_an_mcp_server_that_is_not_there_is_named() -> None:
    given = ["sums=python3 sums.py", "notes=~/notes $HOME", "last='two words' x"]
    with pytest.raises(UsageError, match=r"MCP server last: program not found: two words"):
        run.parse_servers(given)
    assert run.parse_servers(given[:2]) == {"sums": "python3 sums.py", "notes": "~/notes $HOME"}


@pytest.mark.parametrize(
    ("turn", "shown", "out", "err"),
    [
        (a_turn(answer="One.\nTwo."), False, "One.\nTwo.\n", ""),
        (a_turn(answer="One."), True, "", ""),
        (a_turn(answer=""), True, "", ""),
        (a_turn(answer=""), False, "", "chorus: the turn ended without an answer\n"),
        (a_turn(answer=None), False, "", "chorus: the turn ended without an answer\n"),
    ],
)
def test_an_answer_is_printed_once(
    turn: TurnJson, shown: bool, out: str, err: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_answer(turn, shown=shown)
    assert capsys.readouterr() == (out, err)


def test_a_failed_turn_prints_what_it_wrote_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TurnFailed, match="the turn failed: killed"):
        print_answer(a_turn(answer="Half", state="failed", error="killed"), shown=False)
    assert capsys.readouterr() == ("Half\n", "")


def test_options_after_two_dashes_go_to_the_client_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def start(args: Namespace) -> ExitCode:
        seen.append(args.passed_on)
        return ExitCode.OK

    monkeypatch.setattr(run, "run", start)
    given = ["--model", "opus", "--max-turns", "5", "--file", "a:b", "--continue", "--", "x"]
    assert main(["run", "hello", "--", *given]) == ExitCode.OK
    assert seen == [given]


def test_resume_fork_mode_and_servers_are_options_of_the_client() -> None:
    arguments = load_agent().setup.headless_arguments("ID", fork=True, mode="plan", servers=["sums"])
    assert arguments[-6:-1] == ["ID", "--fork-session", "--permission-mode", "plan", "--mcp-config"]
