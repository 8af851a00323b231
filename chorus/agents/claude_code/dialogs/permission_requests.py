"""Make prompts from the client's permission requests."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from chorus.model.prompt import Option, Prompt, fingerprint
from chorus.model.tools import COMMAND_KEY, MCP_PREFIX, PATH_KEYS, QUESTION_TOOL, find_tool

# Row ends and the bar left of a long command depend on the screen.
_BLANKS = re.compile(r"[\s│]+")
# The row that replaces a separator in the body of a prompt, as in prompts read from a screen.
SEPARATOR = "╌"
# The client's names for its modes and settings files, in words.
MODES = {
    "acceptEdits": "accept edits", "auto": "auto mode", "bypassPermissions": "bypass permissions",
    "default": "default (ask each time)", "plan": "plan mode",
}  # fmt: skip
DESTINATIONS = {
    "session": "for this session",
    "localSettings": "always in this project",
    "projectSettings": "always in this project, for everyone who works on it",
    "userSettings": "always in every project",
}


def prompt_for_call(
    tool: str, tool_input: Mapping[str, Any], suggestions: Sequence[Mapping[str, Any]] = ()
) -> Prompt:
    """Return the prompt for one call, with the tool input as its body.

    `suggestions` are the permission changes that the client offers with an approval.
    """
    questions = list(read_questions(tool_input)) if tool == QUESTION_TOOL else []
    if questions:
        kind = "question"
        title = ", ".join(str(question.get("header", "")) for question in questions)
        question, options = str(questions[0]["question"]), _question_options(questions[0])
    else:
        known = find_tool(tool)
        kind, title = known.prompt_kind, known.prompt_title or f"Use {tool}"
        question = "Do you want to proceed?"
        options = _permission_options(suggestions)
    labels = [option.label for option in options]
    exact_input = json.dumps(tool_input, sort_keys=True, ensure_ascii=False)
    return Prompt(
        kind=kind,
        tool=tool,
        title=title,
        question=question,
        options=options,
        fingerprint=fingerprint(tool, title, question, labels, (exact_input,)),
        rule="permission-request",
        body=tuple(_body(tool, tool_input)),
    )


def prompt_for_text(text: str) -> Prompt:
    """Return a yes-or-no prompt for a permission request that is only a text."""
    options = (Option("y", "Yes", "allow"), Option("n", "No", "deny"))
    title = "Permission request"
    labels = [option.label for option in options]
    return Prompt(
        kind="permission",
        tool=None,
        title=title,
        question=text,
        options=options,
        fingerprint=fingerprint(None, title, text, labels, ()),
        rule="permission-request",
    )


def may_be_about(prompt: Prompt, tool: str, tool_input: Mapping[str, Any]) -> bool:
    """Return whether a prompt on the screen may be about this call; True if in doubt."""
    if prompt.tool is not None and prompt.tool != tool and not tool.startswith(MCP_PREFIX):
        return False
    shown = _BLANKS.sub("", " ".join([prompt.title, prompt.question, *prompt.body]))
    command = tool_input.get(COMMAND_KEY)
    if isinstance(command, str):
        return _BLANKS.sub("", command) in shown
    path = next((tool_input[key] for key in PATH_KEYS if key in tool_input), None)
    if isinstance(path, str):
        return _BLANKS.sub("", path.rsplit("/", 1)[-1]) in shown
    return True


def read_questions(tool_input: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the questions in a tool's input, without malformed ones."""
    questions = tool_input.get("questions")
    for question in questions if isinstance(questions, list) else []:
        if isinstance(question, Mapping) and isinstance(question.get("question"), str):
            yield question


def read_labels(question: Mapping[str, Any]) -> list[str]:
    options = question.get("options")
    listed = options if isinstance(options, list) else []
    found = [option.get("label") for option in listed if isinstance(option, Mapping)]
    return [label for label in found if isinstance(label, str)]


