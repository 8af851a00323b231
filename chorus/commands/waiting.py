"""The prompts that wait in this repository's panes, as the agent sees them."""

from pathlib import Path
from typing import Any

from chorus.errors import NothingThere
from chorus.wire.client import AgentGone, connect
from chorus.wire.home import find_home


class NoSuchPrompt(NothingThere):
    hint = "`chorus prompts` lists what waits now."


def read_waiting() -> list[dict[str, Any]]:
    """What waits; nothing does where no agent watches."""
    try:
        with connect(find_home(Path.cwd())) as agent:
            return list(agent.ask("prompts"))
    except AgentGone:
        return []


def find_prompt(waiting: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for prompt in waiting:
        if prompt["id"] == name:
            return prompt
    raise NoSuchPrompt(f"no prompt {name} waits: it was answered or withdrawn")


def render_waiting(waiting: list[dict[str, Any]]) -> str:
    lines = []
    for prompt in waiting:
        lines.append(f"{prompt['id']}  {prompt['kind']}  {prompt['title']}  (pane {prompt['pane']})")
        lines += [f"  | {row}" for row in prompt["body"].splitlines()]
        lines.append(f"  {prompt['question']}")
        lines += [f"  {o['key']:<5} {o['label']}  [{o['meaning']}]" for o in prompt["options"]]
    return "\n".join(lines)
