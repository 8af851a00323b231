"""Which tests run each line of the sources, and how long each takes: what to try on a mutant."""

import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What one mutant may cost: of many tests that run a line, as many as fit into this time. Thousands of rows of
# a table take seconds, and the one row that is about the line may be any of them.
MAX_SECONDS = 40.0
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

    def for_line(self, module: str, line: int) -> list[str]:
        """The tests to try on a mutant of this line.

        In turn, a quick one from as many files as possible, and the one that runs little besides the module:
        where hundreds of tests pass by, that is more likely about it. A line outside all functions runs on
        import: then any test of the module may notice.
        """
        known = self.lines.get(module, {})
        near = range(line, max(0, line - MAX_STATEMENT_LINES), -1)
        found = next((known[each] for each in near if each in known), None)
        if found is None:
            found = list(dict.fromkeys(test for tests in known.values() for test in tests))
        runs = Counter(test for tests in known.values() for test in tests)
        everywhere = self._count_lines()
        about = sorted(found, key=lambda test: -runs[test] / everywhere[test])
        mixed = chain.from_iterable(zip(self._spread(found), about, strict=True))
        chosen: list[str] = []
        seconds = 0.0
        for test in dict.fromkeys(mixed):
            own = self.seconds.get(test, 1.0)
            if seconds + own <= MAX_SECONDS:
                chosen.append(test)
                seconds += own
        return chosen[:MAX_TESTS]

    def _count_lines(self) -> Counter[str]:
        """How many lines each test runs, in all modules."""
        modules = self.lines.values()
        return Counter(test for lines in modules for tests in lines.values() for test in tests)

    def _spread(self, tests: Iterable[str]) -> Iterator[str]:
        """One test of each file, then another of each, and so on."""
        files: dict[str, list[str]] = {}
        for test in sorted(tests, key=lambda test: self.seconds.get(test, 1.0)):
            files.setdefault(test.partition("::")[0], []).append(test)
        for row in zip_longest(*files.values()):
            yield from (test for test in row if test is not None)


def load_selection(folder: Path, rooms: Iterable[str], python: str, jobs: int) -> TestSelection:
    """Read which tests of these rooms run which line. Run the tests of a room once if a file has changed."""
    newest = max(
        file.stat().st_mtime for room in ("chorus", "tests") for file in ROOT.glob(f"{room}/**/*.py")
    )
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, list[str]]] = {}
    for room in rooms:
        place = folder / f"tests-{room}.json"
        if not place.exists() or place.stat().st_mtime < newest:
            print(f"running tests/{room} once, to see which test runs which line ...", flush=True)
            place.write_text(json.dumps(measure(room, python, jobs)))
        data = json.loads(place.read_text())
        tests: list[str] = data["tests"]
        seconds |= dict(zip(tests, data["seconds"], strict=True))
        for module, found in data["lines"].items():
            known = lines.setdefault(module, {})
            for line, indexes in found.items():
                known.setdefault(int(line), []).extend(tests[index] for index in indexes)
    return TestSelection(seconds, lines)


def measure(room: str, python: str, jobs: int) -> dict[str, object]:
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
        command += ["--cov-context=test", "--cov-report=", f"tests/{room}"]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        print(done.stdout[-2000:] if done.returncode else done.stdout.splitlines()[-1], flush=True)
        listed = [json.loads(line) for line in seconds_file.read_text().splitlines()]
        passed = {test: seconds for test, seconds, outcome in listed if outcome == "passed"}
        tests = list(passed)
        program = "import sys; from tests.mutants.selection import print_lines; print_lines(sys.argv[1])"
        printed = subprocess.run(
            [python, "-c", program, str(coverage_file)], cwd=ROOT, capture_output=True, text=True, check=True
        )
    index = {test: number for number, test in enumerate(tests)}
    lines = {
        module: {line: sorted({index[test] for test in own if test in index}) for line, own in found.items()}
        for module, found in json.loads(printed.stdout).items()
    }
    return {"tests": tests, "seconds": [passed[test] for test in tests], "lines": lines}


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
