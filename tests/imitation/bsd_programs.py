"""Programs of the system that take only the options of their macOS namesakes, then do the same.

Imitates which options exist. Does not imitate differences in output.
"""

import os
import shutil
import sys
from pathlib import Path

# As getopts has them. macOS's sleep takes fractions; `WHOLE_SECONDS` is what POSIX promises.
OPTIONS = {
    "cat": "belnstuv",
    "date": "jnRuf:r:v:z:I:",
    "head": "c:n:",
    "ps": "AaCcEefhjlMmrSTvwXxO:o:p:t:U:u:G:g:",
    "readlink": "fn",
    "sleep": "",
    "stat": "FLnqf:lrsxt:",
}
PROGRAM = """#!/bin/sh
while getopts '{options}' option; do [ "$option" != '?' ] || exit 64; done 2>/dev/null
exec {program} "$@"
"""
WHOLE_SECONDS = """#!/bin/sh
case $1 in *[!0-9]*) echo 'usage: sleep seconds' >&2; exit 64 ;; esac
exec {program} "$1"
"""
# macOS's sed takes the next word for the suffix of the copy, where GNU's takes none.
SED = """#!/bin/sh
case $1 in
  -i) [ -z "$2" ] || exit 64; shift 2; exec {program} -i "$@" ;;
  --*) exit 64 ;;
esac
exec {program} "$@"
"""


# `ps` without /proc, for what Chorus and its hook program ask: `ps -o COLUMN= -p PID`.
PS = """#!/bin/sh
[ "$1" = -o ] && [ "$3" = -p ] || exit 64
IFS= read -r line <"{proc}/$4/stat" || exit 1
set -- "$2" ${{line##*) }}
case $1 in
  tpgid=) echo "$7" ;;
  comm=) line=${{line#*(}}; echo "/bin/${{line%%)*}}" ;;
  *) exit 64 ;;
esac
"""


def write_programs(directory: Path, *, whole_seconds: bool = False) -> Path:
    """Write the programs into a directory that can go first on PATH."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, options in OPTIONS.items():
        text = WHOLE_SECONDS if name == "sleep" and whole_seconds else PROGRAM
        path = directory / name
        path.write_text(text.format(options=options, program=shutil.which(name)))
        path.chmod(0o755)
    (directory / "sed").write_text(SED.format(program=shutil.which("sed")))
    (directory / "sed").chmod(0o755)
    if proc := os.environ.get("IMITATE_PROC"):
        (directory / "ps").write_text(PS.format(proc=proc))
    return directory


if __name__ == "__main__":
    write_programs(Path(sys.argv[1]))
