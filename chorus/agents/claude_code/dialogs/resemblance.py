"""Whether a prompt on the screen could be the one a call was asked with.

Receives a prompt and a call whose end is known. Says yes in doubt: a yes means that the prompt is taken for
a new one, which costs whoever decided on it another look and never a wrong key.
"""

import re
from collections.abc import Mapping
from typing import Any

from chorus.model.prompt import Prompt
from chorus.model.tools import COMMAND_KEY, MCP_PREFIX, PATH_KEYS

_BLANK = re.compile(r"[\s│]+")


def resembles(prompt: Prompt, tool: str, given: Mapping[str, Any]) -> bool:
    if prompt.tool is not None and prompt.tool != tool and not tool.startswith(MCP_PREFIX):
        return False
    shown = _squeeze(" ".join([prompt.title, prompt.question, *prompt.body]))
    command = given.get(COMMAND_KEY)
    if isinstance(command, str):
        return _squeeze(command) in shown
    named = next((given[key] for key in PATH_KEYS if key in given), None)
    if isinstance(named, str):
        return _squeeze(named.rsplit("/", 1)[-1]) in shown
    return True


def _squeeze(text: str) -> str:
    """Where a row ends, and the line drawn beside a long command, is the screen's business."""
    return _BLANK.sub("", text)
