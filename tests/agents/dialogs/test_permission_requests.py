"""A permission request becomes a prompt, and an answer to it the client's decision."""

import json
from typing import Any

import pytest

from chorus.agents.claude_code.dialogs.permission_requests import (
    may_be_about,
    prompt_for_call,
    prompt_for_text,
)
from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.agents.claude_code.replies.permission_replies import DEFAULT_DENIAL, plan_permission_reply
from chorus.agents.interface import CannotAnswer
from chorus.model.answer import (
    Allow,
    AllowAlways,
    Answer,
    ChooseOption,
    Deny,
    QuestionAnswer,
    QuestionAnswers,
)
from chorus.model.prompt import Prompt
from tests.screens import screen_text, shipped_rules

EDIT = {"file_path": "/p/app.py", "old_string": "a\nb", "new_string": "c", "replace_all": False}
BASH = {"command": "make &&\n ls", "description": "Build"}
SUGGESTIONS: list[dict[str, Any]] = [
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    {"type": "addDirectories", "directories": ["/p", "/q"]},
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "make"}, {"toolName": "Edit"}, "odd"],
        "behavior": "allow",
        "destination": "localSettings",
    },
    {"type": "new"},
]
ONE = {"question": "Which?", "header": "W", "options": [{"label": "Go"}, {"label": "Rust"}, "odd", {}]}
MANY = {
    "question": "What?",
    "header": "F",
    "options": [{"label": "Log"}, {"label": "Undo"}],
    "multiSelect": True,
}
MOVED = {"old_string": "a\nb\nd", "new_string": "a\nc\nd", "replace_all": True}
ASK = {"questions": ["odd", ONE]}
BOTH = {"questions": [ONE, MANY]}
BARE = {"questions": [{"question": "Q"}]}


@pytest.mark.parametrize(
    ("tool", "tool_input", "kind", "title", "body"),
    [
        ("Edit", EDIT, "edit", "Edit file", [" /p/app.py", "╌", "-a", "-b", "+c", "╌"]),
        ("Edit", MOVED, "edit", "Edit file", ["╌", " a", "-b", "+c", " d", "╌", " replace_all: true"]),
        ("Edit", {"old_string": 1}, "edit", "Edit file", [" old_string: 1"]),
        ("Bash", BASH, "bash", "Bash command", ["╌", " make &&", "  ls", "╌", " description: Build"]),
        (
            "Write",
            {"file_path": "x", "content": "a\n╌"},
            "create",
            "Write file",
            [" x", "╌", " a", " ╌", "╌"],
        ),
        ("Edit", {"content": "a", "file_path": "╌"}, "edit", "Edit file", [" ╌", " content: a"]),
        ("WebFetch", {"url": "https://e"}, "fetch", "Use WebFetch", [" https://e"]),
        (
            "mcp__s__t",
            {"n": {"é": 1}, "m": "a\n╌"},
            "mcp",
            "Use mcp__s__t",
            [' n: {"é": 1}', " m: a", "   ╌"],
        ),
        ("Strange", {}, "tool", "Use Strange", []),
        ("AskUserQuestion", {"questions": "?"}, "tool", "Use AskUserQuestion", [" questions: ?"]),
    ],
)
def test_a_prompt_for_a_call_shows_the_whole_input(
    tool: str, tool_input: dict[str, Any], kind: str, title: str, body: list[str]
) -> None:
    prompt = prompt_for_call(tool, tool_input)

    assert (prompt.kind, prompt.title, list(prompt.body)) == (kind, title, body)
    assert [(o.key, o.label, o.meaning) for o in prompt.options] == [
        ("1", "Yes", "allow"),
        ("2", "No", "deny"),
    ]


PLAIN = {"question": "Which?", "header": "A", "options": [{"label": "x", "description": "fast"}]}


def answer_one(question: str, labels: tuple[str, ...], text: str | None = None) -> QuestionAnswers:
    return QuestionAnswers((QuestionAnswer(question, labels, text),))


TWICE = QuestionAnswers((QuestionAnswer("Which?", ("Go",)),) * 2)


def test_questions_are_shown_in_rows_with_their_options() -> None:
    several = {**PLAIN, "question": "How?", "header": "B", "multiSelect": True}
    assert list(prompt_for_call("AskUserQuestion", {"questions": [PLAIN, several]}).body) == [
        " A: Which?",
        "   x: fast",
        " B: How? (several may be chosen)",
        "   x: fast",
    ]


@pytest.mark.parametrize(
    "more",
    [{**PLAIN, "preview": 1}, {**PLAIN, "options": [{"label": "x"}]}, {**PLAIN, "options": ["x"]}, "odd"],
)
def test_a_question_with_unknown_fields_is_shown_as_json(more: object) -> None:
    (row,) = prompt_for_call("AskUserQuestion", {"questions": [PLAIN, more]}).body
    assert json.loads(row.removeprefix(" questions: ")) == [PLAIN, more]


def test_suggested_permission_changes_are_in_the_label() -> None:
    yes, always, no = prompt_for_call("Bash", BASH, SUGGESTIONS).options

    assert always.label == (
        "Yes, and switch to accept edits for this session; allow access to /p, /q for this session; "
        'allow Bash(make), Edit, odd always in this project; {"type": "new"}'
    )
    assert (yes.key, always.key, no.key) == ("1", "2", "3")


def test_calls_that_differ_anywhere_have_different_fingerprints() -> None:
    calls: list[dict[str, Any]] = [EDIT, {**EDIT, "replace_all": True}, {**EDIT, "old_string": "a\nb "}, BASH]
    assert len({prompt_for_call("Edit", call).fingerprint for call in calls}) == len(calls)
    assert (
        prompt_for_call("Edit", EDIT).fingerprint
        == prompt_for_call("Edit", dict(reversed(EDIT.items()))).fingerprint
    )


