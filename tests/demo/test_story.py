"""The demo's story: it fits together, it plays to its end, and it leaves nothing behind."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.demo import story
from chorus.demo.scratch import Scratch
from chorus.demo.script import Text, ToolUse, parse_script, render_script
from chorus.wire.client import connect
from chorus.wire.home import find_home
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]


def test_the_edits_of_the_story_apply_one_after_another() -> None:
    files = {"/p/greet.py": story.GREET}
    for message in story.messages("/p"):
        for step in (step for reply in message.replies for step in reply):
            match step:
                case ToolUse("Edit", {"file_path": path, "old_string": old, "new_string": new}, identifier):
                    assert files[path].count(old) == 1
                    if identifier != story.BAD:
                        files[path] = files[path].replace(old, new)
                case ToolUse("Bash", {"command": command}) if "sed" in command:
                    files["/p/greet.py"] = files["/p/greet.py"].replace("world", "all")
        last = message.replies[-1][-1]
        assert last == Text(message.last_words)

    assert files["/p/greet.py"] == story.FINAL_GREET
    compile(story.FINAL_GREET, "greet.py", "exec")
    compile(story.TESTS, "test_greet.py", "exec")


def test_a_script_comes_out_of_its_json_as_it_went_in() -> None:
    told = {message.text: message.replies for message in story.messages("/p")}

    script = parse_script(render_script(told), cwd="/p")

    assert {key: [list(reply) for reply in replies] for key, replies in script.replies.items()} == {
        key: [list(reply) for reply in replies] for key, replies in told.items()
    }


def test_the_scratch_place_leaves_no_file_and_no_agent() -> None:
    with Scratch() as scratch:
        scratch.chorus("hooks", "wake", str(scratch.project / ".git"))
        home = find_home(scratch.project)
        wait_for(home.socket.exists, what="the agent's socket")
        with connect(home) as agent:
            pid = agent.ask("hello")["pid"]
        assert scratch.git("status", "--porcelain") == " M README.md\n"

    assert not scratch.root.exists()
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), what="the agent's end")


def test_commands_in_the_scratch_place_see_nothing_of_ones_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    with Scratch() as scratch:
        seen = scratch.run(["env"])
        claude = scratch.run(["sh", "-c", "command -v claude"]).strip()
        version = scratch.run(["claude", "--version"])

    assert "GIT_DIR" not in seen
    assert "secret" not in seen
    assert Path(claude).is_relative_to(scratch.root)
    assert "(Claude Code)" in version


def test_the_stand_in_starts_about_as_fast_as_python() -> None:
    """What it imports decides; heavy libraries would show in every hook and every test."""
    code = (
        "import sys; import chorus.demo.standin.__main__, chorus.demo.standin.interactive\n"
        "heavy = {'pydantic', 'orjson', 'libtmux', 'git', 'asyncio', 'http.client', 'urllib.request'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_demo_ended_from_outside_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    code = "from chorus.demo.performance import perform; perform(real=False)"
    environment = {**os.environ, "TMPDIR": "/tmp", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment
    ) as demo:
        assert demo.stderr is not None
        place = Path(demo.stderr.readline().split()[-1]).parent
        assert demo.stderr.readline().startswith("  ok"), "the client is up"
        assert running_in(place)

        demo.send_signal(number)
        demo.communicate(timeout=30)

    assert not place.exists()
    wait_for(lambda: not running_in(place), what="the end of every process")


def running_in(place: Path) -> list[str]:
    """The command lines that name a place."""
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(entry.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in lines if str(place) in line]
