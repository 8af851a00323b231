"""A session of the real client, watched in one of the three ways, and checks of what Chorus recorded."""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.e2e.scenarios import Expected, LetGo, Say, Scenario, UserWrites, in_directory
from tests.imitation import SOCKETS
from tests.lab.client import INPUT_BOX, Client, say
from tests.lab.script import Text
from tests.lab.terminal import Pane, Terminal
from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent
# Everything is allowed: these tests are about what is recorded, not about what is asked.
ALLOW = ("--permission-mode", "bypassPermissions")


@dataclass(slots=True)
class WatchedSession:
    """A project, a client, a terminal, and `chorus` commands in the project."""

    client: Client
    terminal: Terminal
    pane: Pane | None = None
    run: str | None = None
    resume: str | None = None  # the session that the next headless run goes on with

    @property
    def project(self) -> Path:
        return self.client.project

    def environment(self) -> dict[str, str]:
        programs = self.client.home / "bin"
        programs.mkdir(exist_ok=True)
        if not (programs / "claude").exists():
            (programs / "claude").symlink_to(self.client.binary)
        given = self.client.environment()
        return {**given, "PATH": f"{programs}:{given['PATH']}", "PYTHONPATH": str(ROOT), **SOCKETS}

    def chorus(self, *words: str) -> Any:
        """Run a command; return its JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "chorus", words[0], "--json", *words[1:]],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"chorus {words}: {done.stderr}"
        return json.loads(done.stdout)

    def log(self, *options: str) -> list[dict[str, Any]]:
        return list(self.chorus("log", *options))

    def actions(self) -> list[dict[str, Any]]:
        return [entry for entry in self.log() if entry["tool"] != "Read"]

    def start_hooked(self, *arguments: str) -> None:
        """Start `chorus claude` in a pane, with hooks instead of the mod."""
        self._start_chorus_claude("--no-mod", "--", *ALLOW, *arguments)

    def start_modded(self, *arguments: str) -> None:
        """Start `chorus claude` in a pane, with the mod."""
        self._start_chorus_claude("--", *ALLOW, *arguments)

    def _start_chorus_claude(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "chorus", "claude", "--no-panel", *arguments]
        self.pane = self.terminal.open(command, cwd=self.project, environment=self.environment())
        self.pane.wait_for(INPUT_BOX)

    def start_adopted(self, *arguments: str) -> None:
        """Start the client alone, then `chorus attach`."""
        self.pane = self.client.interactive(self.terminal, *ALLOW, *arguments)
        self.chorus("attach", "-L", self.terminal.name)

    def deny(self, *rules: str) -> None:
        """Add deny rules to the user's settings."""
        place = self.client.home / ".claude" / "settings.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"permissions": {"deny": list(rules)}}))

    def start_headless(self) -> None:
        """Do nothing yet: the first message starts the run."""

    def script(self, *turns: Sequence[Any]) -> list[list[Any]]:
        """Return the steps of each turn, with their paths in the project."""
        return [[in_directory(step, self.project) for step in turn] for turn in turns]

    def play(self, message: str, *turns: Sequence[Any]) -> None:
        """Send a message, and have the model take these turns."""
        self.say(Say(message, self.script(*turns)))

    def say(self, step: Say) -> None:
        self.client.model_server.scripts[step.message] = step.script
        self.send(step.message)
        last = step.script[-1][-1]
        assert isinstance(last, Text), "every script ends with a text"
        self.wait_for_answer(last.text)

    def send(self, message: str) -> None:
        """Send a message without waiting."""
        if self.pane is not None:
            say(self.pane, message)
        elif self.run is None:
            resume = ("--resume", self.resume) if self.resume else ()
            self.run = self.chorus("run", message, *resume, "-L", self.terminal.name, "--", *ALLOW)["run"]
        else:
            self._send_to_run(message)

    def _send_to_run(self, *words: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "chorus", "send", *words],
            cwd=self.project,
            env=self.environment(),
            check=True,
        )

    def leave(self) -> None:
        """Exit the client from its input box, and wait until it is gone."""
        if self.pane is None:
            self._send_to_run("--end")
        else:
            self.pane.type("/exit")
            self.pane.wait_for(r"❯\s/exit")
            self.pane.press("Enter")
        self.run = None
        self.terminal.wait_left()

    def client_pid(self) -> int:
        """The client in the only pane: its process, or the one that it started."""
        pid = int(self.terminal.tmux("list-panes", "-a", "-F", "#{pane_pid}"))
        return psutil.Process(pid).children()[0].pid if self.pane is None else pid

    def wait_for_answer(self, text: str) -> None:
        """Wait until the model's last text after the last tool is shown."""
        if self.pane is not None:
            self.pane.wait_for("● " + re.escape(text))
            self.pane.wait_for(INPUT_BOX)
            return
        result = f'"result":{json.dumps(text)}'
        wait_for(lambda: result in self.printed(), what="the end of the turn", seconds=60)

    def printed(self) -> str:
        """The content of the panes of headless runs."""
        panes = self.terminal.tmux("list-panes", "-a", "-F", "#{pane_id}", check=False).split()
        return "".join(
            self.terminal.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", pane, check=False)
            for pane in panes
        )


