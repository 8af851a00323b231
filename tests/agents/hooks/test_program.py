"""The hook program is found, and the settings that run it are the same everywhere."""

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from chorus import __version__
from chorus.agents.claude_code.hooks.program import (
    EVENTS,
    HOOK_PROGRAM,
    find_plugin_directory,
    render_hook_groups,
    render_portable_hook_groups,
    render_settings,
    split_settings_option,
)
from chorus.agents.claude_code.settings.hook_entries import SettingsUnreadable, add_hooks, find_hooks
from chorus.model.tools import EDIT_TOOLS, FREQUENT_TOOLS

ROOT = Path(__file__).parents[3]


def test_the_plugin_has_the_same_hooks_as_the_settings(tmp_path: Path) -> None:
    plugin = json.loads((find_plugin_directory() / "hooks.json").read_text())["hooks"]
    at_a_plain_path = tmp_path / HOOK_PROGRAM
    at_a_plain_path.touch(0o755)
    rendered = json.loads(json.dumps(render_hook_groups(at_a_plain_path, None)))

    assert list(plugin) == list(EVENTS)
    for event, groups in rendered.items():
        for group in groups:
            group["hooks"][0]["command"] = "${CLAUDE_PLUGIN_ROOT}/chorus-hook"
        assert plugin[event] == groups


def test_of_the_hooks_before_a_call_exactly_one_runs(tmp_path: Path) -> None:
    groups = render_hook_groups(tmp_path / HOOK_PROGRAM, None)["PreToolUse"]
    kinds = [shlex.split(group["hooks"][0]["command"])[2:] for group in groups]
    assert kinds == [[], ["chorus", "edit"]]
    for tool in ("Bash", "Agent", "mcp__files__Edit", "EditAll", *EDIT_TOOLS, *FREQUENT_TOOLS):
        # The client reads a matcher of plain words as names, any other as a regular expression.
        matches = [
            tool in matcher.split("|") if re.fullmatch(r"[\w|]+", matcher) else bool(re.search(matcher, tool))
            for matcher in (group["matcher"] for group in groups)
        ]
        assert matches == [tool not in {*EDIT_TOOLS, *FREQUENT_TOOLS}, tool in EDIT_TOOLS]


def test_the_plugin_has_the_version_of_chorus() -> None:
    assert (
        json.loads((find_plugin_directory() / ".claude-plugin/plugin.json").read_text())["version"]
        == __version__
    )


def test_a_wheel_contains_the_plugin_with_an_executable_program(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the build backend is not installed here")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        mode = wheel.getinfo(f"chorus/plugin/{HOOK_PROGRAM}").external_attr >> 16

    assert {"chorus/plugin/hooks.json", "chorus/plugin/.claude-plugin/plugin.json"} <= names
    assert mode & 0o111
    assert any(name.endswith(f".data/scripts/{HOOK_PROGRAM}") for name in names)


def test_a_hook_at_a_plain_path_needs_no_shell(tmp_path: Path) -> None:
    hook = tmp_path / "chorus-hook"
    hook.touch(0o755)

    groups = render_hook_groups(hook, "/opt/bin/chorus")
    before, after = (groups[event][0]["hooks"][0] for event in ("PreToolUse", "PostToolUse"))

    assert (before["command"], before["args"]) == (str(hook), ["/opt/bin/chorus"])
    assert (after["command"], after["args"]) == (str(hook), ["/opt/bin/chorus", "after"])


@pytest.mark.parametrize(("name", "mode"), [("a b's $x", 0o755), ("plain", 0o644)])
def test_a_hook_at_an_odd_path_or_not_executable_is_run_by_a_shell(
    tmp_path: Path, name: str, mode: int
) -> None:
    hook = tmp_path / name / "chorus-hook"
    hook.parent.mkdir()
    hook.touch(mode)

    groups = render_hook_groups(hook, None)
    before, after = (groups[event][0]["hooks"][0] for event in ("PreToolUse", "PostToolUse"))

    assert "args" not in before
    assert shlex.split(before["command"]) == ["sh", str(hook)]
    assert shlex.split(after["command"]) == ["sh", str(hook), "chorus", "after"]


def test_shared_hooks_run_where_chorus_is_installed_and_are_silent_elsewhere(tmp_path: Path) -> None:
    command = render_portable_hook_groups()["Stop"][0]["hooks"][0]["command"]
    without = subprocess.run(["/bin/sh", "-c", command], env={"PATH": str(tmp_path)}, capture_output=True)
    hook = tmp_path / HOOK_PROGRAM
    hook.write_text("#!/bin/sh\nread line; echo got $line\n")
    hook.chmod(0o755)
    with_it = subprocess.run(
        ["/bin/sh", "-c", command], env={"PATH": str(tmp_path)}, input=b"it\n", capture_output=True
    )

    assert (without.returncode, without.stdout, without.stderr) == (0, b"", b"")
    assert with_it.stdout == b"got it\n"
    assert find_hooks(add_hooks(None, render_portable_hook_groups())).keys() == set(EVENTS)


def test_the_users_own_settings_are_merged_with_ours(tmp_path: Path) -> None:
    theirs = {"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(theirs))
    hook = tmp_path / HOOK_PROGRAM
    hook.touch(0o755)

    for given in (str(path), json.dumps(theirs)):
        settings = json.loads(render_settings(given, hook=hook, chorus=None))
        assert settings["model"] == "opus"
        assert settings["hooks"]["Stop"][0] == theirs["hooks"]["Stop"][0]  # type: ignore[index]  # known to be a table
        assert len(settings["hooks"]["Stop"]) == 2
        assert set(settings["hooks"]) == set(EVENTS)
    assert set(json.loads(render_settings(None, hook=hook, chorus=None))) == {"hooks"}


def test_unreadable_settings_of_the_user_are_an_error(tmp_path: Path) -> None:
    for given in (str(tmp_path / "none.json"), "{broken", os.fspath(tmp_path)):
        with pytest.raises(SettingsUnreadable):
            render_settings(given, hook=tmp_path / HOOK_PROGRAM, chorus=None)


@pytest.mark.parametrize(
    ("arguments", "rest", "given"),
    [
        (["-p", "hi"], ["-p", "hi"], None),
        (["--settings", "a", "-p"], ["-p"], "a"),
        (["--settings=a", "--settings", "b"], [], "b"),
        (["--settings", "a", "--", "--settings", "b"], ["--", "--settings", "b"], "a"),
        (["--settings"], [], None),
    ],
)
def test_the_last_settings_argument_is_the_one_that_counts(
    arguments: list[str], rest: list[str], given: str | None
) -> None:
    assert split_settings_option(arguments) == (rest, given)
