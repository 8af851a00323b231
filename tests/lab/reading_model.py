"""A scripted model for clients that refuse to edit a file that was not read, or changed since.

Clients up to 2.1.197 refuse such an edit; scripts are written for newer ones, which do not. Before an edit of
a file that the session has not read, this model reads it, in the same message. An edit refused because the
file changed meanwhile is repeated after another read, as a model does.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from chorus.demo.model_server.request import Request
from chorus.demo.model_server.server import ModelServer
from chorus.demo.model_server.steps import Refuse, Reply, Step
from chorus.demo.script import ToolUse

MARK = "toolu_again_"
CHANGED = re.compile("File has been modified since read|File content has changed since it was last read")
EDITING = ("Edit", "Write")

Message = Mapping[str, Any]


class ReadingModelServer(ModelServer):
    def reply_for(self, request: Request) -> Reply:
        messages = request.body.get("messages", [])
        if again := _refused(messages):
            return [
                step for number, call in enumerate(again) for step in _repeat(call, len(messages), number)
            ]
        scripted = [message for message in messages if not _is_ours(message)]
        reply = super().reply_for(replace(request, body={**request.body, "messages": scripted}))
        return reply if reply and isinstance(reply[0], Refuse) else _reading_first(reply, _named(messages))


def _refused(messages: list[Message]) -> list[Mapping[str, Any]]:
    """The calls of the model's last message that were refused because their file has changed."""
    places = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    if not places:
        return []
    heard = [block for message in messages[places[-1] :] for block in _blocks(message)]
    refused = {block.get("tool_use_id") for block in heard if CHANGED.search(str(block.get("content")))}
    return [block for block in _blocks(messages[places[-1]]) if block.get("id") in refused]


def _repeat(call: Mapping[str, Any], place: int, number: int) -> list[ToolUse]:
    names = [f"{MARK}{place}_{number}_{what}" for what in ("read", "edit")]
    look = ToolUse("Read", {"file_path": call["input"]["file_path"]}, names[0])
    return [look, ToolUse(call["name"], call["input"], names[1])]


def _is_ours(message: Message) -> bool:
    """Whether a message of the model was added here and is not in its script."""
    return message["role"] == "assistant" and any(
        str(block.get("id", "")).startswith(MARK) for block in _blocks(message)
    )


def _reading_first(reply: Reply, read: set[str]) -> Reply:
    steps: list[Step] = []
    known = set(read)
    for step in reply:
        if isinstance(step, ToolUse) and (path := str(step.input.get("file_path"))) not in known:
            if step.name in EDITING and path.startswith("/") and Path(path).is_file():
                steps.append(ToolUse("Read", {"file_path": path}))
            known.add(path)
        steps.append(step)
    return steps


def _named(messages: list[Message]) -> set[str]:
    """The files that the session has read or written: all that its calls have named so far."""
    inputs = [block.get("input") for message in messages for block in _blocks(message)]
    return {str(given["file_path"]) for given in inputs if isinstance(given, dict) and "file_path" in given}


def _blocks(message: Message) -> list[Mapping[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []
