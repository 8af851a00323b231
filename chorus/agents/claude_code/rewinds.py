"""Recognise a rewind: the client sets files back to an earlier turn and does not report it.

There must be two signs. First, the client has kept a copy of the file, or the file no longer exists. Second,
the client's session file shows that a dialog was open when the file changed. Some clients write no status to
the session file, so their rewinds are missed.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

# The files are written, then the dialog is closed: within 1.6 s in every measurement.
MAX_DIALOG_SECONDS = 3.0
DIALOG = "dialog open"
# A client with this entry point has no dialogs.
HEADLESS = "sdk-cli"


def is_rewinding(transcript: Path, path: Path, moment: float) -> bool:
    """Return whether a session may have rewound the file at `moment`, in seconds since the epoch."""
    config = transcript.parent.parent.parent
    if path.exists() and not _has_copy(config / "file-history" / transcript.stem, path):
        return False
    return any(
        _shows_dialog(file, moment)
        for file in map(_read, (config / "sessions").glob("*.json"))
        if file.get("sessionId") == transcript.stem
    )


def _has_copy(copies: Path, path: Path) -> bool:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return next(copies.glob(f"{name}@v*"), None) is not None


def _shows_dialog(file: dict[str, Any], moment: float) -> bool:
    since = file.get("statusUpdatedAt")
    if not isinstance(since, int | float) or file.get("entrypoint") == HEADLESS:
        return False
    ago = moment - since / 1000
    if file.get("waitingFor") == DIALOG:
        return ago >= 0
    return -MAX_DIALOG_SECONDS <= ago <= 0 and file.get("status") == "idle"


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
