"""Turn an MCP server's request to the user into a prompt."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from chorus.agents.claude_code.dialogs.permission_requests import read_questions
from chorus.model.prompt import Option, Prompt, fingerprint
from chorus.model.tools import ELICITATION

YES, NO = "Yes", "No"


def render_form(schema: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the fields of a form as questions, in the format of the agent's own questions.

    If several fields have the same text, each text is followed by the name of its field. Reason: an answer
    names its question by the question's text.
    """
    required, fields = read_required(schema), list(read_fields(schema))
    texts = [str(field.get("description") or field.get("title") or name) for name, field in fields]
    count = Counter(texts)
    return [
        _question(
            name, text if count[text] == 1 else f"{text} ({name})", field, optional=name not in required
        )
        for (name, field), text in zip(fields, texts, strict=True)
    ]


def read_required(schema: Mapping[str, Any] | None) -> list[str]:
    names = (schema or {}).get("required")
    return [str(name) for name in names] if isinstance(names, list) else []


def describe_values(field: Mapping[str, Any]) -> str:
    """Describe the values that a field takes; empty if it takes any text."""
    if choices := read_choices(field):
        return ", ".join(choices)
    if field.get("type") not in ("integer", "number"):
        return ""
    least, most = read_limits(field)
    limits = f" from {least}" * (least is not None) + f" up to {most}" * (most is not None)
    return f"a number{limits}"


def read_limits(field: Mapping[str, Any]) -> tuple[int | float | None, int | float | None]:
    least, most = (field.get(name) for name in ("minimum", "maximum"))
    return (
        least if isinstance(least, (int, float)) else None,
        most if isinstance(most, (int, float)) else None,
    )


def read_fields(schema: Mapping[str, Any] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    properties = (schema or {}).get("properties")
    for name, field in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(field, Mapping):
            yield str(name), field


def read_choices(field: Mapping[str, Any]) -> list[str]:
    """Return the values that a field may have; empty if they are not listed."""
    if field.get("type") == "boolean":
        return [YES, NO]
    values = field.get("enum")
    return [str(value) for value in values] if isinstance(values, list) else []


def prompt_for_elicitation(asked: Mapping[str, Any]) -> Prompt:
    questions = list(read_questions(asked))
    title = f"{asked.get('server') or 'An MCP server'} asks"
    message, body = str(asked.get("message") or ""), list[str]()
    if isinstance(asked.get("url"), str):
        body.append(asked["url"])
    if questions:
        labels = read_labels_of(questions[0])
        text_field = Option(str(len(labels) + 1), "Type something.", "other", "replace")
        own = tuple(Option(str(n), label, "other") for n, label in enumerate(labels, 1))
        options = own if labels else (text_field,)
        question = str(questions[0]["question"])
        body += [message, *(_describe_question(one) for one in questions[1:])]
        kind = "question"
    else:
        options = (Option("1", YES, "allow"), Option("2", NO, "deny"))
        question, kind = message, "permission"
    return Prompt(
        kind=kind,
        tool=ELICITATION,
        title=title,
        question=question,
        options=options,
        fingerprint=fingerprint(ELICITATION, title, question, [one.label for one in options], tuple(body)),
        rule="elicitation",
        body=tuple(body),
    )


def read_labels_of(question: Mapping[str, Any]) -> list[str]:
    return [str(option["label"]) for option in question["options"]]


def _describe_question(question: Mapping[str, Any]) -> str:
    more = "; ".join(filter(None, (question.get("takes"), "optional" if question.get("optional") else "")))
    name, text = str(question.get("header")), str(question["question"])
    about = f"{name}: {text}" if name != text else text
    return f"{about} ({more})" if more else about


def _question(name: str, text: str, field: Mapping[str, Any], *, optional: bool) -> dict[str, Any]:
    options = [{"label": label, "description": ""} for label in read_choices(field)]
    question = {"question": text, "header": name, "options": options, "multiSelect": False}
    return {**question, "optional": optional, "takes": describe_values(field)}
