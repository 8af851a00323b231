"""What an edit costs as the client feels it: the real client, one living process per variant.

Each variant has its own repository, home and scripted model. In random order, one client after another gets a
message and makes a few edits; meanwhile the others wait. An edit takes from one request to the model to the
next: the call, its hooks, and everything the client does itself.
"""

import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.hooks.program import render_settings
from chorus.agents.claude_code.mod import files as mod_files
from chorus.demo.model_server.server import ModelServer
from chorus.demo.model_server.steps import Reply
from chorus.demo.script import Text, ToolUse
from chorus.wire.home import find_home
from tests.compare.edits import make_repository
from tests.compare.session import Sandbox
from tests.lab.client import Client, find_client, prepare_home, read_version
from tests.lab.hooks import HOOK

ROUNDS = 21  # the first one is not counted
EDITS_PER_ROUND = 6
QUIET_LOAD = 1.0
READY_SECONDS = 60.0
RECORDED_SECONDS = 10.0
HEADLESS = (
    "-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
    "--permission-mode", "acceptEdits",
)  # fmt: skip
EMPTY_HOOKS = ("PreToolUse", "PostToolUse", "PostToolBatch")


def hooks(command: str, *events: str) -> str:
    return json.dumps(
        {"hooks": {name: [{"hooks": [{"type": "command", "command": command}]}] for name in events}}
    )


class Variant:
    """The client as it is."""

    name = "nothing attached"

    def is_available(self) -> bool:
        return True

    def start(self, sandbox: Sandbox) -> None:
        """Prepare the repository."""

    def arguments(self, sandbox: Sandbox) -> list[str]:
        return []

    def environment(self, sandbox: Sandbox) -> dict[str, str]:
        return {}

    def count_recorded(self, sandbox: Sandbox, made: int) -> int | None:
        """How many of the edits made were recorded apart."""
        return None

    def close(self, sandbox: Sandbox) -> None:
        """Stop what it started."""


class EmptyHooks(Variant):
    name = "three empty command hooks"

    def arguments(self, sandbox: Sandbox) -> list[str]:
        return ["--settings", hooks("true", *EMPTY_HOOKS)]


class GitHook(Variant):
    name = "a `git commit` hook"

    def arguments(self, sandbox: Sandbox) -> list[str]:
        return ["--settings", hooks("git add -A && git commit -qm edit", "PostToolUse")]

    def count_recorded(self, sandbox: Sandbox, made: int) -> int:
        return int(sandbox.run("git", "rev-list", "--count", "HEAD").stdout) - 1


class GitAi(Variant):
    name = "git-ai"

    def is_available(self) -> bool:
        return shutil.which("git-ai") is not None

    def arguments(self, sandbox: Sandbox) -> list[str]:
        command = "git-ai checkpoint claude --hook-input stdin"
        return ["--settings", hooks(command, "PreToolUse", "PostToolUse")]


