"""What a prompt is about: its command or change apart from the words around it, or in a few words."""

import re
from collections.abc import Sequence

from chorus.model.json_api import PromptJson

# The client draws a command or a change between two such rows.
_RULE_LINE = re.compile(r"\s*[╌─]+\s*")


def split_body(rows: Sequence[str]) -> tuple[list[str], list[str]]:
    """The rows between the rules the client draws, and the others. Without two rules, all and none."""
    rules = [index for index, row in enumerate(rows) if _RULE_LINE.fullmatch(row)]
    if len(rules) < 2:
        return list(rows), []
    first, last = rules[0], rules[-1]
    return list(rows[first + 1 : last]), [*rows[:first], *rows[last + 1 :]]


def without_root(row: str, root: str) -> str:
    """A row that is a path below the work tree, without the work tree, as the client shows it."""
    path = row.strip()
    return path[len(root) + 1 :] if root and path.startswith(f"{root}/") else row


def summarize_prompt(prompt: PromptJson) -> str:
    """The command, the file, or the first row of what the screen shows; else the question."""
    tool_input = prompt.get("input") or {}
    for name in ("command", "file_path"):
        if isinstance(text := tool_input.get(name), str) and text.strip():
            return text
    framed, _ = split_body((prompt.get("body") or "").splitlines())
    return next((row.strip() for row in framed if row.strip()), prompt["question"])
