"""Others that keep or undo an agent's edits, each attached to the session as its own users attach it."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.compare.contenders import Contender, GitPerEdit
from tests.compare.playing import Place, hook_after_each_call

# What its commit path imports; the rest of it talks to models.
AIDER = [
    "aider-chat", "gitpython", "gitdb", "smmap", "pathspec", "packaging", "pexpect", "ptyprocess", "requests",
    "psutil", "tqdm", "oslex", "mslex", "rich",
]  # fmt: skip


class Aider(GitPerEdit):
    """Its commit path, in a process that stays up as aider does; commands are no edits of aider's."""

    name = "aider (commit path)"
    SERVER = """
import json, os, sys
class InputOutput:
    encoding = "utf-8"
    def __init__(self, **_): pass
    def tool_error(self, *a, **k): print(*a, file=sys.stderr)
    def tool_output(self, *a, **k): pass
    def tool_warning(self, *a, **k): pass
from aider.repo import GitRepo
repo = GitRepo(InputOutput(yes=True, pretty=False), [], ".")
asked, told = sys.argv[1:]
while True:
    value = json.load(open(asked))
    path = value["tool_input"].get("file_path")
    if path:
        repo.commit(fnames=[path], message="edit", aider_edits=True)
    open(told, "w").write("done\\n")
"""

    def install(self, tools: Path) -> None:
        self._python = _virtualenv(tools / "aider", AIDER, dependencies=False)

    def version(self) -> str:
        return _python_version(self._python, "aider-chat")

    def start(self, place: Place) -> None:
        self._pipes = [place.scratch / "asked", place.scratch / "told"]
        for pipe in self._pipes:
            subprocess.run(["mkfifo", pipe], check=True)
        server = place.scratch / "server.py"
        server.write_text(self.SERVER)
        self._server = subprocess.Popen(
            [self._python, server, *self._pipes],
            cwd=place.project,
            env=place.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def settings(self, place: Place) -> str | None:
        asked, told = map(shlex.quote, map(str, self._pipes))
        return hook_after_each_call(f"cat > {asked}; cat {told} > /dev/null")

    def close(self, place: Place) -> None:
        self._server.kill()
        self._server.wait()


class Stepback(Contender):
    name = "stepback"

    def install(self, tools: Path) -> None:
        self._python = _virtualenv(tools / "stepback", ["stepback"])
        self._program = self._python.parent / "stepback"

    def version(self) -> str:
        return _python_version(self._python, "stepback")

    def wrap(self, place: Place, command: list[str]) -> list[str]:
        return [str(self._program), "run", "--", *command]

    def captured(self, place: Place) -> int:
        listed = place.run(str(self._program), "list").stdout
        # The first one is the state before the session.
        return max(sum(line.strip().startswith("#") for line in listed.splitlines()) - 1, 0)

    def take_back(self, place: Place, identifiers: Sequence[str], target: int) -> str | None:
        """The nearest it has: the state before the action, if that was kept at all."""
        if self.captured(place) < len(identifiers):
            return "it was not kept apart"
        done = place.run(str(self._program), "rewind", str(target + 1), "-y", check=False)
        return None if done.returncode == 0 else (done.stderr or done.stdout).strip().split("\n")[0]


class Ccundo(Contender):
    name = "ccundo"

    def install(self, tools: Path) -> None:
        self._place = _node(tools / "ccundo", "ccundo")

    def version(self) -> str:
        return _node_version(self._place, "ccundo")

    def captured(self, place: Place) -> int:
        """The operations it can undo: it lists commands too, and leaves them to the person."""
        listed = self._run(place, "list").stdout
        return sum("] file_" in line for line in listed.splitlines())

    def take_back(self, place: Place, identifiers: Sequence[str], target: int) -> str | None:
        done = self._run(place, "undo", "-y", identifiers[target])
        failed = [line for line in done.stdout.splitlines() if "✗" in line]
        return failed[0].strip() if failed else None

    def _run(self, place: Place, *words: str) -> subprocess.CompletedProcess[str]:
        return place.run(str(self._place / "node_modules" / ".bin" / "ccundo"), *words, check=False)


class Opencode(Contender):
    """Its snapshot, as its own command takes it: that starts for seconds, so it is not timed."""

    name = "opencode (snapshot)"
    edits = 10  # its command takes seconds to start
    is_timed = False
    takes_back = False  # its snapshots go back by message, in sessions of its own

    def install(self, tools: Path) -> None:
        self._place = _node(tools / "opencode", "opencode-ai")
        self._program = str(self._place / "node_modules" / ".bin" / "opencode")

    def version(self) -> str:
        return _node_version(self._place, "opencode-ai")

    def start(self, place: Place) -> None:
        self._hashes = place.scratch / "hashes"

    def settings(self, place: Place) -> str | None:
        track = f"{shlex.quote(self._program)} debug snapshot track --pure"
        return hook_after_each_call(f"{track} >> {shlex.quote(str(self._hashes))}")

    def captured(self, place: Place) -> int:
        return len(set(self._hashes.read_text().split())) if self._hashes.exists() else 0


def _virtualenv(place: Path, packages: list[str], *, dependencies: bool = True) -> Path:
    python = place / "bin" / "python"
    done = place / ".installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True, capture_output=True)
        more = [] if dependencies else ["--no-deps"]
        install = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir", *more, *packages]
        subprocess.run(install, check=True, capture_output=True, text=True)
        done.touch()
    return python


def _python_version(python: Path, package: str) -> str:
    code = f"import importlib.metadata; print(importlib.metadata.version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _node(place: Path, package: str) -> Path:
    if not (place / "node_modules" / package).exists():
        place.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--cache", str(place / "cache")]
        install = ["npm", "install", "--prefix", str(place), *quiet, package]
        subprocess.run(install, check=True, capture_output=True, text=True)
    return place


def _node_version(place: Path, package: str) -> str:
    manifest = place / "node_modules" / package / "package.json"
    return str(json.loads(manifest.read_text())["version"])
