"""The permission dialogs as data: title, body, question, and options with their answers.

Text and order are those of the client that the double was measured against; a script may change the options.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.client_double.output import Answer, Question
from tests.client_double.permissions import EDITS, Concern
from tests.client_double.values import Call

NEXT = "Yes, and tell Claude what to do next"
DIFFERENTLY = "No, and tell Claude what to do differently"
ACCEPT_EDITS = (
    "Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session"
)
AUTO_MODE = "Yes, and switch to auto mode · auto mode handles these prompts for you"
TIP = 'Tip: auto mode handles these prompts for you — choose "switch to auto mode" below'
NOTES = {
    Concern.EXPANSION: "A variable in this command can't be checked before it runs",
    Concern.UNKNOWN: "This command requires approval",
}
PROCEED = "Do you want to proceed?"


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    answer: Answer
    amended: str | None = None  # the label while the user adds a message


@dataclass(frozen=True, slots=True)
class Dialog:
    name: str
    head: tuple[str, ...]  # the title first
    options: tuple[Option, ...]
    question: str = ""
    body: tuple[str, ...] = ()  # as it is, wrapped when it is drawn
    note: str | None = None
    footer: bool = True
    from_agent: bool = False


YES = Option("Yes", Answer(True), NEXT)
NO = Option("No", Answer(False), DIFFERENTLY)
EDITS_ALLOWED = Answer(True, always=True, switch_mode="acceptEdits")


def dialog_for(question: Question, cwd: Path, other_options: Mapping[str, Sequence[str]]) -> Dialog:
    call = question.call
    if call.tool in EDITS:
        dialog = _for_edit(question, cwd)
    elif call.tool == "Bash":
        dialog = _for_command(question)
    elif call.tool == "WebFetch":
        dialog = _for_fetch(call)
    else:
        dialog = _for_tool(call, cwd)
    if call.agent is not None:
        title = f"{dialog.head[0]} · from the {call.agent.kind} agent"
        dialog = replace(dialog, head=(title, *dialog.head[1:]), from_agent=True)
    labels = other_options.get(call.tool)
    return reordered(dialog, labels) if labels else dialog


def reordered(dialog: Dialog, labels: Sequence[str]) -> Dialog:
    """The same dialog with these labels; an unknown label answers with a refusal."""
    known = {option.label: option for option in dialog.options}
    return replace(dialog, options=tuple(known.get(label, Option(label, Answer(False))) for label in labels))


def shown_path(path: Path, cwd: Path) -> str:
    return os.path.relpath(path, cwd)


def _for_edit(question: Question, cwd: Path) -> Dialog:
    call, change = question.call, question.change
    assert change is not None
    name = change.path.name
    always, outside = ACCEPT_EDITS, question.verdict.directory
    if outside is not None:
        always += f"; Yes, and always allow access to {outside} for this session"
    options = (YES, Option(f"{always} (shift+tab)", EDITS_ALLOWED), NO)
    place = shown_path(change.path, cwd)
    head: tuple[str, ...]
    if call.tool == "NotebookEdit":
        head = (
            "Edit notebook",
            str(change.path),
            f"Replace cell contents for cell {call.input.get('cell_id')}",
        )
        return Dialog(f"NotebookEdit {place}", head, options, f"Do you want to make this edit to {name}?")
    if call.tool == "Edit":
        head, asked = ("Edit file", place), f"Do you want to make this edit to {name}?"
    elif change.before is None:
        head, asked = ("Create file", place), f"Do you want to create {name}?"
    else:
        head, asked = ("Overwrite file", place), f"Do you want to overwrite {name}?"
    return Dialog(f"{call.tool} {place}", head, options, asked)


def _for_command(question: Question) -> Dialog:
    verdict, command = question.verdict, str(question.call.input.get("command", ""))
    options = [YES]
    if verdict.directory is not None:
        label = f"Yes, and always allow access to {verdict.directory} from this project"
        options.append(Option(label, Answer(True, always=True)))
    elif verdict.rule is not None:
        rule = verdict.rule.removeprefix("Bash(").removesuffix(")")
        options.append(Option(f"Yes, and don’t ask again for: {rule}", Answer(True, always=True)))
    options += [Option(AUTO_MODE, Answer(True, switch_mode="auto")), NO]
    about = str(question.call.input.get("description") or "Run shell command")
    return Dialog(
        f"Bash {command}",
        ("Bash command", TIP, about),
        tuple(options),
        PROCEED,
        (command,),
        NOTES.get(verdict.concern),
    )


def _for_fetch(call: Call) -> Dialog:
    url = str(call.input.get("url", ""))
    domain = re.sub(r"^\w+://([^/:]+).*", r"\1", url)
    options = (
        YES,
        Option(f"Yes, and don't ask again for {domain}", Answer(True, always=True)),
        Option(f"{DIFFERENTLY} (esc)", Answer(False)),
    )
    body = (f"url: {url}", f"prompt: {call.input.get('prompt', '')}")
    head = ("Fetch", f"Claude wants to fetch content from {domain}")
    asked = "Do you want to allow Claude to fetch this content?"
    return Dialog(f"WebFetch {url}", head, options, asked, body, footer=False)


def _for_tool(call: Call, cwd: Path) -> Dialog:
    body: tuple[str, ...]
    if call.tool == "WebSearch":
        query = call.input.get("query", "")
        about, body = f"│ Claude wants to search the web for: {query}", (f'Web Search("{query}")',)
        named = "Web Search"
    else:
        server, _, tool = call.tool.removeprefix("mcp__").partition("__")
        named = f"{server} — {tool.replace('_', ' ').title()}" if tool else call.tool
        about = f"{named} Tool: (MCP)" if tool else named
        body = tuple(f'{name}: "{value}"' for name, value in call.input.items())
    again = f"Yes, and don't ask again for {named} commands in {cwd}"
    options = (YES, Option(again, Answer(True, always=True)), NO)
    return Dialog(call.tool, ("Tool use", about), options, PROCEED, body)
