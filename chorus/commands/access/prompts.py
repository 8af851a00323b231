"""The prompts that wait in this repository's panes, as the watcher sees them."""

from pathlib import Path
from typing import Any

from chorus.errors import NotFound
from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import find_home

# The ways an answer takes that is no key, in words.
WAYS = {"hook": "the hook", "control": "the protocol", "line": "a line in its pane"}


class PromptNotPending(NotFound):
    hint = "`chorus prompts` lists what waits now."


def read_pending() -> list[dict[str, Any]]:
    """What waits; nothing does where no watcher runs."""
    try:
        with connect(find_home(Path.cwd())) as watcher:
            return list(watcher.ask("prompts"))
    except WatcherNotRunning:
        return []


def find_prompt(waiting: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for prompt in waiting:
        if prompt["id"] == name:
            return prompt
    raise PromptNotPending(f"no prompt {name} waits: it was answered or withdrawn")


def find_chosen_label(prompt: dict[str, Any], decision: str, key: str | None) -> str | None:
    """The label of the option that was taken: the one under the key, else the one that means the decision."""
    options = prompt.get("options", [])
    taken = [option for option in options if option["key"] == key]
    taken = taken or [option for option in options if option["meaning"] == decision]
    return str(taken[0]["label"]) if len(taken) == 1 else None


def render_channel(how: str) -> str:
    return f"through {WAYS.get(how, how)}"


def render_pending(waiting: list[dict[str, Any]]) -> str:
    lines = []
    for prompt in waiting:
        lines.append(f"{prompt['id']}  {prompt['kind']}  {prompt['title']}  (pane {prompt['pane']})")
        lines += [f"  | {row}" for row in prompt["body"].splitlines()]
        lines.append(f"  {prompt['question']}")
        lines += [f"  {o['key']:<5} {o['label']}  [{o['meaning']}]" for o in prompt["options"]]
    return "\n".join(lines)