class ChorusHooks(Variant):
    name = "Chorus with hooks"

    def start(self, sandbox: Sandbox) -> None:
        self._run(sandbox, "hooks", "wake", str(sandbox.project / ".git"))
        deadline = time.monotonic() + READY_SECONDS
        while self._run(sandbox, "status", check=False).returncode:
            if time.monotonic() > deadline:
                raise RuntimeError("the watcher does not respond")

    def arguments(self, sandbox: Sandbox) -> list[str]:
        return ["--settings", render_settings(None, hook=HOOK, chorus=None)]

    def count_recorded(self, sandbox: Sandbox, made: int) -> int:
        """The last edits may wait for each other's reports before they are recorded."""
        deadline = time.monotonic() + RECORDED_SECONDS
        while True:
            entries = json.loads(self._run(sandbox, "log", "--json").stdout)
            found = len({entry["commit"] for entry in entries if entry["commit"]})
            if found >= made or time.monotonic() > deadline:
                return found

    def close(self, sandbox: Sandbox) -> None:
        self._run(sandbox, "stop", check=False)

    def _run(self, sandbox: Sandbox, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return sandbox.run(sys.executable, "-m", "chorus", *words, check=check)


class ChorusMod(ChorusHooks):
    name = "Chorus with the mod"

    def arguments(self, sandbox: Sandbox) -> list[str]:
        return ["--plugin-dir", str(mod_files.copy_mod({"XDG_DATA_HOME": str(sandbox.home)}))]

    def environment(self, sandbox: Sandbox) -> dict[str, str]:
        """As `chorus claude` and `chorus run` set it."""
        program = shutil.which("chorus", path=str(Path(sys.executable).parent)) or "chorus"
        socket = str(find_home(sandbox.project).socket)
        return {"CHORUS_SOCKET": socket, "CHORUS_HOOK": str(HOOK), "CHORUS_PROGRAM": program}


VARIANTS: tuple[type[Variant], ...] = (Variant, EmptyHooks, ChorusHooks, ChorusMod, GitHook, GitAi)


@dataclass(slots=True)
class Felt:
    """The seconds of each edit and of each turn's end, of one variant."""

    name: str
    edits: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)  # of each turn, until its first request
    recorded: int | None = None
    made: int = 0


class LivingClient:
    """A headless client that gets one message after another."""

    def __init__(self, variant: Variant, sandbox: Sandbox, binary: Path, model_server: ModelServer) -> None:
        self.felt = Felt(variant.name)
        self._sandbox = sandbox
        self._model = model_server
        self._value = 0
        prepare_home(sandbox.home, [sandbox.project], version=read_version(binary))
        client = Client(binary, sandbox.home, sandbox.project, model_server, variant.environment(sandbox))
        self._process = client.start(*HEADLESS, *variant.arguments(sandbox))

    def play(self, number: int, *, counted: bool = True) -> None:
        """Let the client make the edits of one round."""
        key = f"round {number:04}."
        path = str(self._sandbox.project / "src" / "m00.py")
        # A file must have been read before it is edited.
        reads: list[Reply] = [] if counted else [[ToolUse("Read", {"file_path": path})]]
        replies: list[Reply] = [
            *reads,
            *([self._edit(path)] for _ in range(EDITS_PER_ROUND)),
            [Text("Done.")],
        ]
        self._model.scripts[key] = replies
        known = len(self._model.messages())
        said = time.monotonic()
        self._say(key)
        ended = self._read_until_result()
        times = [request.at for request in self._model.messages()[known:]]
        if len(times) != len(replies):
            raise RuntimeError(f"{self.felt.name}: {len(times)} requests for {len(replies)} replies")
        if counted:
            self.felt.starts.append(times[0] - said)
            self.felt.edits += [after - before for before, after in itertools.pairwise(times)]
            self.felt.ends.append(ended - times[-1])

    def _edit(self, path: str) -> ToolUse:
        old, self._value = self._value, self._value + 1
        self.felt.made += 1
        change = {"old_string": f"value_7 = {old}\n", "new_string": f"value_7 = {self._value}\n"}
        return ToolUse("Edit", {"file_path": path, **change})

    def _say(self, text: str) -> None:
        assert self._process.stdin is not None
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read_until_result(self) -> float:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event.get("type") == "result":
                return time.monotonic()
        assert self._process.stderr is not None
        raise RuntimeError(f"{self.felt.name}: the client ended: {self._process.stderr.read()[-500:]}")

    def check(self) -> None:
        text = (self._sandbox.project / "src" / "m00.py").read_text()
        if f"value_7 = {self._value}\n" not in text:
            raise RuntimeError(f"{self.felt.name}: not every edit was made")

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def measure(files: int, rounds: int = ROUNDS, *, seed: int = 1) -> list[Felt]:
    """Measure all variants that this machine has, in one run."""
    binary = find_client()
    if binary is None:
        raise RuntimeError("there is no client on this machine")
    chance = random.Random(seed)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chorus-felt-")))
        make_repository(scratch / "first" / "project", scratch / "first" / "home", files=files)
        variants = [variant for kind in VARIANTS if (variant := kind()).is_available()]
        clients = [stack.enter_context(_living(variant, scratch, binary)) for variant in variants]
        for number in range(rounds):
            chance.shuffle(clients)
            for client in clients:
                client.play(number, counted=number > 0)
        order = {variant.name: at for at, variant in enumerate(variants)}
    return sorted((client.felt for client in clients), key=lambda felt: order[felt.name])


