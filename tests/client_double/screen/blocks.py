"""The conversation as blocks on the screen: user text, assistant text, tool calls.

Each block gives its rows for a width; a call's block changes when its result comes.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.client_double.change import Change
from tests.client_double.patch import count_lines
from tests.client_double.permissions import EDITS, target_of
from tests.client_double.screen.diffs import render_hunks, render_lines
from tests.client_double.screen.text import BOLD, DIM, SPOKEN, clip, paint, wrap
from tests.client_double.values import Call, Outcome

MAX_LINES = 10
CHANGED_MEANWHILE = (
    "(files that changed while this command ran, by the command or by another process; "
    "a convenience view, not a review or audit of the command)"
)
INTERRUPTED = "Interrupted · What should Claude do instead?"
# Verbs at the start of descriptions, in the form that the client shows.
ING = {"Make": "Making", "Run": "Running", "Change": "Changing", "Remove": "Removing", "Write": "Writing"}


class Block(Protocol):
    def render(self, columns: int) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class UserText:
    text: str

    def render(self, columns: int) -> list[str]:
        rows = wrap(self.text, columns - 3)
        return [
            paint(f"{'❯' if not at else ' '} {row}".ljust(columns), SPOKEN) for at, row in enumerate(rows)
        ]


@dataclass(frozen=True, slots=True)
class AssistantText:
    text: str

    def render(self, columns: int) -> list[str]:
        plain = re.sub(r"^#+ |\*\*|`+\w*\n?", "", self.text, flags=re.MULTILINE)
        rows = [row for line in plain.split("\n") for row in wrap(line, columns - 3)]
        return [(f"● {row}" if not at else f"  {row}").rstrip() for at, row in enumerate(rows)]


@dataclass(frozen=True, slots=True)
class ClientLine:
    """A line of the client itself."""

    text: str
    dim: bool = True

    def render(self, columns: int) -> list[str]:
        return [paint(clip(row, columns), DIM) if self.dim else row for row in self.text.split("\n")]


@dataclass(slots=True)
class ToolCall:
    call: Call
    cwd: Path
    auto: bool
    change: Change | None = None
    outcome: Outcome | None = None
    notes: list[str] = field(default_factory=list)

    def render(self, columns: int) -> list[str]:
        rows = self._render(columns)
        return rows + [row for note in self.notes for row in _under(note, columns)]

    def _render(self, columns: int) -> list[str]:
        tool = self.call.tool
        if tool in EDITS:
            return self._render_edit(columns)
        if tool == "Bash":
            return self._render_command(columns)
        if tool == "Read":
            return ["  Read 1 file"]
        if tool in ("Agent", "Task"):
            rows = [f"● {paint('Agent', BOLD)}({self.call.input.get('description', '')})"]
            return rows + (
                _under("Backgrounded agent (↓ to manage · ctrl+o to expand)", columns) if self.outcome else []
            )
        if tool == "AskUserQuestion":
            return self._render_answers(columns)
        if tool.startswith("mcp__"):
            server = tool.split("__")[1]
            return [f"  Called {server}" if self.outcome else f"  Calling {server}…"]
        return self._render_other(columns)

    def _render_edit(self, columns: int) -> list[str]:
        path = target_of(self.call) or self.cwd
        name = str(path.relative_to(self.cwd)) if path.is_relative_to(self.cwd) else str(path)
        verb = "Write" if self.call.tool == "Write" else "Update"
        rows = [f"● {paint(verb, BOLD)}({name})"]
        outcome, change = self.outcome, self.change
        if outcome is None:
            return rows
        if change is None or (outcome.is_error and not outcome.refusal):
            return rows + _under("Error editing file", columns)
        created = change.before is None
        if outcome.refusal:
            told = f"User rejected {'write' if verb == 'Write' else 'update'} to {name}"
        elif created:
            lines = len(change.after.removesuffix("\n").split("\n"))
            told = f"Wrote {lines} {_plural('line', lines)} to {name}"
        else:
            told = _counted(change)
        rows += _under(told, columns)
        if created:
            return rows + render_lines(change.after, columns, indent=6, most=MAX_LINES)
        return rows + render_hunks(change.patch, columns, indent=6)

    def _render_command(self, columns: int) -> list[str]:
        command, outcome = str(self.call.input.get("command", "")), self.outcome
        if outcome is None:
            about = str(self.call.input.get("description") or f"Run {command}")
            verb, blank, rest = about.partition(" ")
            return [f"● {ING.get(verb, verb)}{blank}{rest}", *_under(f"$ {command}", columns)]
        if outcome.interrupts:
            rows = ["  No result recorded for 1 call", *_under(f"$ {command}", columns)]
            return rows + _under(INTERRUPTED, columns)
        if outcome.refusal:
            return ["  Ran 1 shell command", *_under("Not run · rejected", columns)]
        if not self.auto:
            return ["  Ran 1 shell command"]
        rows = [f"● {paint('Bash', BOLD)}({command})"]
        if not isinstance(outcome.result, dict):
            return rows + _under(str(outcome.result), columns)
        rows += _under(outcome.result["stdout"], columns) if outcome.result["stdout"] else []
        for file in outcome.result.get("bashEditDiff", {}).get("files", ()):
            rows += self._render_changed(file["filePath"], file, columns)
        return rows + (_under(CHANGED_MEANWHILE, columns) if len(rows) > 1 else [])

    def _render_changed(self, path: str, file: dict[str, object], columns: int) -> list[str]:
        hunks = file["hunks"]
        assert isinstance(hunks, list)
        added, removed = count_lines(hunks)
        verb = "Created" if file.get("created") else "Updated"
        name = Path(path).relative_to(self.cwd)
        return _under(f"{verb} {name} (+{added} -{removed})", columns) + render_hunks(
            hunks, columns, indent=6
        )

    def _render_answers(self, columns: int) -> list[str]:
        if self.outcome is None:
            return []
        if self.outcome.is_error or not isinstance(self.outcome.result, dict):
            return ["● User declined to answer questions"]
        rows = ["● User answered Claude's questions:"]
        for at, (question, said) in enumerate(self.outcome.result["answers"].items()):
            rows.append(f"{'  ⎿  ' if not at else '     '}· {question} → {said}")
        return rows

    def _render_other(self, columns: int) -> list[str]:
        named = {"WebFetch": "Fetch", "WebSearch": "Web Search"}.get(self.call.tool, self.call.tool)
        about = self.call.input.get("url") or self.call.input.get("query") or ""
        rows = [f"● {paint(named, BOLD)}({about})"]
        if self.outcome is None:
            return rows
        text = INTERRUPTED if self.outcome.interrupts else str(self.outcome.content)
        return rows + _under(text, columns)


def _under(text: str, columns: int) -> list[str]:
    """Rows below a block."""
    rows = wrap(text, columns - 6)
    return [(f"{'  ⎿  ' if not at else '     '}{row}").rstrip() for at, row in enumerate(rows)]


def _counted(change: Change) -> str:
    added, removed = count_lines(change.patch)
    parts = [f"{verb} {n} {_plural('line', n)}" for verb, n in (("added", added), ("removed", removed)) if n]
    return ", ".join(parts).capitalize()


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"
