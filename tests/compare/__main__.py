"""`python -m tests.compare [--edits N] [--write]`: everyone, the same edits, one table."""

import argparse
import subprocess
import sys
from pathlib import Path

from tests.compare.contenders import Chorus, Contender, GitPerEdit
from tests.compare.measuring import Row, measure
from tests.compare.playing import ROOT
from tests.compare.rivals import Aider, Ccundo, Opencode, Stepback
from tests.compare.table import put_into, render

PAGE = ROOT / "docs" / "benchmarks.md"
TOOLS = ROOT / ".compare"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.compare")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--files", type=int, nargs="+", default=[100, 5000, 50000])
    parser.add_argument("--only", nargs="+", help="only contenders whose name contains one of these")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    args = parser.parse_args()
    rows = [_measured(contender, args.files, args.edits) for contender in _chosen(args.only)]
    text = render(rows, args.files, args.edits)
    print(text)
    if args.write:
        put_into(PAGE, text)


def _chosen(only: list[str] | None) -> list[Contender]:
    everyone: list[Contender] = [Chorus(), GitPerEdit(), Aider(), Stepback(), Ccundo(), Opencode()]
    return [c for c in everyone if not only or any(word.lower() in c.name.lower() for word in only)]


def _measured(contender: Contender, sizes: list[int], edits: int) -> Row:
    print(f"{contender.name} …", file=sys.stderr, flush=True)
    try:
        contender.install(TOOLS)
    except FileNotFoundError as error:
        return Row(contender.name, missing=f"{Path(str(error.filename)).name} is not installed here")
    except subprocess.CalledProcessError as error:
        reason = str(error.stderr or "").strip().splitlines()
        return Row(contender.name, missing=f"it cannot be installed here ({reason[-1] if reason else error})")
    return measure(contender, sizes, edits)


if __name__ == "__main__":
    main()