def _question_options(question: Mapping[str, Any]) -> tuple[Option, ...]:
    labels = read_labels(question)
    text_field = Option(str(len(labels) + 1), "Type something.", "other", "replace")
    return (*(Option(str(n), label, "other") for n, label in enumerate(labels, 1)), text_field)


def _permission_options(suggestions: Sequence[Mapping[str, Any]]) -> tuple[Option, ...]:
    options = [Option("1", "Yes", "allow")]
    if suggestions:
        changes = "; ".join(_render_suggestion(suggestion) for suggestion in suggestions)
        options.append(Option("2", f"Yes, and {changes}", "allow-always"))
    return (*options, Option(str(len(options) + 1), "No", "deny", "append"))


def _render_suggestion(suggestion: Mapping[str, Any]) -> str:
    destination = str(suggestion.get("destination", "session"))
    where = DESTINATIONS.get(destination, f"({destination})")
    match suggestion:
        case {"type": "setMode", "mode": str(mode)}:
            return f"switch to {MODES.get(mode, mode)} {where}"
        case {"type": "addDirectories", "directories": list(directories)}:
            return f"allow access to {', '.join(map(str, directories))} {where}"
        case {"type": "addRules", "rules": list(rules), "behavior": str(behavior)}:
            return f"{behavior} {', '.join(map(_render_rule, rules))} {where}"
    return json.dumps(suggestion, sort_keys=True, ensure_ascii=False)


def _render_rule(rule: object) -> str:
    if not isinstance(rule, Mapping):
        return str(rule)
    content = rule.get("ruleContent")
    return str(rule.get("toolName")) + (f"({content})" if content else "")


def _body(tool: str, tool_input: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of a tool input, with the command or change between separators.

    Text begins in the second column, so it cannot pass for a separator.
    """
    rest = dict(tool_input)
    for name in (*PATH_KEYS, "url"):
        if isinstance(rest.get(name), str):
            yield from _indented(str(rest.pop(name)))
    if main := _command_or_change(tool, rest):
        yield from (SEPARATOR, *main, SEPARATOR)
    questions = _render_questions(rest.get("questions"))
    if questions:
        del rest["questions"]
        yield from questions
    for name, value in rest.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *more = text.split("\n")
        yield f" {name}: {first}"
        yield from (f"   {row}" for row in more)


def _command_or_change(tool: str, rest: dict[str, Any]) -> list[str]:
    """Remove the command or change from `rest`, and return its rows."""
    match rest:
        case {"command": str(command)}:
            del rest[COMMAND_KEY]
            return _indented(command)
        case {"old_string": str(old), "new_string": str(new)} if tool == "Edit":
            del rest["old_string"], rest["new_string"]
            if rest.get("replace_all") is False:
                del rest["replace_all"]
            return _compared(old.split("\n"), new.split("\n"))
        case {"content": str(content)} if tool == "Write":
            del rest["content"]
            return _indented(content)
    return []


def _indented(text: str) -> list[str]:
    return [f" {row}" for row in text.split("\n")]


def _compared(old: list[str], new: list[str]) -> list[str]:
    """Return the rows of both texts, with `-` or `+` before those that differ."""
    rows: list[str] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            rows += [f" {row}" for row in old[start:end]]
        else:
            rows += [f"-{row}" for row in old[start:end]]
            rows += [f"+{row}" for row in new[new_start:new_end]]
    return rows


def _render_questions(questions: object) -> list[str]:
    """Return the rows of all questions; none if a question is not in the expected form."""
    rows: list[str] = []
    for question in questions if isinstance(questions, list) else []:
        match question:
            case {"question": str(text), "header": str(header), "options": list(options), **more}:
                many = " (several may be chosen)" if more.pop("multiSelect", False) is True else ""
                if more or not all(map(_has_label_and_description, options)):
                    return []
                rows.append(f" {header}: {text}{many}")
                rows += [f"   {option['label']}: {option['description']}" for option in options]
            case _:
                return []
    return rows


def _has_label_and_description(option: object) -> bool:
    return isinstance(option, Mapping) and set(option) == {"label", "description"}
