"""A child process that ends with this process, even if this one is killed.

Closing the input of a tmux control client does not always end it: tmux keeps the client as long as output
waits for it, which is forever once the reader is gone, and stops the pane if no other client is attached. So
a second shell process waits on a pipe that only this process holds open, and kills the program when the
pipe closes.
"""

import contextlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

# The pipe comes as standard error, the one descriptor left. The shell does not wait for the program before it
# kills it, so the process id cannot have been reused.
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
