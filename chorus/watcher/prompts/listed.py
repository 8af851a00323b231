"""A prompt that waits, as the JSON in which it is listed and told. Keys are API.

Receives a prompt and where it is known from: a screen, a client's words, or a screen no rule fits.
"""

from collections.abc import Mapping
from typing import Any

from chorus.agents.interface import PromptAppearance
from chorus.model.prompt import Prompt, prompt_json
from chorus.watcher.prompts.pane_prompts import Watched
from chorus.watcher.prompts.told import ToldPrompt

Json = dict[str, Any]


def told_json(told: ToldPrompt) -> Json:
    asked = told.asked
    shown = prompt_json(told.prompt, session=asked.session, pane=told.pane, since=told.since)
    body, words = "\n".join(told.prompt.body), _words(told.prompt)
    return {**shown, "id": told.name, "body": body, "input": dict(asked.input), "words": words}


def screen_json(watched: Watched, appearance: PromptAppearance, questions: Mapping[str, Any] | None) -> Json:
    """`questions`: what the session tells of them, the screen showing one at a time."""
    prompt, pane = appearance.prompt, watched.pane
    shown = prompt_json(prompt, session=pane.session, pane=pane.id, since=watched.since)
    shown |= {"id": watched.name(appearance), "body": "\n".join(prompt.body), "words": _words(prompt)}
    return {**shown, "input": None if questions is None else dict(questions)}


def strange_json(watched: Watched) -> Json:
    name = watched.strange_name()
    return {
        "id": name, "session": watched.pane.session, "pane": watched.pane.id, "kind": "unknown",
        "tool": None, "title": "A dialog Chorus does not know", "question": "Look at the pane.",
        "options": [], "fingerprint": name, "since": watched.strange_since,
        "body": "\n".join(watched.rows).strip("\n"), "input": None,
    }  # fmt: skip


def _words(prompt: Prompt) -> str | None:
    """The key of the option that takes words of one's own; where boxes are ticked none does from here."""
    fields = [option.key for option in prompt.options if option.text_input == "replace"]
    return fields[0] if fields and prompt.checked is None else None
