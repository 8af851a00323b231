"""Which tests run each line of the sources, and how long each takes: what to try on a mutant."""

import ast
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What one mutant may cost: of many tests that run a line, as many as fit into this time. Thousands of rows of
# a table take seconds, and the one row that is about the line may be any of them.
MAX_SECONDS = 90.0
MAX_TESTS = 2500
# Python does not report every line of a statement that spans several: the first of them counts.
MAX_STATEMENT_LINES = 12

SETTINGS = "[run]\nsource = {root}/chorus\ndata_file = {data}\nbranch = false\n"
# A process that a test starts inherits the name that pytest gives the test in its environment.
PROCESS_SETTINGS = f"{SETTINGS}parallel = true\ncontext = ${{{{PYTEST_CURRENT_TEST}}}}\n"
# How coverage of a test is named, by pytest-cov and by pytest: the test, and what part of it runs.
PART_OF_TEST = re.compile(r"(\|(setup|run|teardown)| \((setup|call|teardown)\))$")


@dataclass(frozen=True, slots=True)
class TestSelection:
    seconds: dict[str, float]  # by test: mostly processor time
    lines: dict[str, dict[int, list[str]]]  # the tests that run each line, by module below `chorus/`

    def keep_only(self, tests: Container[str]) -> None:
        for found in chain.from_iterable(each.values() for each in self.lines.values()):
            found[:] = [test for test in found if test in tests]

    def for_line(self, module: str, line: int) -> list[str]:
        """The tests to try on a mutant of this line.

        In turn, a quick one from as many files as possible, and the one that runs little besides the module:
        where hundreds of tests pass by, that is more likely about it. A line outside all function bodies runs
        on import, in the first test that imports the module: then any test of the module may notice.
        """
        known = self.lines.get(module, {})
        near = range(line, max(0, line - MAX_STATEMENT_LINES), -1)
        found = next((known[each] for each in near if each in known), None)
        if found is None or not is_in_function(ROOT / "chorus" / module, line):
            found = list(dict.fromkeys(test for tests in known.values() for test in tests))
        runs = Counter(test for tests in known.values() for test in tests)
        everywhere = self._count_lines()
        about = sorted(found, key=lambda test: -runs[test] / everywhere[test])
        mixed = chain.from_iterable(zip(self._spread(found), about, strict=True))
        chosen: list[str] = []
        seconds = 0.0
        for test in dict.fromkeys(mixed):
            own = self.seconds_of(test)
            if seconds + own <= MAX_SECONDS:
                chosen.append(test)
                seconds += own
        return chosen[:MAX_TESTS]

    def seconds_of(self, test: str) -> float:
        return self.seconds.get(test, 1.0)

    def _count_lines(self) -> Counter[str]:
        """How many lines each test runs, in all modules."""
        modules = self.lines.values()
        return Counter(test for lines in modules for tests in lines.values() for test in tests)

    def _spread(self, tests: Iterable[str]) -> Iterator[str]:
        """One test of each file, then another of each, and so on."""
        files: dict[str, list[str]] = {}
        for test in sorted(tests, key=self.seconds_of):
            files.setdefault(test.partition("::")[0], []).append(test)
        for row in zip_longest(*files.values()):
            yield from (test for test in row if test is not None)


def is_in_function(path: Path, line: int) -> bool:
    """True if the line is in the body of a function. Its defaults and decorators are not."""
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return any(node.body[0].lineno <= line <= (node.end_lineno or 0) for node in functions)


def load_selection(folder: Path, rooms: Iterable[str], python: str, jobs: int) -> TestSelection:
    """Read which tests of these rooms run which line. Test files that have changed are run once before.

    All of them if a source has changed, or what tests share.
    """
    newest = max(file.stat().st_mtime for file in find_shared())
    files: list[str] = []
    for room in rooms:
        found = find_tests(room)
        files += found
        # Room by room, so that a run that is ended keeps what it has.
        stale = [file for file in found if not is_current(folder, file, newest)]
        if stale:
            print(f"running tests/{room} once, to see which test runs which line ...", flush=True)
            for file, measured in measure(stale, python, jobs).items():
                place_of(folder, file).write_text(json.dumps(measured))
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, list[str]]] = {}
    for file in files:
        data = json.loads(place_of(folder, file).read_text())
        tests: list[str] = data["tests"]
        seconds |= dict(zip(tests, data["seconds"], strict=True))
        for module, by_line in data["lines"].items():
            known = lines.setdefault(module, {})
            for line, indexes in by_line.items():
                known.setdefault(int(line), []).extend(tests[index] for index in indexes)
    return TestSelection(seconds, lines)


