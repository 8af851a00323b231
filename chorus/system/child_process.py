"""A program that ends with this process, however that ends.

Gives its input and its output. Closing a control client's input does not always end it: tmux keeps it for as
long as output waits for it, which is for ever once nobody reads, and stops the pane if no other client is
attached. So a shell beside the program waits on a pipe that only this process holds open, and kills the
program when it closes.
"""

import contextlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

# The tether comes as standard error, the one place left. The program is the shell's own child and not
# waited for, so its number is nobody else's when it is killed.
_SHELL = 'exec 3<&0 0<&2 2>/dev/null; "$@" <&3 3<&- & exec 3<&- >&-; read -r _; kill -KILL $!; wait'


@dataclass(frozen=True, slots=True)
class ChildProcess:
    input: int
    output: int
    _shell: subprocess.Popen[bytes]
    _tether: int

    @classmethod
    def start(cls, command: Sequence[str]) -> Self:
        held, tether = os.pipe()
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
            os.close(tether)
            raise
        finally:
            os.close(held)
        assert shell.stdin
        assert shell.stdout
        return cls(shell.stdin.fileno(), shell.stdout.fileno(), shell, tether)

    def close(self) -> None:
        """End the program and wait until it has."""
        assert self._shell.stdin
        assert self._shell.stdout
        with contextlib.suppress(BrokenPipeError):
            self._shell.stdin.close()
        os.close(self._tether)
        self._shell.wait()
        self._shell.stdout.close()
