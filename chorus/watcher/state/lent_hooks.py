"""Hooks lent to a running client: installed in a settings file for as long as that client runs.

Saves which file was changed for which client. Removes the hooks when the last of those clients has ended,
also after a watcher was killed. Hooks that the user installed are never removed.
"""

import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from chorus.agents.interface import Setup
from chorus.errors import ChorusError
from chorus.watcher.state.files import save_json

log = logging.getLogger("chorus.watcher")

# The file in the watcher's directory.
LENT_FILE = "lent.json"


@dataclass(frozen=True, slots=True)
class HookLoan:
    settings: str
    backups: str
    client: str  # as the roster names it


@dataclass(slots=True)
class LentHooks:
    path: Path
    loans: list[HookLoan] = field(default_factory=list)

    def load(self) -> None:
        """Read what an earlier watcher lent. A damaged file counts as empty."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            self.loans = [HookLoan(**value) for value in json.loads(self.path.read_bytes())]

    def lend(self, loan: HookLoan, *, installed: bool) -> None:
        """Remember a loan. `installed`: the hooks were installed for it, and are not the user's own."""
        if installed or any(one.settings == loan.settings for one in self.loans):
            self._save([*self.loans, loan])

    def remove_unused(self, is_running: Callable[[str], bool], setup: Setup) -> None:
        """Uninstall the hooks of settings files whose clients have all ended."""
        left = [loan for loan in self.loans if is_running(loan.client)]
        used = {loan.settings for loan in left}
        for loan in {loan.settings: loan for loan in self.loans if loan.settings not in used}.values():
            try:
                setup.uninstall_hooks(Path(loan.settings), backups=Path(loan.backups))
            except ChorusError as error:
                log.warning("hooks stay in %s: %s", loan.settings, error)
        if left != self.loans:
            self._save(left)

    def touch_settings(self, is_young: Callable[[str], bool]) -> None:
        """Touch the settings files of clients that have just started.

        A client begins to watch the files some time after it has read them; what is written in between is not
        seen until the file is touched again (2.1.191, 2.1.257).
        """
        for settings in {loan.settings for loan in self.loans if is_young(loan.client)}:
            with suppress(OSError):
                os.utime(settings)

    def _save(self, loans: list[HookLoan]) -> None:
        self.loans = loans
        save_json(self.path, [asdict(loan) for loan in loans])
