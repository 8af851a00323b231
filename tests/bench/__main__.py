"""Run the benchmarks: all of them, or those named on the command line."""

import importlib
import pkgutil
import sys
import traceback

import tests.bench


def main(names: list[str]) -> int:
    known = sorted(
        module.name for module in pkgutil.iter_modules(tests.bench.__path__) if module.name[0] != "_"
    )
    failed = []
    for name in names or known:
        module = importlib.import_module(f"tests.bench.{name}")
        print(f"\n== {name}: {(module.__doc__ or '').strip().splitlines()[0]}", flush=True)
        try:
            module.main()
        except Exception:  # noqa: BLE001  the next benchmark still runs
            traceback.print_exc()
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