def play(watched: WatchedSession, scenario: Scenario) -> None:
    watched.client.model_server.scripts.update(scenario.tasks)
    for step in scenario.steps:
        match step:
            case Say():
                watched.say(step)
            case UserWrites(path, text):
                watched.log()  # the user writes a moment after the session is done
                (watched.project / path).write_text(text)
            case LetGo(path):
                watched.log()
                Path(path).touch()


def expect_recorded(watched: WatchedSession, expected: Sequence[Expected], *, skip: int) -> None:
    """Check that the log, without the first `skip` entries, has exactly these, each with its lane commit."""
    wanted = [(one.tool, one.status) for one in expected]
    found: list[dict[str, Any]] = []

    def recorded() -> bool:
        found[:] = watched.actions()[skip:]
        return [(entry["tool"], entry["status"]) for entry in found] == wanted

    try:
        wait_for(recorded, seconds=60)
    except AssertionError:
        seen = [(entry["tool"], entry["status"], entry["paths"]) for entry in found]
        raise AssertionError(f"the log holds {seen}, not {wanted}") from None
    for entry, one in zip(found, expected, strict=True):
        expect_change(watched.project, entry, one)


def run_git(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=project, capture_output=True, text=True)


def changed_lines(project: Path, entry: dict[str, Any]) -> list[str]:
    """The lines that the lane commit of an entry removes and adds."""
    shown = run_git(project, "show", "--format=", "-U0", entry["commit"]).stdout
    return [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def expect_actions(watched: WatchedSession, wanted: Sequence[tuple[str, list[str]]]) -> None:
    """Check that the log has these actions in this order, each with these lines."""
    seen: list[tuple[str, list[str]]] = []

    def is_recorded() -> bool:
        entries = [entry for entry in watched.actions() if entry["status"] != "noop"]
        seen[:] = [(entry["tool"], changed_lines(watched.project, entry)) for entry in entries]
        return len(seen) >= len(wanted)

    with contextlib.suppress(AssertionError):
        wait_for(is_recorded, what="all actions", seconds=60)
    assert seen == list(wanted), f"the log holds {seen}"


def expect_change(project: Path, entry: dict[str, Any], wanted: Expected) -> None:
    assert sorted(entry["paths"]) == sorted(wanted.after) or wanted.status in ("failed", "denied"), entry
    assert wanted.why in entry["summary"]
    assert bool(entry["agent"]) is wanted.by_sub_agent
    for path, text in wanted.after.items():
        shown = run_git(project, "show", f"{entry['commit']}:{path}")
        assert (shown.stdout if shown.returncode == 0 else None) == text, entry
    if wanted.after:
        options = ("--no-commit-id", "--root", "-r", "--name-only")
        names = run_git(project, "diff-tree", *options, entry["commit"]).stdout.split()
        assert sorted(names) == sorted(wanted.after)


MODES: dict[str, Callable[[WatchedSession], None]] = {
    "modded": WatchedSession.start_modded,
    "hooked": WatchedSession.start_hooked,
    "adopted": WatchedSession.start_adopted,
    "headless": WatchedSession.start_headless,
}
