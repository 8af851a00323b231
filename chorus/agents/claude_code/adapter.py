"""Claude Code behind the interface of `chorus.agents.interface`."""

from functools import cached_property
from pathlib import Path

from chorus.agents.claude_code import processes, transcripts
from chorus.agents.interface import Agent, Clients, Events, TranscriptReader


class ClaudeClients:
    """Processes named `claude`, and their transcripts below the client's configuration directory."""

    is_client = staticmethod(processes.is_client)
    read_client = staticmethod(processes.read_client)
    subagent_transcripts = staticmethod(transcripts.subagent_transcripts)
    began_after = staticmethod(transcripts.began_after)

    def read_transcript(self, path: Path) -> TranscriptReader:
        return transcripts.TranscriptTail(path)


class ClaudeCode:
    name = "claude_code"

    def __init__(self) -> None:
        self.clients: Clients = ClaudeClients()

    @cached_property
    def events(self) -> Events:
        # Not at the top: this loads pydantic, which takes longer than most commands.
        from chorus.agents.claude_code.event_adapter import ClaudeEvents  # noqa: PLC0415

        return ClaudeEvents()


AGENT: Agent = ClaudeCode()
