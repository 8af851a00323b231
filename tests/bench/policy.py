"""Scripts that the analysis finds harmless are run with bash: the forbidden program in them never runs."""

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
    place = Path(tempfile.mkdtemp(prefix="chorus-shells-"))
    try:
        compare(place)
    finally:
        shutil.rmtree(place)


def compare(place: Path) -> None:
    (place / "bin").mkdir()
    (place / "work").mkdir()
    for name, text in (("ok", "exit 0"), ("evil", f": > {place}/EVIL")):
        program = place / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
    spent, ran = 0.0, 0
    for script in scripts(random.Random(time.time_ns()), SCRIPTS):
        begin = time.perf_counter()
        analysed = parse_shell(script)
        spent += time.perf_counter() - begin
        if harmless(analysed):
            ran += 1
            run(script, place)
            assert not (place / "EVIL").exists(), f"the analysis finds nothing in {script!r}"
    print(
        f"{SCRIPTS} scripts, {ran} of them found harmless and run with bash: the forbidden program never ran"
    )
    print(f"one analysis takes {spent / SCRIPTS * 1e3:.2f} ms")


def run(script: str, place: Path) -> None:
    try:
        subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", script],
            env={"PATH": str(place / "bin"), "x": ""},
            cwd=place / "work",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=2,  # an endless loop is an honest script too
        )
    except subprocess.TimeoutExpired:
        return
    for path in (place / "work").iterdir():
        path.unlink()
