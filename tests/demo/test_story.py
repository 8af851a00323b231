"""The demo: its story is consistent, it plays to the end, and it leaves nothing behind."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from chorus.demo import guide, story
from chorus.demo.demo_tmux import DemoTmux, ScreenTimeout
from chorus.demo.player import StoryFailed
from chorus.demo.real_client import ClientNotInstalled, find_installed_client
from chorus.demo.run import find_prefix, play_headless
from chorus.demo.scratch_repository import ScratchRepository
from chorus.demo.script import Text, ToolUse
from chorus.panel.keys import ANSWER_KEYS, REVIEW_KEYS
from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import Home, find_home
from tests.imitation.bsd_programs import write_sed
from tests.lab.terminal import Terminal
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
        assert last == Text(message.last_text)

    assert files["/p/greet.py"] == story.FINAL_GREET
    compile(story.FINAL_GREET, "greet.py", "exec")
    compile(story.TESTS, "test_greet.py", "exec")


def test_the_scratch_repository_leaves_no_file_and_no_watcher() -> None:
    with ScratchRepository() as scratch:
        scratch.chorus("hooks", "wake", str(scratch.project / ".git"))
        home = find_home(scratch.project)
        pid = wait_for(lambda: watcher_pid(home), what="the watcher answers")
        assert scratch.git("status", "--porcelain") == " M README.md\n"

    assert not scratch.root.exists()
    wait_for(lambda: not psutil.pid_exists(pid), what="the watcher ends")


def watcher_pid(home: Home) -> int | None:
    try:
        with connect(home) as watcher:
            return int(watcher.ask("hello")["pid"])
    except WatcherNotRunning:
        return None


def test_commands_in_the_scratch_repository_do_not_see_the_users_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    with ScratchRepository() as scratch:
        seen = scratch.run(["env"])
        claude = scratch.run(["sh", "-c", "command -v claude"]).strip()
        version = scratch.run(["claude", "--version"])

    assert "GIT_DIR" not in seen
    assert "secret" not in seen
    assert Path(claude).is_relative_to(scratch.root)
    assert "(Claude Code)" in version


def test_the_stand_in_starts_about_as_fast_as_python() -> None:
    """It imports no heavy library."""
    code = (
        "import sys; import tests.client_double.__main__, tests.client_double.interactive\n"
        "heavy = {'pydantic', 'orjson', 'libtmux', 'git', 'asyncio', 'http.client', 'urllib.request'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def play(*arguments: str, tmp: Path) -> subprocess.CompletedProcess[str]:
    tmp.mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "chorus", "demo", "--headless", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp, timeout=180)


def test_the_demo_plays_to_the_end_and_every_step_passes(tmp_path: Path) -> None:
    tmp = Path(tempfile.mkdtemp(prefix="a demo ", dir="/tmp")) / "it"
    try:
        done = play(tmp=tmp)
        assert list(tmp.iterdir()) == []
    finally:
        shutil.rmtree(tmp.parent)

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("  ok  ") == 8
    assert re.search(r"6 reverted +Edit .*greet\.py", done.stdout)
    assert "| * " in done.stdout, "the graph shows two branches: main and the lane"
    wait_for(lambda: not running_in(tmp), what="the programs of the killed tmux server end")


@pytest.mark.client
def test_the_real_client_plays_the_same_story(tmp_path: Path) -> None:
    try:
        find_installed_client()
    except ClientNotInstalled:
        pytest.skip("no Claude Code on this machine")
    done = play("--real", tmp=tmp_path / "tmp")

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("  ok  ") == 8
    # The text before an edit comes with the transcript, which may be later than the edit's record.
    assert re.search(r"reverted  Edit +.*greet\.py", done.stdout)


def test_the_output_of_a_client_that_cannot_start_is_shown() -> None:
    with ScratchRepository() as scratch, DemoTmux(scratch) as tmux:
        (scratch.programs / "claude").write_text("#!/bin/sh\necho no licence\nexit 3\n")
        with pytest.raises(ScreenTimeout, match="the client ended:\nno licence"):
            tmux.start_client(panel=False)


def test_a_failing_step_ends_the_demo_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(story, "FINAL_GREET", "something else\n")

    with pytest.raises(StoryFailed, match="only the wrong edit is gone"):
        play_headless(real=False)

    assert "the wrong edit is reverted" not in capfd.readouterr().err


def test_the_hints_name_existing_keys_of_the_panel() -> None:
    words = {key.keys[0]: key.word for key in (*ANSWER_KEYS, *REVIEW_KEYS)}

    expected = ((guide.PROMPT, "a", "approve"), (guide.REVERT, "r", "revert"), (guide.LAND, "l", "land"))
    for hint, key, word in expected:
        assert words[key] == word
        assert f"press {key}" in hint


def test_every_hint_fits_80_columns_also_inside_another_tmux() -> None:
    hints = (guide.WELCOME, guide.PROMPT, guide.MORE, guide.REVERT, guide.LAND, guide.THE_END)
    assert max(len(f" 1/6  {hint.replace('C-b', 'C-b C-b')}") for hint in hints) <= 80


def test_the_prefix_is_doubled_only_inside_a_tmux_with_the_same_prefix(
    terminal: Terminal, tmp_path: Path
) -> None:
    assert find_prefix({}) == "C-b"
    assert find_prefix({"TMUX": f"{tmp_path}/gone,1,0"}) == "C-b"
    terminal.open(["cat"], cwd=ROOT, environment={})
    inside = {"TMUX": f"{terminal.socket()},1,0"}
    assert find_prefix(inside) == "C-b C-b"
    terminal.tmux("set-option", "-g", "prefix", "C-a")
    assert find_prefix(inside) == "C-b"


def test_the_hints_lead_the_user_through_the_story(terminal: Terminal) -> None:
    """In a terminal of its own: each hint is followed."""
    environment = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    # SHELL is set, as in a user's terminal: the account that runs the tests may have no login shell.
    environment |= {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "SHELL": "/bin/sh"}
    # The pane outlives the demo, so that its last line can be read.
    command = ["sh", "-c", '"$@"; exec cat', "sh", sys.executable, "-m", "chorus", "demo"]
    pane = terminal.open(command, cwd=ROOT, environment=environment)
    pane.wait_for(r"1/6[\s\S]*", seconds=60)
    pane.wait_for("❯.add a --shout option")
    pane.press("Enter")
    pane.wait_for("2/6.*press a", seconds=60)
    pane.wait_settled("1 Yes  a")
    pane.press("C-b", "Down")  # this terminal is narrow: the panel is below the client
    pane.wait_settled("1 Yes  a")  # a key pressed as the prompt appears is not taken
    pane.press("a")
    pane.wait_for("3/6", seconds=60)
    pane.press("C-b", "Up")
    pane.press("Enter")
    pane.wait_for("4/6.*C-b C-b ↓.*press r", seconds=60)  # this terminal is a tmux with that prefix
    pane.press("C-b", "c")
    pane.type("chorus log --tool write")
    pane.press("Enter")
    pane.wait_for("test_greet.py: Cover both in a test", seconds=60)
    pane.press("C-b", "d")
    pane.wait_for("the scratch repository was removed", seconds=60)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_demo_ended_by_a_signal_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    code = "from chorus.demo.run import play_headless; play_headless(real=False)"
    environment = {**os.environ, "TMPDIR": "/tmp", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment
    ) as demo:
        assert demo.stderr is not None
        directory = Path(demo.stderr.readline().split()[-1]).parent
        assert demo.stderr.readline().startswith("  ok"), "the client is up"
        assert running_in(directory)

        demo.send_signal(number)
        demo.communicate(timeout=30)

    assert not directory.exists()
    wait_for(lambda: not running_in(directory), what="all processes end")


def running_in(directory: Path) -> list[str]:
    """The command lines that contain this path."""
    lines = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            lines.append(" ".join(process.cmdline()))
    return [line for line in lines if str(directory) in line]


def test_the_storys_command_is_one_that_sed_of_this_system_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commands() -> list[str]:
        steps = [step for message in story.messages(".") for reply in message.replies for step in reply]
        return [
            str(step.input["command"]) for step in steps if isinstance(step, ToolUse) and step.name == "Bash"
        ]

    assert "sed -i s/world/all/ greet.py" in commands()
    write_sed(tmp_path / "bsd")
    monkeypatch.setenv("PATH", f"{tmp_path}/bsd:{os.environ['PATH']}")
    assert "sed -i '' s/world/all/ greet.py" in commands()
    (tmp_path / "greet.py").write_text("world\n")
    subprocess.run("sed -i '' s/world/all/ greet.py", shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "greet.py").read_text() == "all\n"