def test_a_question_has_its_options_and_a_text_field() -> None:
    prompt = prompt_for_call("AskUserQuestion", BOTH)

    assert (prompt.kind, prompt.title, prompt.question) == ("question", "W, F", "Which?")
    assert [(option.key, option.label) for option in prompt.options] == [
        ("1", "Go"), ("2", "Rust"), ("3", "Type something."),
    ]  # fmt: skip


ALLOWED = {"behavior": "allow", "updatedInput": BASH}


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (Allow(), ALLOWED),
        (ChooseOption("1"), ALLOWED),
        (AllowAlways(), {**ALLOWED, "updatedPermissions": SUGGESTIONS}),
        (ChooseOption("2"), {**ALLOWED, "updatedPermissions": SUGGESTIONS}),
        (Deny(), {"behavior": "deny", "message": DEFAULT_DENIAL}),
        (Deny("not so"), {"behavior": "deny", "message": "not so"}),
        (ChooseOption("3", "not so"), {"behavior": "deny", "message": "not so"}),
    ],
)
def test_an_answer_becomes_the_decision_the_client_expects(answer: Answer, decision: dict[str, Any]) -> None:
    assert (
        plan_permission_reply(answer, prompt_for_call("Bash", BASH, SUGGESTIONS), BASH, SUGGESTIONS)
        == decision
    )


@pytest.mark.parametrize(
    ("tool_input", "answer", "answers"),
    [
        (ASK, ChooseOption("2"), {"Which?": "Rust"}),
        (ASK, ChooseOption("3", "Zig"), {"Which?": "Zig"}),
        (ASK, QuestionAnswers((QuestionAnswer("Which?", text="Zig, later"),)), {"Which?": "Zig, later"}),
        (
            BOTH,
            QuestionAnswers((QuestionAnswer("What?", ("Undo", "Log")), QuestionAnswer("Which?", ("Go",)))),
            {"What?": "Undo, Log", "Which?": "Go"},
        ),
    ],
)
def test_answers_to_questions_are_added_to_the_input(
    tool_input: dict[str, Any], answer: Answer, answers: dict[str, str]
) -> None:
    decision = plan_permission_reply(answer, prompt_for_call("AskUserQuestion", tool_input), tool_input)
    assert decision == {"behavior": "allow", "updatedInput": {**tool_input, "answers": answers}}


@pytest.mark.parametrize(
    ("tool", "tool_input", "answer", "reason"),
    [
        ("Bash", BASH, AllowAlways(), "don't ask again"),
        ("Bash", BASH, Allow("but"), "cannot be approved with a message"),
        ("Bash", BASH, ChooseOption("9"), "no option '9'"),
        ("AskUserQuestion", ASK, Allow(), "needs an option or a text"),
        ("AskUserQuestion", BOTH, ChooseOption("1"), "2 question.s."),
        ("AskUserQuestion", ASK, ChooseOption("3"), "exactly one choice"),
        ("AskUserQuestion", ASK, answer_one("Who?", ("Go",)), "no such question"),
        ("AskUserQuestion", ASK, TWICE, "no such question"),
        ("AskUserQuestion", ASK, answer_one("Which?", ("C",)), "option has the label 'C'"),
        ("AskUserQuestion", ASK, answer_one("Which?", ("Go", "Rust")), "exactly one choice"),
        ("AskUserQuestion", {"questions": [MANY]}, answer_one("What?", ()), "at least one choice"),
        ("AskUserQuestion", ASK, answer_one("Which?", ("Go",), "and"), "not both"),
        ("AskUserQuestion", BARE, answer_one("Q", ("a",)), "no option has the label"),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_fit_is_refused(
    tool: str, tool_input: dict[str, Any], answer: Answer, reason: str
) -> None:
    with pytest.raises(CannotAnswer, match=reason):
        plan_permission_reply(answer, prompt_for_call(tool, tool_input), tool_input)


def test_a_permission_request_with_only_a_text_is_answered_yes_or_no() -> None:
    prompt = prompt_for_text("Allow it?")

    assert (prompt.kind, prompt.tool, prompt.question) == ("permission", None, "Allow it?")
    assert plan_permission_reply(ChooseOption("y"), prompt, {})["behavior"] == "allow"
    assert plan_permission_reply(Deny(), prompt, {})["behavior"] == "deny"


def prompt(name: str) -> Prompt:
    found = read_screen(screen_text(f"screens/2.1.325/{name}.txt"), shipped_rules()).found
    assert isinstance(found, Prompt)
    return found


@pytest.mark.parametrize(
    ("name", "tool", "tool_input", "expected"),
    [
        ("bashrm_80", "Bash", {"command": "rm -rf build"}, True),
        ("bashrm_80", "Bash", {"command": "rm -rf dist"}, False),
        ("bashrm_80", "Edit", {"file_path": "/p/app.py"}, False),
        ("edit_80", "Edit", {"file_path": "/src/proj/app.py"}, True),
        ("edit_80", "Edit", {"file_path": "/src/proj/other.py"}, False),
        ("edit_80", "Edit", {}, True),
        ("mcp_80", "mcp__any__thing", {}, True),
    ],
)
def test_a_prompt_may_only_be_about_a_call_that_fits_its_dialog(
    name: str, tool: str, tool_input: dict[str, Any], expected: bool
) -> None:
    assert may_be_about(prompt(name), tool, tool_input) is expected
