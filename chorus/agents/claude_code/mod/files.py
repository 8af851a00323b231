"""Copy the mod for a client, check whether the client can load it, and find a path to the socket.

The client writes into the directory of a mod, so the client gets a copy of the installed mod.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from chorus.agents.claude_code.hooks.program import find_plugin_directory
from chorus.system.files.private_files import make_private

MIN_VERSION = (2, 1, 287)
# The longest socket path a client's mod can connect to.
MAX_SOCKET_LENGTH = 100
VERSION_TIMEOUT_SECONDS = 5.0
# With these options the client loads no mod.
OPTIONS_WITHOUT_MODS = frozenset({"--bare", "--safe-mode"})
# The name of the client's switch for mods, in the file where the client saves it. Without it mods are on.
ROLLOUT_SWITCH = "tengu_plugin_hooks_modules"


def can_load_mod(client: str, arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    return (
        OPTIONS_WITHOUT_MODS.isdisjoint(arguments)
        and _read_rollout_switch(environment)
        and _read_version(client) >= MIN_VERSION
    )


def copy_mod(environment: Mapping[str, str]) -> Path:
    """Return this user's copy of the mod, and make it if it is missing or differs."""
    source = find_plugin_directory() / "mod"
    files = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    contents = {path: (source / path).read_bytes() for path in files}
    name = hashlib.sha256(b"".join(b"%s\0%s\0" % (bytes(p), c) for p, c in contents.items())).hexdigest()[:16]
    # Made private before the check, so that nobody else changes files after it.
    base = _make_private_directory(environment, "mod")
    copy = base / name
    if all(_read(copy / path) == content for path, content in contents.items()):
        return copy
    new = Path(tempfile.mkdtemp(dir=base))
    for path, content in contents.items():
        (new / path).parent.mkdir(exist_ok=True)
        (new / path).write_bytes(content)
    shutil.rmtree(copy, ignore_errors=True)
    with suppress(OSError):  # another process was faster
        new.rename(copy)
    shutil.rmtree(new, ignore_errors=True)
    return copy


def reachable_path(socket: Path, environment: Mapping[str, str]) -> Path | None:
    """Return a path to the socket that is short enough for a client's mod; None if there is none.

    If the socket's own path is too long, make a link to the socket and return the link's path. If that path
    is too long as well, return None.
    """
    if len(os.fsencode(socket)) <= MAX_SOCKET_LENGTH:
        return socket
    link = _data_directory(environment) / "sockets" / hashlib.sha256(os.fsencode(socket)).hexdigest()[:12]
    if len(os.fsencode(link)) > MAX_SOCKET_LENGTH:
        return None
    _make_private_directory(environment, link.parent.name)
    if not (link.is_symlink() and link.readlink() == socket):
        link.unlink(missing_ok=True)
        with suppress(FileExistsError):  # another process was faster
            link.symlink_to(socket)
    return link


def _make_private_directory(environment: Mapping[str, str], name: str) -> Path:
    """Create a directory for this user alone. Whoever can write to it can run programs as this user."""
    base = _data_directory(environment)
    make_private(base)
    make_private(base / name)
    return base / name


def _data_directory(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "chorus"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _read_version(client: str) -> tuple[int, ...]:
    """Return a client's version; (0,) if it reports none. A client answers within 20 ms."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [client, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_SECONDS,
        )
        if found := re.match(r"(\d+)\.(\d+)\.(\d+)", done.stdout):
            return tuple(map(int, found.groups()))
    return (0,)


def _read_rollout_switch(environment: Mapping[str, str]) -> bool:
    """Return whether the client's saved switch for mods is on; True if no switch is saved."""
    directory = environment.get("CLAUDE_CONFIG_DIR")
    path = Path(directory or Path.home()) / ".claude.json"
    with suppress(OSError, ValueError):
        remembered = json.loads(path.read_bytes())
        features = remembered.get("cachedGrowthBookFeatures") if isinstance(remembered, dict) else None
        return not (isinstance(features, dict) and features.get(ROLLOUT_SWITCH) is False)
    return True
