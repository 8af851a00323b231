"""Distort each part of each recorded hook event: none stops a real watcher, and the next edit is recorded."""

import subprocess
import tempfile
import time
from pathlib import Path

from tests.watcher.sources.test_odd_events import check, odd_events


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="chorus-bench-") as directory:
        repo = Path(directory).resolve() / "proj"
        repo.mkdir()
        (repo / "app.py").write_text("x = 1\n")
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            subprocess.run(
                ["git", "-c", "user.name=x", "-c", "user.email=x@y", *command], cwd=repo, check=True
            )
        events = list(odd_events(repo))
        start = time.perf_counter()
        failed, status = check(repo, events)
        seconds = time.perf_counter() - start
    print(f"{len(events):,} events in {seconds:.0f} s: {len(failed)} failed; the edit after them: {status}")
    if failed or status != ["committed"]:
        raise SystemExit(1)
