"""Change one operator at a time in a copy of the sources, and see whether the tests notice.

`make mutants` picks 100 mutants at random (`N=`, `SEED=`, `AREA=`); cosmic-ray makes them. Several are tried
at once (`JOBS=`), each with tests that run its line, in their own process or in one they start
(`selection.py`), until one fails twice. What survives is printed as a diff.
"""

import argparse
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tests.mutants.selection import TestSelection, load_selection
from tests.mutants.targets import EQUIVALENT, EQUIVALENT_KINDS, ROOMS, TARGETS

ROOT = Path(__file__).resolve().parents[2]
# What a test run needs.
COPIED = ("chorus", "tests", "fixtures", "hooks", "docs", "pyproject.toml", "README.md", "Makefile")
# A type annotation is no behaviour, and a class without its decorator does not even load.
NOT_TRIED = ("core/ReplaceBinaryOperator_BitOr_", "core/RemoveDecorator")
# One process, which keeps nothing for the next run.
PLAIN = ("-p", "no:cacheprovider", "-p", "no:xdist")
WITH_ARGUMENTS = ("core/VariableReplacer", "core/VariableInserter")
# A loop without end is found by its processor time, far more than the tests need: by the clock, a busy
# machine would catch every mutant. Only where a test waits for what never comes, the clock decides, and the
# result says so.
FREE_PROCESSOR_SECONDS = 20
MAX_SLOWER = 3
TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Mutant:
    area: str
    module: str  # below `chorus/`
    line: int
    operator: str
    code: str

    def diff(self) -> str:
        old = (ROOT / "chorus" / self.module).read_text().splitlines()
        lines = difflib.unified_diff(old, self.code.splitlines(), self.module, self.operator, "", "", 1, "")
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--area", choices=TARGETS, action="append")
    parser.add_argument("--module", help="mutate only modules whose path contains this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the tests")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    areas = options.area or list(TARGETS)
    rooms = dict.fromkeys(room for area in areas for room in ROOMS[area])
    selection = load_selection(ROOT / ".mutants", rooms, options.python, options.jobs)
    rng = random.Random(options.seed)
    chosen = choose(areas, options.count, rng, options.module or "")
    caught: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            trees.put(copy_sources(Path(scratch) / str(number), options.python))
            # This compiles the tests too. One that is not found by its name would fail with any mutant.
            selection.keep_only(collect_tests(Path(scratch) / str(number), rooms, options.python))
        started = time.perf_counter()
        for mutant, end in pool.map(
            lambda each: (each, try_one(each, trees, options.python, selection)), chosen
        ):
            caught[mutant.area] += end != "SURVIVED"
            seconds = time.perf_counter() - started
            print(f"{seconds:5.0f} s  {end}  {mutant.module}:{mutant.line} {mutant.operator}", flush=True)
            if end == "SURVIVED":
                print(mutant.diff(), flush=True)
    totals = Counter(mutant.area for mutant in chosen)
    for area in areas:
        print(f"  {area:<10} {caught[area]} of {totals[area]}")
    print(f"  caught {caught.total()} of {len(chosen)} mutants (seed {options.seed})")
    return 0 if caught.total() * 10 >= len(chosen) * 9 else 1


def choose(areas: list[str], count: int, rng: random.Random, part: str) -> list[Mutant]:
    """Pick as many mutants from each area; of each place in the code at most one."""
    found: list[Mutant] = []
    for index, area in enumerate(areas):
        wanted = count // len(areas) + (index < count % len(areas))
        places: dict[tuple[str, int, int], list[tuple[str, int, str]]] = {}
        for module in TARGETS[area]:
            if part in module:
                for place, operator, occurrence in list_mutations(module):
                    places.setdefault((module, *place), []).append((operator, occurrence, module))
        order = sorted(places)
        rng.shuffle(order)
        made = (make(area, place[1], *rng.choice(places[place])) for place in order)
        found += [mutant for _, mutant in zip(range(wanted), filter(None, made), strict=False)]
    return found


def list_mutations(module: str) -> Iterator[tuple[tuple[int, int], str, int]]:
    """Every change cosmic-ray can make in a module: its place, the operator, and which use of it this is."""
    names = [name for name in operator_names() if not name.startswith(NOT_TRIED)]
    operators = [(name, get_operator(name)()) for name in names if not name.startswith(WITH_ARGUMENTS)]
    counts: Counter[str] = Counter()
    for node in ast_nodes(get_ast((ROOT / "chorus" / module).read_text())):
        for name, operator in operators:
            for start, _ in operator.mutation_positions(node):
                yield start, name, counts[name]
                counts[name] += 1


def make(area: str, line: int, operator: str, occurrence: int, module: str) -> Mutant | None:
    """The mutated code; None if it does not even compile, or says how a class is made."""
    source = (ROOT / "chorus" / module).read_text()
    if source.splitlines()[line - 1].startswith("@dataclass"):
        return None
    if is_equivalent(module, source.splitlines()[line - 1].strip(), operator):
        return None
    code = mutate_code(source, get_operator(operator)(), occurrence)
    try:
        compile(code or "", module, "exec")
    except SyntaxError:
        return None
    return Mutant(area, module, line, operator, code) if code and code != source else None


def is_equivalent(module: str, line: str, operator: str) -> bool:
    """Whether this mutant is known to change nothing anybody could see."""
    kinds = (re.fullmatch(pattern, line) for kind, pattern in EQUIVALENT_KINDS if kind == operator)
    return (module, line, operator) in EQUIVALENT or any(kinds)


def copy_sources(folder: Path, python: str) -> Path:
    """Copy what the tests need, and compile it: otherwise each process of each run would compile it again."""
    folder.mkdir()
    for name in COPIED:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(place, folder / name)
    subprocess.run([python, "-m", "compileall", "-q", "chorus"], cwd=folder, check=True)
    return folder


def collect_tests(tree: Path, rooms: Iterable[str], python: str) -> set[str]:
    command = [python, "-m", "pytest", "-q", "--collect-only", *PLAIN, *(f"tests/{room}" for room in rooms)]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


def try_one(mutant: Mutant, trees: "SimpleQueue[Path]", python: str, selection: TestSelection) -> str:
    """What becomes of a mutant: "caught", "caught: no end", or "SURVIVED"."""
    tree = trees.get()
    tests = selection.for_line(mutant.module, mutant.line)
    if not tests:
        trees.put(tree)
        return "SURVIVED"
    place = tree / "chorus" / mutant.module
    original, times = place.read_text(), place.stat()
    place.write_text(mutant.code)
    limit = int(FREE_PROCESSOR_SECONDS + MAX_SLOWER * sum(map(selection.seconds_of, tests)))
    command = ["sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", python, "-m", "pytest"]
    command += ["-x", "-q", "--no-header", "--reruns=1", *PLAIN]
    environment = os.environ | {
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CHORUS_HISTORIES": "3",
        "CHORUS_LINE_HISTORIES": "8",
        "CHORUS_MODEL_EXAMPLES": "3",
    }
    try:
        done = subprocess.run(
            [*command, *tests], cwd=tree, env=environment, capture_output=True, timeout=TIMEOUT_SECONDS
        )
        return "caught" if done.returncode else "SURVIVED"
    except subprocess.TimeoutExpired:
        return "caught: no end"
    finally:
        place.write_text(original)
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))  # what is compiled is valid again
        trees.put(tree)


if __name__ == "__main__":
    sys.exit(main())
