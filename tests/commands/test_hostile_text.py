"""Every command with hostile text in every field: nothing of it acts on the terminal, and JSON stays JSON."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus import cli
from chorus.commands import doctor, log
from chorus.commands.parser.catalog import COMMANDS
from chorus.commands.terminal import patch
from chorus.history.recorder import Recorder
from chorus.output import Styled, harmless, print_err, style
from chorus.text.sanitize import printable
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.waiting import wait_for

ESCAPES = "\x1b[8m\x1b]0;owned\x07\x1b[2J\x9b31m\x1bPq\x1b\\\x7f\x08\r"
HIDDEN = "\u202eb\u2066\u200b\ufeff\U000e0041\u3164\u2800a" + "\u0301" * 9
FORGED = "hint: forged"
# As it may be in a file name: no slash, at most 255 bytes.
NAME = f"{ESCAPES}{HIDDEN}\n{FORGED}"
# Chorus's own colours. None of them is the hostile one, which hides text.
OWN = re.compile(r"\x1b\[(?!8m)[0-9;]*m")
SCREEN = f"\n Bash command\n\n   {ESCAPES}\n\n Do you want to proceed?\n ❯ 1. Yes{HIDDEN}\n   2. No\n"

# Per command: the argument lists to try. Each may fail; what it prints is what counts.
CALLS: dict[str, list[list[str]]] = {
    "claude": [["--", NAME]],
    "attach": [[], [NAME]],
    "run": [[NAME, "--client", NAME], [NAME, "--image", NAME], [NAME, "--mcp", NAME], [NAME, "-S", NAME],
            [NAME, "--follow", "--client", NAME], [NAME, "--resume", NAME], [NAME, "--mode", NAME]],
    "send": [[NAME], [NAME, "--run", NAME], [NAME, "--follow", "--run", NAME], [NAME, "--to", NAME]],
    "interrupt": [[], [NAME], ["--run", NAME], ["--run", NAME, "--json"]],
    "panel": [["--toggle", "--pane", NAME]],
    "inbox": [["--plain"], ["--json"], ["--short"], ["--web", "--url", NAME]],
    "status": [[], ["--all"], ["--short"], ["--json"], [NAME]],
    "log": [[], ["--outside"], ["--prompts"], ["--tool", NAME], ["--json"], ["--prompts", "--json"],
            ["--turns"], ["--turns", "--json"], ["--turn", NAME], ["--lane", NAME], ["--path", NAME],
            ["--status", NAME], ["--since", NAME]],
    "show": [["1"], ["2"], [NAME], ["1", "--json"]],
    "diff": [["1", "2"], ["--lane", NAME], ["1", "--json"]],
    "blame": [[NAME], [f"{NAME}:1"], ["missing" + NAME], [NAME, "--json"]],
    "lanes": [[], ["--json"]],
    "keep": [["2"], [NAME]],
    "note": [["1", NAME], [f"1:{NAME}:1", NAME], [NAME, NAME]],
    "notes": [[], ["--json"], ["send"], ["done", NAME], ["drop", NAME]],
    "pr": [["LANE"], ["LANE", "--title"], ["LANE", "--json"], [NAME]],
    "prompts": [[], ["--json"], ["--screen", "SCREEN", "--explain"], ["--screen", NAME]],
    "approve": [[NAME], ["--option", NAME], []],
    "deny": [[NAME], ["--message", NAME]],
    "answer": [[NAME, NAME], ["--text", NAME]],
    "policy": [["list"], ["list", "--json"], ["explain", f"ls {NAME}"],
               ["explain", "--tool", NAME, "--path", NAME], ["explain", "--json", f"ls {NAME}"],
               ["test", NAME], ["add", NAME], ["add", "allow", "--tool", "Bash", "--command", f"'{NAME}"]],
    "hooks": [["status"], ["status", "--json"], ["install"], ["uninstall"]],
    "doctor": [[], ["--deep"], ["--json"]],
    "inspect": [["RECORDING"], ["RECORDING", "--json"], [NAME], ["RECORDING", "--width", NAME]],
    "revert": [["1", "--dry-run"], ["1"], ["2"], [NAME]],
    "redo": [["2"], [NAME]],
    "land": [[NAME], ["LANE", "--dry-run"], ["LANE", "--onto", NAME], ["LANE", "--dry-run", "--json"]],
    "drop": [[NAME], ["--all"]],
    "gc": [[], [NAME], ["--json"], ["--all"]],
    "completion": [["bash"], [NAME]],
    "demo": [[NAME]],
    "stop": [[], [NAME]],
}  # fmt: skip


def test_no_command_is_left_out() -> None:
    assert CALLS.keys() == COMMANDS.keys()


@pytest.fixture
def hostile(repo: UserRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UserRepo]:
    """Hostile names, contents, tools, messages, sessions, prompts, settings and rules."""
    settings = tmp_path / NAME
    settings.mkdir()
    (settings / "settings.json").write_text("{ not JSON " + NAME)
    config = tmp_path / "config"
    (config / "chorus").mkdir(parents=True)
    quoted = json.dumps(NAME.replace("\U000e0041", ""))  # TOML has no surrogate pairs
    (config / "chorus" / "config.toml").write_text(
        f'relay = "hook"\n[[policy.rule]]\ndecision = "deny"\ncommand = "ls *"\nreason = {quoted}\n'
    )
    for name, value in (("CLAUDE_CONFIG_DIR", str(settings)), ("XDG_CONFIG_HOME", str(config))):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder, session=NAME)
        agent.edit(NAME, f"{ESCAPES}{HIDDEN}\n".encode(), tool=NAME, lead_text=NAME, message=NAME)
        agent.edit(NAME, b"two\n", tool=f"mcp__{NAME}", lead_text=NAME, message=NAME)
        repo.write(f"outside{NAME}", b"x\n")
        recorder.record_outside()
    monkeypatch.chdir(repo.path)
    home = find_home(repo.path)
    event = {"session_id": NAME, "cwd": str(repo.path), "transcript_path": str(tmp_path)}
    asked = {"tool_name": NAME, "tool_input": {"command": NAME, NAME: NAME}}
    with connect_or_start(home) as watcher:
        hook = Path(__file__).parents[2] / "hooks" / "chorus-hook"
        said = {"hook_event_name": "UserPromptSubmit", "prompt": NAME}
        subprocess.run([hook], input=json.dumps(event | said).encode(), check=True)
        waiting = subprocess.Popen([hook], stdin=subprocess.PIPE)
        assert waiting.stdin is not None
        waiting.stdin.write(json.dumps(event | asked | {"hook_event_name": "PermissionRequest"}).encode())
        waiting.stdin.close()
        wait_for(lambda: watcher.ask("prompts"), what="the prompt is listed")
    yield repo
    stop(home)
    waiting.wait(30)


def replace_words(words: list[str], repo: UserRepo) -> list[str]:
    lane = repo.git("branch", "--list", "chorus/*", "--format=%(refname:short)").strip() or "none"
    files = {
        "SCREEN": SCREEN,
        "RECORDING": json.dumps(
            {"type": "assistant", "session_id": NAME, "uuid": NAME, "message": {"content": [
                {"type": "tool_use", "id": NAME, "name": NAME, "input": {"file_path": NAME}}]}}
        ) + "\n" + json.dumps({"type": NAME}) + "\n",
    }  # fmt: skip
    for name, text in files.items():
        (repo.path.parent / name).write_text(text)
    known = {"LANE": lane, **{name: str(repo.path.parent / name) for name in files}}
    return [known.get(word, word) for word in words]


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "coloured"])
def test_no_command_lets_hostile_text_reach_the_terminal(
    hostile: UserRepo,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    colour: bool,
) -> None:
    for module in (log, doctor, patch):
        monkeypatch.setattr(module, "wants_colour", lambda name="ui": colour)
    capfd.readouterr()
    shown: dict[str, str] = {}
    for name, calls in CALLS.items():
        for words in calls:
            try:
                code = cli.main([name, *replace_words(words, hostile)])
            except SystemExit as ended:  # by argparse
                code = int(str(ended.code))
            out, err = capfd.readouterr()
            about = f"chorus {name} {words}"
            assert code != 1, f"{about}: {err}"
            if "--json" in words:
                assert out.isascii(), about
                if out:
                    json.loads(out)
            assert not any(line.startswith(FORGED) for line in (out + err).split("\n")), (
                f"{about}: {out}{err}"
            )
            for line in OWN.sub("", out + err).split("\n"):
                assert printable(line, keep="\t") == line, f"{about}: {line!r}"
            shown[name] = shown.get(name, "") + out + err
    # The text is shown, not left out.
    for name in ("log", "show", "diff", "status", "prompts", "policy", "inspect", "hooks", "revert", "blame"):
        assert "\ufffd[8m" in shown[name] or "\\x1b[8m" in shown[name], f"{name}: {shown[name]}"
    assert not colour or "\x1b[" in shown["log"]


def test_only_styled_text_is_written_as_it_is() -> None:
    line = style("a\x1b[8m", style("b\n", code="31"), "\tc")
    assert line == "a\ufffd[8m\x1b[31mb\ufffd\x1b[0m\tc"
    assert harmless(line) is line
    assert harmless(f"{line}") != line  # composed without `style`, it is no longer known to be harmless
    assert isinstance(style("x"), Styled)


def test_a_further_line_of_an_error_cannot_pass_for_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    print_err("chorus: no such file: a\nhint: Run evil.\n  b")
    assert capsys.readouterr().err == "chorus: no such file: a\n  hint: Run evil.\n  b\n"
