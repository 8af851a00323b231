"""Other tools that record or undo an agent's edits, each attached to the session as its users attach it."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.compare.contenders import Contender, GitPerEdit
from tests.compare.session import Sandbox, hook_after_each_call

# The packages its commit path imports; its other dependencies are for talking to models.
AIDER = [
    "aider-chat", "gitpython", "gitdb", "smmap", "pathspec", "packaging", "pexpect", "ptyprocess", "requests",
    "psutil", "tqdm", "oslex", "mslex", "rich",
]  # fmt: skip


class Aider(GitPerEdit):
    """Its commit path, in a process that keeps running, as aider does. It commits no change of a command."""

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
request_pipe, reply_pipe = sys.argv[1:]
while True:
    value = json.load(open(request_pipe))
    path = value["tool_input"].get("file_path")
    if path:
        repo.commit(fnames=[path], message="edit", aider_edits=True)
    open(reply_pipe, "w").write("done\\n")
"""

    def install(self, tools: Path) -> None:
        self._python = _virtualenv(tools / "aider", AIDER, dependencies=False)

    def version(self) -> str:
        return _python_version(self._python, "aider-chat")

    def start(self, sandbox: Sandbox) -> None:
        self._pipes = [sandbox.scratch / "request_pipe", sandbox.scratch / "reply_pipe"]
        for pipe in self._pipes:
            subprocess.run(["mkfifo", pipe], check=True)
        server = sandbox.scratch / "server.py"
        server.write_text(self.SERVER)
        self._server = subprocess.Popen(
            [self._python, server, *self._pipes],
            cwd=sandbox.project,
            env=sandbox.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def settings(self, sandbox: Sandbox) -> str | None:
        request_pipe, reply_pipe = map(shlex.quote, map(str, self._pipes))
        return hook_after_each_call(f"cat > {request_pipe}; cat {reply_pipe} > /dev/null")

    def close(self, sandbox: Sandbox) -> None:
        self._server.kill()
        self._server.wait()


class Stepback(Contender):
    name = "stepback"

    def install(self, tools: Path) -> None:
        self._python = _virtualenv(tools / "stepback", ["stepback"])
        self._program = self._python.parent / "stepback"

    def version(self) -> str:
        return _python_version(self._python, "stepback")

    def wrap(self, sandbox: Sandbox, command: list[str]) -> list[str]:
        return [str(self._program), "run", "--", *command]

    def count_recorded(self, sandbox: Sandbox) -> int:
        listed = sandbox.run(str(self._program), "list").stdout
        # The first one is the state before the session.
        return max(sum(line.strip().startswith("#") for line in listed.splitlines()) - 1, 0)

    def revert(self, sandbox: Sandbox, call_ids: Sequence[str], target: int) -> str | None:
        """Rewind to the state before the action, the closest it offers, if that state was recorded."""
        if self.count_recorded(sandbox) < len(call_ids):
            return "it was not recorded separately"
        done = sandbox.run(str(self._program), "rewind", str(target + 1), "-y", check=False)
        return None if done.returncode == 0 else (done.stderr or done.stdout).strip().split("\n")[0]


class Ccundo(Contender):
    name = "ccundo"

    def install(self, tools: Path) -> None:
        self._directory = _node(tools / "ccundo", "ccundo")

    def version(self) -> str:
        return _node_version(self._directory, "ccundo")

    def count_recorded(self, sandbox: Sandbox) -> int:
        """Count the operations it can undo. It also lists commands, but cannot undo them."""
        listed = self._run(sandbox, "list").stdout
        return sum("] file_" in line for line in listed.splitlines())

    def revert(self, sandbox: Sandbox, call_ids: Sequence[str], target: int) -> str | None:
        done = self._run(sandbox, "undo", "-y", call_ids[target])
        failed = [line for line in done.stdout.splitlines() if "✗" in line]
        return failed[0].strip() if failed else None

    def _run(self, sandbox: Sandbox, *words: str) -> subprocess.CompletedProcess[str]:
        return sandbox.run(str(self._directory / "node_modules" / ".bin" / "ccundo"), *words, check=False)


class Opencode(Contender):
    """Its snapshot, taken by its own command, which needs seconds to start and so is not timed."""

    name = "opencode (snapshot)"
    edits = 10  # its command takes seconds to start
    is_timed = False
    can_revert = False  # its snapshots are restored per message, in its own sessions

    def install(self, tools: Path) -> None:
        self._directory = _node(tools / "opencode", "opencode-ai")
        self._program = str(self._directory / "node_modules" / ".bin" / "opencode")

    def version(self) -> str:
        return _node_version(self._directory, "opencode-ai")

    def start(self, sandbox: Sandbox) -> None:
        self._hashes = sandbox.scratch / "hashes"

    def settings(self, sandbox: Sandbox) -> str | None:
        track = f"{shlex.quote(self._program)} debug snapshot track --pure"
        return hook_after_each_call(f"{track} >> {shlex.quote(str(self._hashes))}")

    def count_recorded(self, sandbox: Sandbox) -> int:
        return len(set(self._hashes.read_text().split())) if self._hashes.exists() else 0


def _virtualenv(directory: Path, packages: list[str], *, dependencies: bool = True) -> Path:
    python = directory / "bin" / "python"
    done = directory / ".installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", directory], check=True, capture_output=True)
        more = [] if dependencies else ["--no-deps"]
        install = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir", *more, *packages]
        subprocess.run(install, check=True, capture_output=True, text=True)
        done.touch()
    return python


def _python_version(python: Path, package: str) -> str:
    code = f"import importlib.metadata; print(importlib.metadata.version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _node(directory: Path, package: str) -> Path:
    if not (directory / "node_modules" / package).exists():
        directory.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--cache", str(directory / "cache")]
        install = ["npm", "install", "--prefix", str(directory), *quiet, package]
        subprocess.run(install, check=True, capture_output=True, text=True)
    return directory


def _node_version(directory: Path, package: str) -> str:
    manifest = directory / "node_modules" / package / "package.json"
    return str(json.loads(manifest.read_text())["version"])
