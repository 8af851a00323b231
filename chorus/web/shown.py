"""The content of the page, as JSON. Texts are sanitized here, as for a terminal.

The page names options by position, and the server takes their text from the prompt itself.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

from chorus.model.api.json_api import ActionJson, InboxRepositoryJson, LogEntryJson, PromptJson, SessionJson
from chorus.model.prompt import NOT_RECOGNISED, split_body, without_root
from chorus.model.tools import EDIT_TOOLS
from chorus.panel.state.items import parse_prompt
from chorus.panel.style.labels import STATE_LABELS
from chorus.text.sanitize import MAX_LINE_CHARACTERS, is_cut, sanitize, sanitize_lines
from chorus.web.offers import Offers

# A command or diff longer than this must be read in the session's own pane.
MAX_BODY_LINES = 2000
MAX_PATCH_LINES = 5000
UNKNOWN_KINDS = frozenset({"unknown", "none", ""})
APPROVALS = frozenset({"allow", "allow-always"})

# A row that is only this separates the command or change from other text. A row of text begins in the second
# column or with a sign.
SEPARATOR = "╌"

# A row of a diff as the client draws it: a number, then the sign.
_NUMBERED_LINE = re.compile(r" *\d+ ([ +-])")

# A kind and a line. Kinds: `+`, `-`, `@` (hunk header), `=` (file header, text around a command) or a blank.
KindAndLine: TypeAlias = list[str]


class ShownOption(TypedDict):
    label: str
    meaning: str
    digit: str
    text: bool  # it takes typed text


class ShownChoice(TypedDict):
    label: str
    description: str


class ShownQuestion(TypedDict):
    heading: str
    question: str
    several: bool
    choices: list[ShownChoice]


class ShownPrompt(TypedDict):
    id: str
    title: str
    question: str
    path: str | None
    session: str
    since: str
    unknown: bool
    warning: str | None  # why it cannot be approved here
    lines: list[KindAndLine]
    options: list[ShownOption]
    questions: list[ShownQuestion] | None


class OfferedPrompt(ShownPrompt):
    offer: str | None  # what an answer names; None: the page is read-only, or an answer is being sent


class ShownAction(TypedDict):
    id: str | None
    n: int | None
    tool: str
    path: str
    more: int  # how many more files
    summary: str
    time: str
    added: int | None
    removed: int | None
    message: str


class ShownSession(TypedDict):
    name: str
    state: str
    label: str
    pane: str
    model: str
    cost: float | None
    error: str


class ShownRepository(TypedDict):
    key: str
    name: str
    path: str
    state: str
    problem: str | None
    prompts: list[OfferedPrompt]
    sessions: list[ShownSession]
    open: int
    actions: list[ShownAction]


def shown_repositories(
    repositories: Mapping[str, InboxRepositoryJson], offers: Offers, *, read_only: bool
) -> list[ShownRepository]:
    return [
        _shown_repository(key, repository, offers, read_only=read_only)
        for key, repository in repositories.items()
    ]


def _shown_repository(
    key: str, repository: InboxRepositoryJson, offers: Offers, *, read_only: bool
) -> ShownRepository:
    titles = {session["id"]: _session_name(session) for session in repository["sessions"]}
    prompts: list[OfferedPrompt] = []
    for prompt in repository["prompts"]:
        offer = None if read_only else offers.find(key, prompt["id"])
        prompts.append({**shown_prompt(prompt, titles, repository["path"]), "offer": offer})
    return {
        "key": key,
        "name": sanitize(repository["name"]),
        "path": sanitize(repository["path"]),
        "state": repository["state"],
        "problem": sanitize(repository["problem"]) if repository["problem"] else None,
        "prompts": prompts,
        "sessions": [_shown_session(session) for session in repository["sessions"]],
        "open": repository["open"],
        "actions": [shown_action(action) for action in reversed(repository["actions"])],
    }


def why_not_approved(prompt: PromptJson) -> str | None:
    """Return the reason why a prompt cannot be approved from the page, or None if it can."""
    parsed = parse_prompt(prompt)
    if parsed is None or parsed.kind in UNKNOWN_KINDS:
        return f"{NOT_RECOGNISED}."
    if parsed.cut:
        return "Part of the prompt is not on the pane's screen: make that pane taller, or answer it there."
    labels = [option.label for option in parsed.options]
    longest = max(map(len, (parsed.title, parsed.question, parsed.path or "", *labels)))
    if is_cut(parsed.body, max_lines=MAX_BODY_LINES) or longest > MAX_LINE_CHARACTERS:
        return "The prompt is too long for this page: read and answer it in its own pane."
    return None


def shown_prompt(prompt: PromptJson, titles: Mapping[str, str], root: str) -> ShownPrompt:
    """Return a prompt as the page shows it. `root`: the repository's work tree."""
    parsed = parse_prompt(prompt)
    assert parsed is not None  # it has an id
    return {
        "id": sanitize(parsed.id),
        "title": sanitize(parsed.title or parsed.tool or "A question"),
        "question": sanitize(parsed.question),
        "path": sanitize(parsed.path) if parsed.path else None,
        "session": titles.get(parsed.session, ""),
        "since": sanitize(parsed.since),
        "unknown": parsed.kind in UNKNOWN_KINDS,
        "warning": why_not_approved(prompt),
        "lines": _signed_lines(
            parsed.body.strip("\n"),
            is_diff=parsed.tool in EDIT_TOOLS,
            drawn=not prompt.get("input"),
            framed=bool(prompt.get("body")),
            root=sanitize(root),
        ),
        "options": [
            {
                "label": sanitize(option.label),
                "meaning": sanitize(option.meaning),
                "digit": sanitize(option.digit),
                "text": option.key == parsed.text_option,
            }
            for option in parsed.options
        ],
        "questions": shown_questions(prompt),
    }


