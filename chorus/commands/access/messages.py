"""Code shared by `chorus run` and `chorus send`: messages with images, and waiting for the answer."""

import argparse
import base64
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from chorus.commands.access.turn_follower import LiveOutput, TurnFollower
from chorus.commands.access.usage import describe_use
from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.model.api.json_api import EventJson, RunJson, TurnJson
from chorus.model.api.requests import ImageArgument
from chorus.output import print_err, print_json, print_out
from chorus.wire.client import Connection

# The first bytes of an image, by media type. WebP is detected separately: its size is among its first bytes.
SIGNATURES = (
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
)
# The model's server accepts 5 MiB of base64, which is 3.75 MiB of image.
MAX_IMAGE_BYTES = 5 * 2**20 // 4 * 3


class TurnFailed(ChorusError):
    """The turn failed."""


def add_message_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--image",
        action="append",
        default=[],
        metavar="FILE",
        help="add an image of at most 3.75 MiB: PNG, JPEG, GIF or WebP (repeatable)",
    )
    wait = parser.add_mutually_exclusive_group()
    wait.add_argument("--wait", action="store_true", help="wait for the end of the turn and print the answer")
    wait.add_argument(
        "--follow",
        action="store_true",
        help="print the text and the calls of the turn as they come; with --json, one event per line",
    )


def read_image(name: str) -> ImageArgument:
    try:
        content = Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    if len(content) > MAX_IMAGE_BYTES:
        raise UsageError(
            f"{name} has {len(content):,} bytes; the limit for an image is {MAX_IMAGE_BYTES:,}",
            hint="Make the image smaller.",
        )
    media_type = next((kind for kind, start in SIGNATURES if content.startswith(start)), None)
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        media_type = "image/webp"
    if media_type is None:
        raise UsageError(f"{name} is not a PNG, JPEG, GIF or WebP image")
    return {"media_type": media_type, "data": base64.b64encode(content).decode()}


def check_message(message: str | None, images: list[str]) -> None:
    if not images and not (message or "").strip():
        raise UsageError("the message is empty", hint="Write some text, or add an image with --image FILE.")


def wait_for_turn(watcher: Connection, args: argparse.Namespace, sent: RunJson) -> ExitCode:
    """Wait for the turn that answers the sent message, and print the result. `watcher` must be subscribed."""
    live = LiveOutput(as_json=args.json) if args.follow else None
    events = cast("Iterator[EventJson]", watcher.events())
    try:
        follower = TurnFollower(sent["run"], sent["message"], live, session=sent.get("session"))
        for prompt in watcher.ask("prompts"):
            follower.show_prompt(prompt)
        turn = follower.wait(events)
    except KeyboardInterrupt:
        run = sent["run"]
        print_err(f"chorus: {run} is still running; interrupt its turn with `chorus interrupt --run {run}`")
        raise
    if args.json:
        print_json(turn, in_one_line=args.follow)
        return ExitCode.SYSTEM_ERROR if turn["state"] == "failed" else ExitCode.OK
    print_answer(turn, shown=live is not None and live.wrote)
    if sys.stderr.isatty():
        print_err(" · ".join(describe_use(turn)))
    return ExitCode.OK


def print_answer(turn: TurnJson, *, shown: bool) -> None:
    """Print a turn's answer, unless it was already `shown`. Raise TurnFailed if the turn failed."""
    if turn["answer"] and not shown:
        print_out(*turn["answer"].split("\n"))
    if turn["state"] == "failed":
        raise TurnFailed(f"the turn failed: {turn['error']}")
    if not turn["answer"] and not shown:
        print_err("chorus: the turn ended without an answer")
