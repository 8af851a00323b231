"""Hooks lent to a client that runs already: put into a settings file for as long as that client runs.

Remembers on disk which file, for which client. Takes the hooks out again when the last client they were
lent for is gone, also if an agent was killed in between. What the person installed is never taken out.
"""

import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from chorus.agents.claude_code.settings.files import uninstall_hooks
from chorus.errors import ChorusError
from chorus.watcher.state.files import keep

log = logging.getLogger("chorus.watcher")

# The file in the agent's home.
LENT = "lent.json"


@dataclass(frozen=True, slots=True)
class Loan:
    settings: str
    backups: str
    client: str  # as the roster names it


@dataclass(slots=True)
class Lending:
    path: Path
    loans: list[Loan] = field(default_factory=list)

    def load(self) -> None:
        """What an earlier agent lent. A damaged file means: nothing."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            self.loans = [Loan(**value) for value in json.loads(self.path.read_bytes())]

    def lend(self, loan: Loan, *, installed: bool) -> None:
        """`installed`: the hooks were put in for this; otherwise they count only if they are lent already."""
        if installed or any(one.settings == loan.settings for one in self.loans):
            self._keep([*self.loans, loan])

    def take_back(self, runs: Callable[[str], bool]) -> None:
        """Take out what nobody runs for any more."""
        left = [loan for loan in self.loans if runs(loan.client)]
        wanted = {loan.settings for loan in left}
        for loan in {loan.settings: loan for loan in self.loans if loan.settings not in wanted}.values():
            try:
                uninstall_hooks(Path(loan.settings), backups=Path(loan.backups))
            except ChorusError as error:
                log.warning("hooks stay in %s: %s", loan.settings, error)
        if left != self.loans:
            self._keep(left)

    def remind(self, is_young: Callable[[str], bool]) -> None:
        """Have clients that have only just started look at their settings.

        They begin to watch the files some time after they have read them; what is written in between is not
        seen until the file is touched again (2.1.191, 2.1.257).
        """
        for settings in {loan.settings for loan in self.loans if is_young(loan.client)}:
            with suppress(OSError):
                os.utime(settings)

    def _keep(self, loans: list[Loan]) -> None:
        self.loans = loans
        keep(self.path, [asdict(loan) for loan in loans])
