"""Claude Code behind the interface of `chorus.agents.interface`."""

import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from chorus.agents.claude_code import processes, rewinds, transcripts
from chorus.agents.claude_code.hooks import program
from chorus.agents.claude_code.mod import SOCKET_VARIABLE
from chorus.agents.claude_code.mod import files as mod_files
from chorus.agents.claude_code.settings import files
from chorus.agents.claude_code.settings.hook_entries import HookGroups
from chorus.agents.interface import (
    Agent,
    Clients,
    ClientStart,
    Events,
    HookStatus,
    Prompts,
    SettingsChange,
    SettingsScope,
    Setup,
    TranscriptReader,
)

# The oldest client seen to read settings from a `.claude` directory created while it ran; 2.1.191 did not.
MIN_VERSION_FOR_NEW_SETTINGS = (2, 1, 257)
HEADLESS_ARGUMENTS = (
    "-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
    "--permission-prompt-tool", "stdio", "--include-partial-messages", "--replay-user-messages",
)  # fmt: skip


class ClaudeClients:
    is_client = staticmethod(processes.is_client)
    read_client = staticmethod(processes.read_client)
    find_client = staticmethod(processes.find_client)
    is_rewinding = staticmethod(rewinds.is_rewinding)
    subagent_transcripts = staticmethod(transcripts.subagent_transcripts)
    transcript_directories = staticmethod(transcripts.transcript_directories)
    began_after = staticmethod(transcripts.began_after)

    def read_transcript(self, path: Path) -> TranscriptReader:
        return transcripts.TranscriptTail(path)


class ClaudeSetup:
    program = "claude"
    backup_directory = staticmethod(files.backup_directory)

    permission_modes: tuple[str, ...] = (
        "default",
        "acceptEdits",
        "plan",
        "auto",
        "dontAsk",
        "bypassPermissions",
    )

    def headless_arguments(
        self,
        resume: str | None = None,
        *,
        fork: bool = False,
        mode: str | None = None,
        servers: Sequence[str] = (),
    ) -> list[str]:
        arguments = [*HEADLESS_ARGUMENTS]
        if resume is not None:
            arguments += ["--resume", resume, *(["--fork-session"] if fork else [])]
        if mode is not None:
            arguments += ["--permission-mode", mode]
        if servers:
            config = {"mcpServers": {name: {"type": "sdk", "name": name} for name in servers}}
            arguments += ["--mcp-config", json.dumps(config)]
        return arguments

    def reads_new_settings(self, version: str) -> bool:
        parts = version.split(".")
        if not all(part.isdecimal() for part in parts):
            return True  # a version of an unknown form is more likely a newer one
        return tuple(map(int, parts)) >= MIN_VERSION_FOR_NEW_SETTINGS

    def settings_path(self, scope: SettingsScope, work_tree: Path | None) -> Path:
        return files.locate_settings(scope, os.environ, work_tree)

    def install_hooks(self, scope: SettingsScope, work_tree: Path | None) -> SettingsChange:
        settings = self.settings_path(scope, work_tree)
        return files.install_hooks(settings, _hook_groups(scope), backups=files.backup_directory())

    def uninstall_hooks(self, settings: Path, *, backups: Path | None = None) -> SettingsChange:
        return files.uninstall_hooks(settings, backups=backups or files.backup_directory())

    def hook_status(self, scope: SettingsScope, work_tree: Path | None) -> HookStatus:
        return files.read_hook_status(scope, self.settings_path(scope, work_tree), _hook_groups(scope))

    def watched_start(
        self, client: str, arguments: Sequence[str], socket: Path, *, mod: bool = True
    ) -> ClientStart:
        reached = mod_files.reachable_path(socket, os.environ) if mod else None
        if reached is not None and mod_files.can_load_mod(client, arguments, os.environ):
            directory = mod_files.copy_mod(os.environ)
            environment = {SOCKET_VARIABLE: str(reached), "CHORUS_HOOK": str(_hook_program())}
            if chorus := program.find_chorus_program():
                environment["CHORUS_PROGRAM"] = chorus
            return ClientStart(["--plugin-dir", str(directory), *arguments], environment)
        rest, user_settings = program.split_settings_option(arguments)
        settings = program.render_settings(
            user_settings, hook=_hook_program(), chorus=program.find_chorus_program()
        )
        return ClientStart(["--settings", settings, *rest], {})


class ClaudeCode:
    name = "claude_code"

    def __init__(self) -> None:
        self.clients: Clients = ClaudeClients()
        self.setup: Setup = ClaudeSetup()

    # Not imported at the top: both load pydantic, which takes longer than most commands.

    @cached_property
    def events(self) -> Events:
        from chorus.agents.claude_code.event_adapter import ClaudeEvents  # noqa: PLC0415  see above

        return ClaudeEvents()

    @cached_property
    def prompts(self) -> Prompts:
        from chorus.agents.claude_code.prompt_adapter import ClaudePrompts  # noqa: PLC0415  see above

        return ClaudePrompts()


def _hook_groups(scope: SettingsScope) -> HookGroups:
    """Return the hooks for a settings file.

    A project's file is shared with other users, so its hooks look up the hook program on PATH.
    """
    if scope is SettingsScope.PROJECT:
        return program.render_portable_hook_groups()
    return program.render_hook_groups(_hook_program(), program.find_chorus_program())


def _hook_program() -> Path:
    return program.find_plugin_directory() / program.HOOK_PROGRAM


AGENT: Agent = ClaudeCode()
