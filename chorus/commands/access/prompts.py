"""Read, find and render the pending prompts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from chorus.errors import NotFound
from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import find_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from chorus.model.api.json_api import PromptJson

# How an answer reached the client, other than by keys.
CHANNELS = {
    "hook": "the hook",
    "control": "the control protocol",
    "line": "y or n typed in its pane",
    "mod": "the mod",
    "form": "a key and the form's hook",
}


class PromptNotPending(NotFound):
    hint = "Run `chorus prompts` to list the pending prompts."


def read_pending() -> list[PromptJson] | None:
    """Return the pending prompts; None if no watcher is running."""
    try:
        with connect(find_home(os.getcwd())) as watcher:
            return list(watcher.ask("prompts"))
    except WatcherNotRunning:
        return None


def find_prompt(pending: Sequence[PromptJson], name: str) -> PromptJson:
    for prompt in pending:
        if prompt["id"] == name:
            return prompt
    raise PromptNotPending(f"no prompt {name} is pending: it was answered or withdrawn, or the id is wrong")


def find_chosen_label(prompt: PromptJson, decision: str, key: str | None) -> str | None:
    """Return the label of the chosen option; None if it is not known.

    The option with this key was chosen. If no option has this key, the only option that means `decision` was
    chosen.
    """
    options = prompt.get("options", [])
    chosen = [option for option in options if option["key"] == key]
    chosen = chosen or [option for option in options if option["meaning"] == decision]
    return chosen[0]["label"] if len(chosen) == 1 else None


def render_channel(how: str) -> str:
    return f"through {CHANNELS.get(how, how)}"


def render_pending(pending: Sequence[PromptJson]) -> Iterator[str]:
    for prompt in pending:
        place = f"  (pane {prompt['pane']})" if prompt["pane"] else ""
        yield f"{prompt['id']}  {prompt['kind']}  {prompt['title']}{place}"
        yield from (f"  | {row}" for row in prompt["body"].splitlines())
        yield f"  {prompt['question']}"
        for option in prompt["options"]:
            yield f"  {option['key']:<5} {option['label']}  [{option['meaning']}]"
