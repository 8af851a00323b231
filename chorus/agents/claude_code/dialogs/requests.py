"""A prompt known from the client's own words instead of its screen: a tool and its input.

Receives what a permission hook or the control protocol asks about. Gives the same typed prompt a screen
gives, with the whole input as its body. Its keys are names for the choices: none of them is ever pressed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorus.model.prompt import Option, Prompt, fingerprint
from chorus.model.tools import COMMAND_KEY, PATH_KEYS, QUESTION_TOOL, find_tool


def told_prompt(tool: str, given: Mapping[str, Any], suggestions: Sequence[Mapping[str, Any]] = ()) -> Prompt:
    """The prompt for one call. `suggestions`: what the client would change if it is allowed for good."""
    questions = list(read_questions(given)) if tool == QUESTION_TOOL else []
    known = find_tool(tool)
    if questions:
        kind = "question"
        title = ", ".join(str(question.get("header", "")) for question in questions)
        asked, options = str(questions[0]["question"]), _choices(questions[0])
    else:
        kind, title = known.prompt_kind, known.prompt_title or f"Use {tool}"
        asked = "Do you want to proceed?"
        options = _yes_and_no(suggestions)
    labels = [option.label for option in options]
    exact = json.dumps(given, sort_keys=True, ensure_ascii=False)
    return Prompt(
        kind=kind,
        tool=tool,
        title=title,
        question=asked,
        options=options,
        fingerprint=fingerprint(tool, title, asked, labels, (exact,)),
        rule="told",
        body=tuple(_body(tool, given)),
    )


def line_prompt(text: str) -> Prompt:
    """A prompt the client put into words itself, to be answered with yes or no."""
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
        rule="told",
    )


def read_questions(given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The questions of a call that asks some, each with its text and its choices."""
    questions = given.get("questions")
    for question in questions if isinstance(questions, list) else []:
        if isinstance(question, Mapping) and isinstance(question.get("question"), str):
            yield question


def read_labels(question: Mapping[str, Any]) -> list[str]:
    options = question.get("options")
    found = [option.get("label") for option in options if isinstance(option, Mapping)] if options else []
    return [label for label in found if isinstance(label, str)]


def _choices(question: Mapping[str, Any]) -> tuple[Option, ...]:
    labels = read_labels(question)
    own = Option(str(len(labels) + 1), "Type something.", "other", "instead")
    return (*(Option(str(n), label, "other") for n, label in enumerate(labels, 1)), own)


def _yes_and_no(suggestions: Sequence[Mapping[str, Any]]) -> tuple[Option, ...]:
    options = [Option("1", "Yes", "allow")]
    if suggestions:
        changes = "; ".join(_render_suggestion(suggestion) for suggestion in suggestions)
        options.append(Option("2", f"Yes, and {changes}", "allow-always"))
    return (*options, Option(str(len(options) + 1), "No", "deny", "behind"))


def _render_suggestion(suggestion: Mapping[str, Any]) -> str:
    where = suggestion.get("destination", "session")
    match suggestion:
        case {"type": "setMode", "mode": str(mode)}:
            return f"switch to {mode} ({where})"
        case {"type": "addDirectories", "directories": list(directories)}:
            return f"allow access to {', '.join(map(str, directories))} ({where})"
        case {"type": "addRules", "rules": list(rules), "behavior": str(behavior)}:
            return f"{behavior} {', '.join(map(_render_rule, rules))} ({where})"
    return json.dumps(suggestion, sort_keys=True, ensure_ascii=False)


def _render_rule(rule: object) -> str:
    if not isinstance(rule, Mapping):
        return str(rule)
    content = rule.get("ruleContent")
    return str(rule.get("toolName")) + (f"({content})" if content else "")


def _body(tool: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Everything the call is about, in rows; nothing of the input is left out."""
    rest = dict(given)
    for name in (*PATH_KEYS, COMMAND_KEY, "url"):
        if isinstance(rest.get(name), str):
            yield from str(rest.pop(name)).split("\n")
    if tool == "Edit" and isinstance(rest.get("old_string"), str) and isinstance(rest.get("new_string"), str):
        yield from (f"-{row}" for row in str(rest.pop("old_string")).split("\n"))
        yield from (f"+{row}" for row in str(rest.pop("new_string")).split("\n"))
    questions = _render_questions(rest.get("questions"))
    if questions:
        del rest["questions"]
        yield from questions
    for name, value in rest.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *more = text.split("\n")
        yield f"{name}: {first}"
        yield from (f"  {row}" for row in more)


def _render_questions(questions: object) -> list[str]:
    """Each question with its choices, in rows; none if there is more to them than rows would tell."""
    rows: list[str] = []
    for question in questions if isinstance(questions, list) else []:
        match question:
            case {"question": str(text), "header": str(header), "options": list(options), **more}:
                many = " (several may be chosen)" if more.pop("multiSelect", False) is True else ""
                if more or not all(map(_is_plain, options)):
                    return []
                rows.append(f"{header}: {text}{many}")
                rows += [f"  {option['label']}: {option['description']}" for option in options]
            case _:
                return []
    return rows


def _is_plain(option: object) -> bool:
    return isinstance(option, Mapping) and set(option) == {"label", "description"}
