"""The form of a check, and the checks of the programs Chorus runs: are they there, do they answer."""

import shutil
import subprocess
from dataclasses import dataclass

from chorus.tmux.errors import TmuxMissing
from chorus.tmux.version import OLDEST, is_supported, read_version

# A program that says nothing about itself for this long is not well; the client needs a second or two.
ANSWER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    detail: str
    fix: str | None = None


def check_program(name: str, command: list[str], fix: str) -> Check:
    program = command[0]
    if shutil.which(program) is None:
        return Check(name, False, f"{program} is not on PATH", fix)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        return Check(name, False, f"{program} does not answer within {ANSWER_SECONDS:g} seconds", fix)
    except OSError as error:
        return Check(name, False, f"{program} cannot be started: {error.strerror}", fix)
    return Check(name, done.returncode == 0, (done.stdout or done.stderr).strip().split("\n")[0], fix)


def check_tmux() -> Check:
    oldest = ".".join(map(str, OLDEST))
    fix = f"Install tmux {oldest} or newer: attach, claude and run need it."
    try:
        version = read_version()
    except TmuxMissing:
        return Check("tmux", False, "tmux is not on PATH", fix)
    return Check("tmux", is_supported(version), f"tmux {version}", fix)
