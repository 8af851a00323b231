"""`python -m tests.compare [--edits N] [--write]`: everyone, the same edits, one table."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.compare.contenders import Chorus, Contender, GitPerEdit
from tests.compare.measuring import Row, judge, measure_cost
from tests.compare.playing import ROOT
from tests.compare.rivals import Aider, Ccundo, Opencode, Stepback
from tests.compare.table import put_into, render

PAGE = ROOT / "docs" / "benchmarks.md"
TOOLS = ROOT / ".compare"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.compare")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--files", type=int, nargs="+", default=[100, 20000])
    parser.add_argument("--only", nargs="+", help="only contenders whose name contains one of these")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    args = parser.parse_args()
    rows = {contender: _installed(contender) for contender in _chosen(args.only)}
    for contender, row in rows.items():
        print(f"{contender.name} …", file=sys.stderr, flush=True)
        _attempt(row, partial(measure_cost, contender, row, args.files, args.edits))
    with ThreadPoolExecutor(len(rows)) as pool:
        for contender, row in rows.items():
            pool.submit(_attempt, row, partial(judge, contender, row))
    text = render(list(rows.values()), args.files, args.edits)
    print(text)
    if args.write:
        put_into(PAGE, text)


def _chosen(only: list[str] | None) -> list[Contender]:
    everyone: list[Contender] = [Chorus(), GitPerEdit(), Aider(), Stepback(), Ccundo(), Opencode()]
    return [c for c in everyone if not only or any(word.lower() in c.name.lower() for word in only)]


def _installed(contender: Contender) -> Row:
    try:
        contender.install(TOOLS)
        return Row(contender.name, contender.version())
    except FileNotFoundError as error:
        return Row(contender.name, missing=f"{Path(str(error.filename)).name} is not installed here")
    except subprocess.CalledProcessError as error:
        reason = str(error.stderr or "").strip().splitlines()
        return Row(contender.name, missing=f"it cannot be installed here ({reason[-1] if reason else error})")


def _attempt(row: Row, work: Callable[[], None]) -> None:
    """Unless it is out already; what goes wrong is said in the table's place for it."""
    if row.missing is None:
        try:
            work()
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            row.missing = f"it stopped: {error}"


if __name__ == "__main__":
    main()
