"""`chorus --version` and `--help`, compared with Python that does nothing; the target is 3 times that."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROUNDS = 30
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "chorus --version": ["-m", "chorus", "--version"],
    "chorus --help": ["-m", "chorus", "--help"],
}


def main() -> None:
    measured: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, words in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            measured[name].append(time.perf_counter() - started)
    floor = statistics.median(measured["python -c pass"])
    for name, times in measured.items():
        median = statistics.median(times)
        print(f"{name:<20} {median * 1000:7.1f} ms  {median / floor:5.2f}")


if __name__ == "__main__":
    main()
