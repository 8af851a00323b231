"""Completion, tested in the shells themselves."""

import functools
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.commands.parser.completion_scripts import SHELLS
from chorus.commands.parser.reference import read_pages
from tests.commands.conftest import Shell
from tests.lab.terminal import Terminal, wait_until
from tests.repos import UserRepo

BASH = """
source {script}
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_chorus
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@functools.cache
def rendered(shell: str) -> str:
    return SHELLS[shell](read_pages())


def script_for(shell: str, tmp_path: Path) -> Path:
    path = tmp_path / "_chorus"
    path.write_text(rendered(shell))
    return path


def complete_in_bash(tmp_path: Path, *words: str, cwd: Path | None = None) -> list[str]:
    text = BASH.format(script=script_for("bash", tmp_path), words=shlex.join(words))
    done = subprocess.run(
        ["bash", "--norc", "-c", text], capture_output=True, text=True, cwd=cwd or tmp_path, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_the_command_prints_the_script(chorus: Shell) -> None:
    assert chorus("completion", "bash").out == rendered("bash")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["l"], ["log", "lanes", "land"]),
        (["log", "--st"], ["--status"]),
        (["log", "--status", "re"], ["reverted"]),
        (["log", "-n", ""], []),
        (["hooks", ""], ["install", "uninstall", "status"]),
        (["hooks", "install", "--u"], ["--user"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["claude", "--", "--re"], []),
    ],
    ids=" ".join,
)
def test_bash_offers_matching_words(words: list[str], offered: list[str], tmp_path: Path) -> None:
    assert complete_in_bash(tmp_path, "chorus", *words) == offered


def test_bash_offers_lanes_and_files(worked: UserRepo, chorus: Shell, tmp_path: Path) -> None:
    (lane,) = chorus("lanes", "--json").json()

    assert complete_in_bash(tmp_path, "chorus", "land", "cho", cwd=worked.path) == [lane["name"]]
    assert complete_in_bash(tmp_path, "chorus", "log", "--lane", "", cwd=worked.path) == [lane["name"]]
    assert complete_in_bash(tmp_path, "chorus", "blame", "ap", cwd=worked.path) == ["app.py"]


def test_bash_offers_the_numbers_of_actions(
    worked: UserRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    assert complete_in_bash(tmp_path, "chorus", "revert", "", cwd=worked.path) == ["3", "2", "1"]
    assert complete_in_bash(tmp_path, "chorus", "show", "2", cwd=worked.path) == ["2"]
    assert complete_in_bash(tmp_path, "chorus", "redo", "--dry-run", "", cwd=tmp_path) == []


@pytest.mark.parametrize(
    ("shell", "command", "setup"),
    [
        ("bash", ["bash", "--norc", "-i"], "source {script}"),
        ("zsh", ["zsh", "-f", "-i"], "autoload -U compinit; compinit -D; source {script}"),
        ("fish", ["fish", "--no-config", "-i"], "source {script}"),
    ],
    ids=["bash", "zsh", "fish"],
)
def test_tab_completes_in_a_real_shell(shell: str, command: list[str], setup: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    script = script_for(shell, tmp_path)
    with Terminal(width=100, height=30) as terminal:
        environment = {**os.environ, "PS1": "$ ", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        pane = terminal.open(command, cwd=tmp_path, environment=environment)
        pane.type(setup.format(script=script) + "; touch ready")
        pane.press("Enter")
        wait_until((tmp_path / "ready").exists, what="the shell has read the script")
        pane.type("chorus hooks uni")
        pane.wait_for("chorus hooks uni")
        pane.press("Tab")
        pane.wait_for("chorus hooks uninstall")
        pane.type("--us")
        pane.wait_for("chorus hooks uninstall --us")
        pane.press("Tab")
        pane.wait_for("chorus hooks uninstall --user")