def shown_questions(prompt: PromptJson) -> list[ShownQuestion] | None:
    """Return a prompt's questions and choices as the page shows them; None if it has none."""
    questions = original_questions(prompt)
    if questions is None:
        return None
    return [
        {
            "heading": sanitize(str(question.get("header") or "")),
            "question": sanitize(question["question"]),
            "several": question.get("multiSelect") is True,
            "choices": [
                {
                    "label": sanitize(str(choice["label"])),
                    "description": sanitize(str(choice.get("description") or "")),
                }
                for choice in question["options"]
            ],
        }
        for question in questions
    ]


def original_questions(prompt: PromptJson) -> list[dict[str, Any]] | None:
    """Return a prompt's questions as the client sent them, or None if there are none in the known form."""
    questions = (prompt.get("input") or {}).get("questions")
    if prompt["kind"] != "question" or not isinstance(questions, list) or not questions:
        return None
    for question in questions:
        if not isinstance(question, dict) or not isinstance(question.get("question"), str):
            return None
        choices = question.get("options")
        if not isinstance(choices, list) or not all(
            isinstance(choice, dict) and isinstance(choice.get("label"), str) for choice in choices
        ):
            return None
    return questions


def shown_action(action: LogEntryJson) -> ShownAction:
    paths = action.get("paths") or []
    return {
        "id": action["id"],
        "n": action.get("n"),
        "tool": sanitize(action.get("tool") or ""),
        "path": sanitize(paths[0]) if paths else "",
        "more": max((action.get("files") or len(paths)) - 1, 0),
        "summary": sanitize(action["summary"]),
        "time": sanitize(action["time"]),
        "added": action.get("added"),
        "removed": action.get("removed"),
        "message": sanitize(action.get("message") or ""),
    }


def shown_patch(action: ActionJson) -> list[KindAndLine]:
    lines = sanitize_lines(action["patch"].removesuffix("\n"), max_lines=MAX_PATCH_LINES)
    shown: list[KindAndLine] = []
    in_hunk = False
    for line in lines:
        if line.startswith("diff "):
            in_hunk = False
        in_hunk |= line.startswith("@@")
        kind = line[:1] if in_hunk and line[:1] in "+-@" else " " if in_hunk else "="
        shown.append([kind or " ", line])
    return shown


def _signed_lines(body: str, *, is_diff: bool, drawn: bool, framed: bool, root: str) -> list[KindAndLine]:
    """Return the lines of a prompt's body, each with its kind.

    `drawn`: the client drew the body. `framed`: Chorus put separators around the command.
    """
    if not body.strip():
        return []
    lines, around = sanitize_lines(body, max_lines=MAX_BODY_LINES), list[str]()
    if drawn:
        lines, around = split_body(lines)
    elif framed and is_diff:
        lines = [line for line in lines if line != SEPARATOR]
    elif framed:
        lines, around = _split_framed(lines)
    if not is_diff:
        words = [line for line in around if line.strip()]
        return [*([" ", line] for line in lines), *(["=", line] for line in words)]
    lines[0] = without_root(lines[0], root)
    numbered = [match for line in lines if (match := _NUMBERED_LINE.match(line))]
    column = min((match.start(1) for match in numbered), default=0)
    return [[_sign(line, column), line] for line in lines]


def _split_framed(lines: list[str]) -> tuple[list[str], list[str]]:
    """Split the body into the command, without the indent that Chorus adds, and the text around it."""
    ends = [index for index, line in enumerate(lines) if line == SEPARATOR]
    if len(ends) < 2:
        return lines, []
    first, last = ends[0], ends[-1]
    command = [line.removeprefix(" ") for line in lines[first + 1 : last]]
    return command, [line.removeprefix(" ") for line in (*lines[:first], *lines[last + 1 :])]


def _sign(line: str, column: int) -> str:
    sign = line[column : column + 1] if not line[:column].strip(" 0123456789") else " "
    return sign if sign in ("+", "-") else " "


def _shown_session(session: SessionJson) -> ShownSession:
    return {
        "name": _session_name(session),
        "state": sanitize(session["state"]),
        "label": STATE_LABELS.get(session["state"], sanitize(session["state"])),
        "pane": sanitize(session.get("pane") or ""),
        "model": sanitize(session.get("model") or ""),
        "cost": session.get("cost_usd"),
        "error": sanitize(session.get("error") or ""),
    }


def _session_name(session: SessionJson) -> str:
    return sanitize(session.get("title") or session["id"][:8])
