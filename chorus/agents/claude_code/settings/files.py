"""Add Chorus's hooks to the client's settings files, and remove them again.

A file that cannot be parsed is left alone. A symlink stays a symlink. A changed file is backed up first.
"""

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chorus.agents.claude_code.settings.hook_entries import (
    HookGroups,
    SettingsUnreadable,
    add_hooks,
    find_hooks,
    remove_hooks,
)
from chorus.agents.interface import HookStatus, SettingsChange, SettingsScope
from chorus.errors import ChorusError
from chorus.system.files.atomic_file import replace_file
from chorus.system.files.private_files import make_private


class SettingsNotWritten(ChorusError):
    """A settings file cannot be read or written."""

    hint = "Make the file and its directory readable and writable, then run the command again."


def locate_settings(scope: SettingsScope, environment: Mapping[str, str], work_tree: Path | None) -> Path:
    if scope is SettingsScope.USER:
        directory = environment.get("CLAUDE_CONFIG_DIR")
        home = environment.get("HOME") or Path.home()
        return (Path(directory) if directory else Path(home) / ".claude") / "settings.json"
    if work_tree is None:
        raise ChorusError("not in a git repository", hint="Run this inside one, or use --user.")
    name = "settings.json" if scope is SettingsScope.PROJECT else "settings.local.json"
    return work_tree / ".claude" / name


def backup_directory() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "chorus" / "backups"


def install_hooks(path: Path, groups: HookGroups, *, backups: Path) -> SettingsChange:
    """Make these Chorus's only hooks in the file; create the file if it is missing."""
    before = _read(path)
    with _with_path(path):
        after = add_hooks(before, groups)
    return _write(path, before, after, backups)


def uninstall_hooks(path: Path, *, backups: Path) -> SettingsChange:
    """Remove Chorus's hooks, and the file if it was created for them."""
    before = _read(path)
    with _with_path(path):
        after = None if before is None else remove_hooks(before)
    return _write(path, before, after, backups)


def read_hook_status(scope: SettingsScope, path: Path, groups: HookGroups) -> HookStatus:
    try:
        found = find_hooks(_read(path) or "")
    except SettingsUnreadable as error:
        return HookStatus(scope, path, (), False, str(error))
    return HookStatus(scope, path, tuple(found), found == groups, None)


@contextmanager
def _with_path(path: Path) -> Iterator[None]:
    try:
        yield
    except SettingsUnreadable as error:
        raise SettingsUnreadable(f"{path}: {error}") from error


def _read(path: Path) -> str | None:
    try:
        # As bytes: reading text would convert its line ends.
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingsUnreadable(f"{path} is not UTF-8: {error}") from error
    except OSError as error:
        raise SettingsNotWritten(f"cannot read {path}: {error.strerror}") from error


def _write(path: Path, before: str | None, after: str | None, backups: Path) -> SettingsChange:
    if before == after:
        return SettingsChange(path, False, None)
    real = Path(os.path.realpath(path))
    try:
        backup = _back_up(path, before, backups) if before is not None else None
        if after is None:
            real.unlink()
            _remove_created_directory(path, real.parent, backups)
        else:
            if before is None:
                _create_directory(path, real.parent, backups)
            _replace(real, after.encode(), expected=None if before is None else before.encode())
    except OSError as error:
        raise SettingsNotWritten(f"cannot write {path}: {error.strerror or error}") from error
    return SettingsChange(path, True, backup)


def _back_up(path: Path, content: str, backups: Path) -> Path:
    make_private(backups)
    backup = backups / f"{_flat_name(path)}.{secrets.token_hex(4)}"
    replace_file(backup, content.encode(), mode=0o600)
    return backup


def _replace(path: Path, content: bytes, *, expected: bytes | None) -> None:
    """Replace the file. Raises SettingsNotWritten if it no longer has the `expected` content."""

    def check() -> None:
        if expected is not None and path.read_bytes() != expected:
            raise SettingsNotWritten(
                f"{path} was changed by another program in the meantime", hint="Run the command again."
            )

    replace_file(path, content, check=check)


def _create_directory(path: Path, directory: Path, backups: Path) -> None:
    """Create the directory of a settings file if it is missing, and remember that Chorus created it."""
    mark = _created_mark(path, backups)
    if directory.exists():
        mark.unlink(missing_ok=True)  # the mark of an earlier directory, which was removed by hand
        return
    directory.mkdir(parents=True)
    make_private(backups)
    mark.touch(0o600)


def _remove_created_directory(path: Path, directory: Path, backups: Path) -> None:
    """Remove the directory of a removed settings file, if Chorus created the directory and it is empty."""
    mark = _created_mark(path, backups)
    if mark.exists():
        mark.unlink()
        if not any(directory.iterdir()):
            directory.rmdir()


def _created_mark(path: Path, backups: Path) -> Path:
    # Two paths may have the same flat name.
    digest = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]
    return backups / f"{_flat_name(path)}.{digest}.created"


def _flat_name(path: Path) -> str:
    return str(path.absolute()).strip("/").replace("/", "-")[-150:]