def find_tests(room: str) -> list[str]:
    """The test files of a room, or the one that is named."""
    place = ROOT / "tests" / room
    files = [place] if place.is_file() else sorted(place.rglob("test_*.py"))
    return [file.relative_to(ROOT).as_posix() for file in files]


def place_of(folder: Path, file: str) -> Path:
    return folder / f"{file.removesuffix('.py').replace('/', '-')}.json"


def find_shared() -> Iterator[Path]:
    yield from ROOT.glob("chorus/**/*.py")
    for file in ROOT.glob("tests/**/*.py"):
        if not file.name.startswith("test_") and file.parent != Path(__file__).parent:
            yield file


def is_current(folder: Path, file: str, newest: float) -> bool:
    """Whether a test file was run after it has changed, and after that time."""
    place = place_of(folder, file)
    return place.exists() and place.stat().st_mtime > max(newest, (ROOT / file).stat().st_mtime)


def measure(files: Sequence[str], python: str, jobs: int) -> dict[str, dict[str, object]]:
    """By test file: its tests, their times, and which of them run which line."""
    with tempfile.TemporaryDirectory() as scratch:
        settings, process_settings = Path(scratch) / "coveragerc", Path(scratch) / "process-coveragerc"
        coverage_file, seconds_file = Path(scratch) / "coverage", Path(scratch) / "seconds.jsonl"
        settings.write_text(SETTINGS.format(root=ROOT, data=coverage_file))
        process_settings.write_text(PROCESS_SETTINGS.format(root=ROOT, data=coverage_file))
        environment = os.environ | {
            "COVERAGE_FILE": str(coverage_file),
            "MUTANTS_TEST_SECONDS": str(seconds_file),
            "MUTANTS_PROCESS_SETTINGS": str(process_settings),
            "CHORUS_HISTORIES": "3",
            "CHORUS_LINE_HISTORIES": "8",
            "CHORUS_MODEL_EXAMPLES": "3",
        }
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutants.plugin"]
        command += ["-n", str(jobs), "-m", "not client", "--cov", f"--cov-config={settings}"]
        command += ["--cov-context=test", "--cov-report=", *files]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        print(done.stdout[-2000:] if done.returncode else done.stdout.splitlines()[-1], flush=True)
        listed = [json.loads(line) for line in seconds_file.read_text().splitlines()]
        passed = {test: seconds for test, seconds, outcome in listed if outcome == "passed"}
        program = "import sys; from tests.mutants.selection import print_lines; print_lines(sys.argv[1])"
        printed = subprocess.run(
            [python, "-c", program, str(coverage_file)], cwd=ROOT, capture_output=True, text=True, check=True
        )
    return split_by_file(files, passed, json.loads(printed.stdout))


def split_by_file(
    files: Sequence[str], passed: dict[str, float], lines: dict[str, dict[str, list[str]]]
) -> dict[str, dict[str, object]]:
    tests: dict[str, list[str]] = {file: [] for file in files}
    place: dict[str, tuple[str, int]] = {}
    for test in passed:
        file = test.partition("::")[0]
        place[test] = file, len(tests[file])
        tests[file].append(test)
    own: dict[str, dict[str, dict[str, list[int]]]] = {file: {} for file in files}
    for module, found in lines.items():
        for line, names in found.items():
            for file, index in (place[name] for name in names if name in place):
                own[file].setdefault(module, {}).setdefault(line, []).append(index)
    return {
        file: {"tests": own_tests, "seconds": [passed[test] for test in own_tests], "lines": own[file]}
        for file, own_tests in tests.items()
    }


def print_lines(file: str) -> None:
    """Print the tests that run each line, as JSON. Runs where coverage is installed."""
    from coverage import CoverageData  # noqa: PLC0415  not installed where mutants are made

    data = CoverageData(file)
    data.read()
    found: dict[str, dict[int, list[str]]] = {}
    for name in data.measured_files():
        module = Path(name).relative_to(ROOT / "chorus").as_posix()
        by_line = data.contexts_by_lineno(name)
        found[module] = {
            line: sorted({PART_OF_TEST.sub("", context) for context in contexts if context})
            for line, contexts in by_line.items()
            if any(contexts)
        }
    print(json.dumps(found))
