"""The temporary directory of the demo: a repository, a home, and the programs `claude` and `chorus`.

Commands run there inherit only PYTHONPATH and the variables in INHERITED.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from chorus.demo import story
from chorus.errors import ChorusError
from chorus.output import print_err
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import stop

GIT_CONFIG = "[user]\n\tname = Ada Demo\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"
INHERITED = ("PATH", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "COLORTERM", "TMPDIR", "TZ")
# The path of a Unix socket is limited to 103 bytes on macOS, the socket's own name included.
MAX_ROOT_LENGTH = 80
REMOVE_SECONDS = 5.0


class CommandFailed(ChorusError):
    """A command of the story failed."""


class ScratchRepository:
    def __init__(self) -> None:
        root = tempfile.mkdtemp(prefix="chorus-demo-")
        if len(root) > MAX_ROOT_LENGTH:
            Path(root).rmdir()
            root = tempfile.mkdtemp(prefix="chorus-demo-", dir="/tmp")
        self.root = Path(root).resolve()
        self.project = self.root / "greeter"
        self.home = self.root / "home"
        self.programs = self.root / "bin"

    def __enter__(self) -> Self:
        try:
            self._fill()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return {
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            **kept,
            "PATH": f"{self.programs}{os.pathsep}{kept.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join([_import_path(), *filter(None, [os.environ.get("PYTHONPATH")])]),
        }

    def chorus(self, *arguments: str) -> str:
        return self.run([sys.executable, "-P", "-m", "chorus", *arguments])

    def git(self, *arguments: str) -> str:
        return self.run(["git", *arguments])

    def run(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=self.project, env=self.environment(), capture_output=True, text=True
        )
        if done.returncode:
            raise CommandFailed(f"{shlex.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def _fill(self) -> None:
        for directory in (self.project, self.home, self.programs):
            directory.mkdir()
        (self.home / ".gitconfig").write_text(GIT_CONFIG)
        (self.project / "greet.py").write_text(story.GREET)
        (self.project / "README.md").write_text(story.README)
        (self.project / ".gitignore").write_text("__pycache__/\n")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "A program that greets")
        (self.project / "README.md").write_text(story.OWN_README)
        self._write_programs()

    def _write_programs(self) -> None:
        # Chorus recognises the client by its program's name, so the interpreter is started as `claude`. Under
        # that name Python does not find its virtual environment, so it is given the path to import from.
        named = self.programs / "named" / "claude"
        named.parent.mkdir()
        named.symlink_to(sys.executable)
        self._write_program("claude", str(named), "chorus.demo.stand_in", import_from=sys.path)
        self._write_program("chorus", sys.executable, "chorus")

    def _write_program(self, name: str, python: str, module: str, *, import_from: Sequence[str] = ()) -> None:
        command = shlex.join([python, "-P", "-m", module])
        variable = f"PYTHONPATH={shlex.quote(os.pathsep.join(import_from))} " if import_from else ""
        program = self.programs / name
        program.write_text(f'#!/bin/sh\n{variable}exec {command} "$@"\n')
        program.chmod(0o755)

    def _remove(self) -> None:
        if (self.project / ".git").exists():
            _stop_watcher(find_home(self.project))
        deadline = time.monotonic() + REMOVE_SECONDS
        while self.root.exists() and time.monotonic() < deadline:
            # The last programs may still write while they exit.
            shutil.rmtree(self.root, ignore_errors=True)
        if self.root.exists():
            print_err(f"chorus demo: cannot remove {self.root}: something still writes there")


def _stop_watcher(home: Home) -> None:
    """Stop the watcher, and wait at most REMOVE_SECONDS for the end of its process."""
    pid = home.lock.read_text().strip() if home.lock.exists() else ""
    stop(home)
    deadline = time.monotonic() + REMOVE_SECONDS
    with suppress(ProcessLookupError):
        while pid and time.monotonic() < deadline:
            os.kill(int(pid), 0)
            time.sleep(0.01)


def _import_path() -> str:
    """Return the directory that holds this package, so that the demo's programs run the same code."""
    return str(Path(__file__).resolve().parent.parent.parent)
