"""The program in the pane of a headless session: feeds the client's standard input, line by line.

The client prints its events on the pane's terminal, where Chorus reads them. What Chorus sends (messages,
control responses) cannot be typed, because a terminal cuts a line at 4,096 bytes and echoes it; so it
comes through a named pipe that only this process reads. The client starts with the first line, so that
nothing is printed before the watcher reads the pane. A line `END` closes the client's input, which lets
it finish and exit; the client's exit code is this process's. A watcher that was killed while it answered a
request cannot know whether it did, so of two answers to one request only the first is passed on.
"""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from chorus.wire.handover import take_environment

END = b"END\n"


def main(arguments: list[str]) -> int:
    pipe, environment, command = Path(arguments[0]), Path(arguments[1]), arguments[2:]
    # Opened for reading and writing: it neither waits for a writer nor ends when a writer closes it.
    source = os.fdopen(os.open(pipe, os.O_RDWR), "rb")
    try:
        return _run(command, take_environment(environment), source)
    finally:
        pipe.unlink(missing_ok=True)


def _run(command: list[str], environment: dict[str, str], source: IO[bytes]) -> int:
    first = source.readline()
    client = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)
    assert client.stdin is not None
    threading.Thread(target=_copy, args=(first, source, client.stdin), daemon=True).start()
    try:
        return client.wait()
    except KeyboardInterrupt:
        return client.wait()  # the client got the interrupt as well, and decides what to do


def _copy(line: bytes, source: IO[bytes], target: IO[bytes]) -> None:
    answered: set[str] = set()
    try:
        while line != END:
            request = answered_by(line)
            if request is None or request not in answered:
                target.write(line)
                target.flush()
            if request is not None:
                answered.add(request)
            line = source.readline()
        target.close()
    except BrokenPipeError:
        pass  # the client exited first


def answered_by(line: bytes) -> str | None:
    """Return the id of the request that this line answers, if it is an answer."""
    if b"control_response" not in line:
        return None
    with suppress(ValueError, TypeError, KeyError):
        message = json.loads(line)
        if message["type"] == "control_response":
            return str(message["response"]["request_id"])
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
