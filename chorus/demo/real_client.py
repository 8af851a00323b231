"""The real client in the story: found on this machine, offline, talking to the scripted model.

It gets a home in which it asks nothing at its start and an address on loopback for its model.
"""

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

# Never sent anywhere but to loopback; the client wants to see one.
KEY = "sk-ant-dummy"


class ClientNotInstalled(NotFound):
    hint = "Install Claude Code, or leave --real away: the stand-in needs nothing."


def find_installed_client() -> Path:
    """The `claude` on the PATH, or the one the SDK for Python brings along."""
    found = shutil.which("claude")
    if found is not None:
        return Path(found)
    bundled = find_bundled()
    if bundled is None:
        raise ClientNotInstalled("there is no Claude Code on this machine")
    return bundled


def find_bundled() -> Path | None:
    """The client in the wheel of the SDK for Python."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    places = (
        [Path(place) / "_bundled" / "claude" for place in (spec.submodule_search_locations or [])]
        if spec
        else []
    )
    return next((client for client in places if os.access(client, os.X_OK)), None)


def client_environment(url: str) -> dict[str, str]:
    """What makes the client talk to nobody but the scripted model."""
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
    """A home in which the client asks nothing at its start: onboarded, key approved, projects trusted."""
    settled = {
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
        "projects": {str(project): settled for project in projects},
        **more,
    }
    (home / ".claude.json").write_text(json.dumps(seed))


class RealClient:
    """Puts the real client in the stand-in's place for as long as the block lasts."""

    def __init__(self, scratch: ScratchRepository) -> None:
        self._scratch = scratch
        self._client = find_installed_client()
        told = {message.text: message.replies for message in story.messages(str(scratch.project))}
        self._model = ModelServer(told)

    def __enter__(self) -> Self:
        self._model.__enter__()
        prepare_home(self._scratch.home, [self._scratch.project])
        settings = [f"{name}={value}" for name, value in client_environment(self._model.url).items()]
        command = shlex.join(["env", *settings, str(self._client)])
        (self._scratch.programs / "claude").write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        return self

    def __exit__(self, *_: object) -> None:
        self._model.__exit__()
