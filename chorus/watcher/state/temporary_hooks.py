"""Temporary hooks: hooks that are in a settings file only while certain clients run.

They are removed from a file when the last of its clients has ended, and from all files when the watcher
stops. Hooks that the user installed are never removed.
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

# The name of the file in the watcher's directory.
TEMPORARY_HOOKS_FILE = "temporary-hooks.json"


@dataclass(frozen=True, slots=True)
class HookInstallation:
    settings: str
    backups: str
    client: str  # as the roster names it


@dataclass(slots=True)
class TemporaryHooks:
    path: Path
    installations: list[HookInstallation] = field(default_factory=list)
    _problems: dict[str, str] = field(default_factory=dict)  # by settings file; each is logged once

    def load(self) -> None:
        with suppress(FileNotFoundError, ValueError, TypeError):
            self.installations = [HookInstallation(**value) for value in json.loads(self.path.read_bytes())]

    def add(self, installation: HookInstallation, *, installed: bool) -> None:
        """Remember to remove the hooks when the client has ended.

        `installed`: False if the hooks were in the settings file before. Then they may be the user's own, and
        are not removed, unless they are the temporary hooks of another client.
        """
        if installed or any(one.settings == installation.settings for one in self.installations):
            self._save([*self.installations, installation])

    def remove_unused(self, is_running: Callable[[str], bool], setup: Setup) -> None:
        """Uninstall the hooks of settings files whose clients have all ended.

        If that fails, the next call tries again.
        """
        left = [one for one in self.installations if is_running(one.client)]
        used = {one.settings for one in left}
        problems: dict[str, str] = {}
        for one in {one.settings: one for one in self.installations if one.settings not in used}.values():
            try:
                setup.uninstall_hooks(Path(one.settings), backups=Path(one.backups))
            except ChorusError as error:
                problems[one.settings] = str(error)
                if self._problems.get(one.settings) != str(error):
                    log.warning("cannot remove the hooks from %s: %s", one.settings, error)
        self._problems = problems
        left += [one for one in self.installations if one.settings in problems]
        if left != self.installations:
            self._save(left)

    def touch_settings(self, is_young: Callable[[str], bool]) -> None:
        """Touch the settings files of clients that have just started.

        A client reads a settings file, then starts to watch the file. A change in between is missed until the
        file is touched. Observed in client versions 2.1.191 and 2.1.257.
        """
        for settings in {one.settings for one in self.installations if is_young(one.client)}:
            with suppress(OSError):
                os.utime(settings)

    def _save(self, installations: list[HookInstallation]) -> None:
        self.installations = installations
        save_json(self.path, [asdict(one) for one in installations])
