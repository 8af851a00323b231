"""`python -m tests.compare [--edits N] [--felt] [--write]`: run all tools with the same edits."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.compare.contenders import Chorus, Contender, GitPerEdit
from tests.compare.felt_cost import ROUNDS, run_felt
from tests.compare.measurements import Row, check_correctness, measure_cost
from tests.compare.other_tools import Aider, Ccundo, Opencode, Stepback
from tests.compare.session import ROOT
from tests.compare.table import COMPARED, FELT, insert_into, render

PAGE = ROOT / "docs" / "benchmarks.md"
TOOLS = ROOT / ".compare"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.compare")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--files", type=int, nargs="+", default=[100, 20000])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of six edits, in the real client")
    parser.add_argument("--felt", action="store_true", help="only what an edit costs in the real client")
    parser.add_argument("--only", nargs="+", help="only contenders whose name contains one of these")
    parser.add_argument("--write", action="store_true", help=f"write the table to {PAGE.name}")
    args = parser.parse_args()
    if not args.only:
        felt = run_felt(args.files, args.rounds)
        print(felt)
        if args.write:
            insert_into(PAGE, FELT, felt)
    if args.felt:
        return
    rows = {contender: _install(contender) for contender in _select(args.only)}
    for contender, row in rows.items():
        print(f"{contender.name} …", file=sys.stderr, flush=True)
        _try(row, partial(measure_cost, contender, row, args.files, args.edits))
    with ThreadPoolExecutor(len(rows)) as pool:
        for contender, row in rows.items():
            pool.submit(_try, row, partial(check_correctness, contender, row))
    text = render(list(rows.values()), args.files, args.edits)
    print(text)
    if args.write:
        insert_into(PAGE, COMPARED, text)


def _select(only: list[str] | None) -> list[Contender]:
    contenders: list[Contender] = [Chorus(), GitPerEdit(), Aider(), Stepback(), Ccundo(), Opencode()]
    return [c for c in contenders if not only or any(word.lower() in c.name.lower() for word in only)]


def _install(contender: Contender) -> Row:
    try:
        contender.install(TOOLS)
        return Row(contender.name, contender.version())
    except FileNotFoundError as error:
        return Row(contender.name, missing=f"{Path(str(error.filename)).name} is not installed here")
    except subprocess.CalledProcessError as error:
        reason = str(error.stderr or "").strip().splitlines()
        return Row(contender.name, missing=f"cannot be installed here ({reason[-1] if reason else error})")


def _try(row: Row, work: Callable[[], None]) -> None:
    """Run the work unless the contender already failed; a failure is reported below the table."""
    if row.missing is None:
        try:
            work()
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            row.missing = f"failed: {error}"


if __name__ == "__main__":
    main()
