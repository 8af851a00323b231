"""Run with bash the scripts that the analysis finds harmless: the forbidden program in them never runs."""

import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from chorus.policy.shell import parse_shell
from tests.shells import harmless, scripts

SCRIPTS = 40_000


def main() -> None:
    scratch = Path(tempfile.mkdtemp(prefix="chorus-shells-"))
    try:
        check_scripts(scratch)
    finally:
        shutil.rmtree(scratch)


def check_scripts(scratch: Path) -> None:
    (scratch / "bin").mkdir()
    (scratch / "work").mkdir()
    for name, text in (("ok", "exit 0"), ("evil", f": > {scratch}/EVIL")):
        program = scratch / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
    spent, ran = 0.0, 0
    for script in scripts(random.Random(time.time_ns()), SCRIPTS):
        started = time.perf_counter()
        analysed = parse_shell(script)
        spent += time.perf_counter() - started
        if harmless(analysed):
            ran += 1
            run(script, scratch)
            assert not (scratch / "EVIL").exists(), f"the analysis missed the program in {script!r}"
    print(f"{SCRIPTS} scripts, {ran} found harmless and run with bash: the forbidden program never ran")
    print(f"one analysis takes {spent / SCRIPTS * 1e3:.2f} ms")


def run(script: str, scratch: Path) -> None:
    try:
        subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", script],
            env={"PATH": str(scratch / "bin"), "x": ""},
            cwd=scratch / "work",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=2,  # a harmless script may loop forever
        )
    except subprocess.TimeoutExpired:
        return
    for path in (scratch / "work").iterdir():
        path.unlink()
