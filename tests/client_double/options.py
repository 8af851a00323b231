"""The options of the client, and those of the double.

The double's own options come as flags or from the environment, so that it can replace the
client by name alone: CLIENT_DOUBLE_SCRIPT (a file, or JSON text), CLIENT_DOUBLE_KEYS.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.client_double.script import CLIENT_VERSION

MODES = ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"]


@dataclass(frozen=True, slots=True)
class Options:
    message: str | None
    print_mode: bool
    output_format: str
    input_format: str
    verbose: bool
    mode: str | None
    prompt_tool: str | None
    session_id: str | None
    resume: str | None
    settings: str | None
    allowed_tools: tuple[str, ...]
    script: str
    record_keys: Path | None


def parse_options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="claude", allow_abbrev=False)
    parser.add_argument("message", nargs="?")
    parser.add_argument("-p", "--print", action="store_true", dest="print_mode")
    parser.add_argument("--output-format", default="text", choices=["text", "json", "stream-json"])
    parser.add_argument("--input-format", default="text", choices=["text", "stream-json"])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--permission-mode", choices=MODES)
    parser.add_argument("--dangerously-skip-permissions", action="store_true")
    parser.add_argument("--permission-prompt-tool")
    parser.add_argument("--session-id")
    parser.add_argument("-r", "--resume")
    parser.add_argument("--settings")  # given twice, only the last counts
    parser.add_argument("--allowedTools", "--allowed-tools", nargs="+", default=[])
    parser.add_argument("--model")
    parser.add_argument("-v", "--version", action="version", version=f"{CLIENT_VERSION} (Claude Code)")
    parser.add_argument("--script", default=os.environ.get("CLIENT_DOUBLE_SCRIPT", ""))
    parser.add_argument("--record-keys", default=os.environ.get("CLIENT_DOUBLE_KEYS"), type=Path)
    known = parser.parse_args(arguments)
    mode = "bypassPermissions" if known.dangerously_skip_permissions else known.permission_mode
    return Options(
        message=known.message,
        # Without a terminal the client runs headless.
        print_mode=known.print_mode or not sys.stdout.isatty(),
        output_format=known.output_format,
        input_format=known.input_format,
        verbose=known.verbose,
        mode=mode,
        prompt_tool=known.permission_prompt_tool,
        session_id=known.session_id,
        resume=known.resume,
        settings=known.settings,
        allowed_tools=tuple(known.allowedTools),
        script=known.script,
        record_keys=known.record_keys,
    )