@contextmanager
def _living(variant: Variant, scratch: Path, binary: Path) -> Iterator[LivingClient]:
    directory = scratch / type(variant).__name__
    shutil.copytree(scratch / "first", directory, symlinks=True)
    sandbox = Sandbox(directory / "project", directory / "home")
    variant.start(sandbox)
    try:
        with ModelServer() as model_server:
            client = LivingClient(variant, sandbox, binary, model_server)
            try:
                yield client
                client.check()
                client.felt.recorded = variant.count_recorded(sandbox, client.felt.made)
            finally:
                client.end()
    finally:
        variant.close(sandbox)


def render_felt(found: Mapping[int, Sequence[Felt]], load: float) -> str:
    """One table for each size of the repository."""
    quiet = "The machine was quiet" if load < QUIET_LOAD else "The machine was not quiet"
    lines = [f"The real client, one living process each, in random order. {quiet} (load {load:.1f})."]
    for files, all_felt in found.items():
        base = all_felt[0]
        edits = len(base.edits)
        lines += [
            "",
            f"{files:,} files, {edits} edits each, milliseconds:",
            "",
            "| | an edit: p10 / median / p90 | added: p10 / median | added, round by round | "
            "added per turn: start / end | recorded apart |",
            "|---|---|---|---|---|---|",
        ]
        for felt in all_felt:
            low, middle, high = (_ms(felt.edits, share) for share in (0.1, 0.5, 0.9))
            added = [f"{_ms(felt.edits, s) - _ms(base.edits, s):+.0f}" for s in (0.1, 0.5)]
            start, end = (
                f"{_ms(mine, 0.5) - _ms(its, 0.5):+.0f}"
                for mine, its in ((felt.starts, base.starts), (felt.ends, base.ends))
            )
            recorded = "–" if felt.recorded is None else f"{felt.recorded} of {felt.made}"
            is_base = felt is base
            lines.append(
                f"| {felt.name} | {low:.0f} / {middle:.0f} / {high:.0f} | "
                + (
                    " | | | "
                    if is_base
                    else f"{added[0]} / {added[1]} | {_paired(felt, base):+.0f} | {start} / {end} | "
                )
                + f"{recorded} |"
            )
    missing = [kind().name for kind in VARIANTS if not kind().is_available()]
    if missing:
        lines += ["", f"Not on this machine: {', '.join(missing)}."]
    return "\n".join(lines)


def _paired(felt: Felt, base: Felt) -> float:
    """What an edit takes longer in milliseconds: the median of the differences within each round.

    What slows the machine down for longer than a round does not count.
    """
    rounds = range(0, len(base.edits), EDITS_PER_ROUND)

    def medians(one: Felt) -> list[float]:
        return [statistics.median(one.edits[at : at + EDITS_PER_ROUND]) for at in rounds]

    differences = [mine - its for mine, its in zip(medians(felt), medians(base), strict=True)]
    return 1000 * statistics.median(differences)


def _ms(seconds: Sequence[float], share: float) -> float:
    ordered = sorted(seconds)
    return 1000 * (statistics.median(ordered) if share == 0.5 else ordered[int(len(ordered) * share)])


def read_load() -> float:
    return os.getloadavg()[0]


def run_felt(sizes: Sequence[int], rounds: int) -> str:
    load = read_load()
    found: dict[int, list[Felt]] = {}
    for files in sizes:
        found[files] = measure(files, rounds)
        print(render_felt({files: found[files]}, load), file=sys.stderr, flush=True)
    return render_felt(found, max(load, read_load()))
