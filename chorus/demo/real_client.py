"""The real client for the demo: the installed one, offline, with a scripted model on loopback."""

import importlib.util
import json
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from chorus.demo import story
from chorus.demo.model_server.server import ModelServer
from chorus.demo.scratch_repository import ScratchRepository
from chorus.errors import NotFound

# The client needs a key; this one is only ever sent to loopback.
KEY = "sk-ant-dummy"


class ClientNotInstalled(NotFound):
    hint = "Install Claude Code, or run the demo without --real."


def find_installed_client() -> Path:
    """Return `claude` from PATH, or else the client bundled with the SDK for Python."""
    found = shutil.which("claude")
    if found is not None:
        return Path(found)
    bundled = find_bundled()
    if bundled is None:
        raise ClientNotInstalled("Claude Code is not installed")
    return bundled


def find_bundled() -> Path | None:
    """Return the client bundled with the SDK for Python, or None."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    candidates = (
        [Path(directory) / "_bundled" / "claude" for directory in (spec.submodule_search_locations or [])]
        if spec
        else []
    )
    return next((client for client in candidates if os.access(client, os.X_OK)), None)


def client_environment(url: str) -> dict[str, str]:
    """Return variables that make the client talk only to the model at `url`."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "IS_SANDBOX": "1",
    }


def prepare_home(home: Path, projects: Iterable[Path], **more: str) -> None:
    """Write a `.claude.json` with which the client asks nothing at start.

    `more`: further fields of that file.
    """
    trusted = {
        "hasTrustDialogAccepted": True,
        "projectOnboardingSeenCount": 5,
        "hasCompletedProjectOnboarding": True,
        "allowedTools": [],
    }
    seed: Mapping[str, Any] = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "numStartups": 5,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "bypassPermissionsModeAccepted": True,
        "projects": {str(project): trusted for project in projects},
        **more,
    }
    (home / ".claude.json").write_text(json.dumps(seed))


class RealClient:
    """A context manager that replaces the stand-in with the real client."""

    def __init__(self, scratch: ScratchRepository) -> None:
        self._scratch = scratch
        self._client = find_installed_client()
        replies = {message.text: message.replies for message in story.messages(str(scratch.project))}
        self._model = ModelServer(replies)

    def __enter__(self) -> Self:
        self._model.__enter__()
        prepare_home(self._scratch.home, [self._scratch.project])
        settings = [f"{name}={value}" for name, value in client_environment(self._model.url).items()]
        command = shlex.join(["env", *settings, str(self._client)])
        (self._scratch.programs / "claude").write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        return self

    def __exit__(self, *_: object) -> None:
        self._model.__exit__()
