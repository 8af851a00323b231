"""Runs in the pane of a headless session: gives the client its standard input, line by line.

The client prints its events on the pane's terminal, where Chorus reads them. What Chorus sends (messages,
control responses) cannot be typed, because a terminal cuts a line at 4,096 bytes and echoes it; so it
comes through a named pipe that only this process reads. A line that says `END` closes the client's
input, which lets it finish and leave; the client's exit code is this process's.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

END = b"END\n"


def main(arguments: list[str]) -> int:
    pipe, command = Path(arguments[0]), arguments[1:]
    # Opened for reading and writing: it neither waits for a writer nor ends when one leaves.
    source = os.fdopen(os.open(pipe, os.O_RDWR), "rb")
    client = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert client.stdin is not None
    threading.Thread(target=_copy, args=(source, client.stdin), daemon=True).start()
    try:
        return client.wait()
    except KeyboardInterrupt:
        return client.wait()  # the client got the interrupt as well, and decides
    finally:
        pipe.unlink(missing_ok=True)


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    try:
        while (line := source.readline()) != END:
            target.write(line)
            target.flush()
        target.close()
    except BrokenPipeError:
        pass  # the client left first


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
