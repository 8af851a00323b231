"""A client newer than Chorus: what Chorus does not know is unknown and never gets a key."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chorus.demo.demo_tmux import DemoTmux
from chorus.demo.scratch_repository import CommandFailed, ScratchRepository
from chorus.errors import ExitCode
from tests.client_double.conftest import ClientDouble
from tests.waiting import wait_for

SECONDS = 90.0
# Focus reports of the terminal, not keys.
FOCUS = (b"\x1b[I".hex(), b"\x1b[O".hex())
EDIT = {"file_path": "{cwd}/greet.py", "old_string": "Hello", "new_string": "Bye"}
SCRIPT = {
    "version": "9.9.9",
    "scripts": {
        "show": [
            [
                {
                    "show": ["New thing", "", "Shall the new thing happen?"],
                    "options": ["Certainly", "Perhaps"],
                    "numbered": True,
                },
                {"say": "Shown."},
            ]
        ],
        "edit": [[{"tool": "Edit", "input": EDIT}], [{"say": "Edited."}]],
    },
    "options": {"Edit": ["Bless it", "Curse it"]},
}


@dataclass(frozen=True, slots=True)
class Newer:
    """A session with an altered client, watched by Chorus."""

    scratch: ScratchRepository
    tmux: DemoTmux
    keys: Path

    def prompts(self) -> list[dict[str, Any]]:
        try:
            return list(json.loads(self.scratch.chorus("prompts", "--json")))
        except CommandFailed:
            return []

    def pressed_at_dialogs(self) -> list[Any]:
        reads = [json.loads(line) for line in self.keys.read_text().splitlines()]
        return [read["keys"] for read in reads if read["dialog"] and read["bytes"] not in FOCUS]


@pytest.fixture
def newer() -> Iterator[Newer]:
    with ScratchRepository() as scratch, DemoTmux(scratch) as tmux:
        script, keys = scratch.root / "newer.json", scratch.root / "keys.jsonl"
        script.write_text(json.dumps(SCRIPT))
        words = [sys.executable, "-P", "-m", "tests.client_double", "--script", str(script)]
        command = shlex.join([*words, "--record-keys", str(keys)])
        (scratch.programs / "claude").write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        tmux.start_client("--permission-mode", "default", panel=False)
        yield Newer(scratch, tmux, keys)


def test_an_unknown_dialog_is_shown_and_gets_no_key(newer: Newer) -> None:
    newer.tmux.send("show")
    newer.tmux.wait_for("Shall the new thing happen")

    (prompt,) = wait_for(newer.prompts, what="the prompt", seconds=SECONDS)
    assert prompt["kind"] == "unknown"
    for answer in (["approve"], ["deny"], ["approve", "--option", "1"]):
        command, *more = answer
        with pytest.raises(CommandFailed, match=f"ended with {ExitCode.REFUSED.value}"):
            newer.scratch.chorus(command, prompt["id"], *more)

    assert newer.pressed_at_dialogs() == []
    newer.tmux.wait_for("Shall the new thing happen")


def test_options_with_unknown_labels_are_never_taken_for_yes_or_no(newer: Newer) -> None:
    greeting = (newer.scratch.project / "greet.py").read_bytes()
    newer.tmux.send("edit")
    newer.tmux.wait_for("Curse it")

    (prompt,) = wait_for(newer.prompts, what="the prompt", seconds=SECONDS)
    with pytest.raises(CommandFailed, match=f"ended with {ExitCode.REFUSED.value}"):
        newer.scratch.chorus("deny", prompt["id"])

    assert newer.pressed_at_dialogs() == []
    assert (newer.scratch.project / "greet.py").read_bytes() == greeting


def test_unknown_events_and_blocks_are_counted_and_make_no_action(
    client_double: ClientDouble, tmp_path: Path
) -> None:
    block = {"type": "hologram_use", "id": "toolu_hologram", "name": "Edit", "input": {"file_path": "app.py"}}
    message = {"id": "msg_1", "role": "assistant", "model": "m", "content": [block]}
    edit = {"file_path": "{cwd}/app.py", "old_string": "pass", "new_string": "return 1"}
    client_double.more = {"version": "9.9.9"}
    client_double.scripts = {
        "go": [
            [
                {"emit": {"type": "hologram", "beam": 1}},
                {"emit": {"type": "assistant", "message": message, "session_id": "s", "uuid": "u"}},
                {"tool": "Edit", "input": edit, "id": "toolu_known"},
            ],
            [{"say": "Done."}],
        ]
    }
    stream = tmp_path / "stream.jsonl"
    stream.write_text(client_double.headless("go", "--permission-mode", "acceptEdits").stdout)

    command = [sys.executable, "-m", "chorus", "inspect", str(stream), "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=tmp_path, env=client_double.environment()
    )
    made = json.loads(done.stdout)

    assert [(action["id"], action["status"]) for action in made["actions"]] == [("toolu_known", "succeeded")]
    assert made["unknown"].get("hologram") == 1
    assert sum(made["unknown"].values()) == 2, "the block too"
    assert made["problems"] == {}
