"""A child process that ends when this process ends, even if this process is killed.

A shell starts the program and waits on a pipe that only this process holds open. When the pipe closes, the
shell kills the program. Closing the input of a tmux control client is not enough: tmux keeps the client until
all output is read.
"""

import contextlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

# The shell gets the pipe as standard error, because standard input and output are for the program. The shell
# kills the program before it waits for it, so the program's process id cannot have been reused.
_SHELL = 'exec 3<&0 0<&2 2>/dev/null; "$@" <&3 3<&- & exec 3<&- >&-; read -r _; kill -KILL $!; wait'


@dataclass(frozen=True, slots=True)
class ChildProcess:
    input: int
    output: int
    _shell: subprocess.Popen[bytes]
    _lifeline: int

    @classmethod
    def start(cls, command: Sequence[str]) -> Self:
        held, lifeline = os.pipe()
        try:
            # TMUX would make tmux refuse to attach from inside one of its own panes.
            environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
            shell = subprocess.Popen(
                ["sh", "-c", _SHELL, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=held,
                env=environment,
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(held)
        assert shell.stdin
        assert shell.stdout
        return cls(shell.stdin.fileno(), shell.stdout.fileno(), shell, lifeline)

    def close(self) -> None:
        """End the program and wait for it."""
        assert self._shell.stdin
        assert self._shell.stdout
        with contextlib.suppress(BrokenPipeError):
            self._shell.stdin.close()
        os.close(self._lifeline)
        self._shell.wait()
        self._shell.stdout.close()
