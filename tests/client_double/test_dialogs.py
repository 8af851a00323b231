"""The client double draws dialogs and takes keys exactly as the real client does."""

import re
from pathlib import Path

import pytest

from tests.client_double.change import Change
from tests.client_double.dialog_calls import APP, CALLS, PROJECT
from tests.client_double.output import Answer, Question
from tests.client_double.permissions import Permissions
from tests.client_double.screen.dialogs import dialog_for, reordered
from tests.client_double.screen.fixed_dialogs import LEAVE_PLAN, FixedDialog
from tests.client_double.screen.open_dialog import Content, OpenDialog
from tests.client_double.screen.questions import Questionnaire
from tests.client_double.session import Session
from tests.client_double.settings import Settings
from tests.client_double.values import Agent, Call

SCREENS = Path(__file__).parents[2] / "fixtures" / "standin" / "screens"
CWD = Path(PROJECT)
ASKED = [name for name in CALLS if not name.startswith("ask")]


def dialog_on(screen: str) -> list[str]:
    """The rows of a recorded screen from the dialog's first rule on."""
    rows = screen.rstrip("\n").split("\n")
    first = next(at for at, row in enumerate(rows) if re.fullmatch(r"─{20,}|▔+.*", row))
    return rows[first:]


def plain(rows: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", row).rstrip() for row in rows]


def question_of(name: str, agent: Agent | None = None) -> Question:
    tool, arguments = CALLS[name]
    filled = {key: v.replace("{cwd}", PROJECT) if isinstance(v, str) else v for key, v in arguments.items()}
    call = Call("toolu_1", tool, filled, agent)
    session = Session(CWD, Path("/nowhere"), "2.1.325", True, "default")
    verdict = Permissions(session, Settings(Path("/nowhere"), CWD, None)).judge(call)
    assert verdict.ask
    return Question(call, verdict, change_of(call))


def change_of(call: Call) -> Change | None:
    path = Path(str(call.input.get("file_path", "")))
    match call.tool:
        case "Edit":
            after = APP.replace(call.input["old_string"], call.input["new_string"])
            return Change(path, APP, after, b"", "", {})
        case "Write":
            return Change(path, APP if path.name == "app.py" else None, call.input["content"], b"", "", {})
    return None


def open_dialog(name: str, agent: Agent | None = None) -> OpenDialog:
    question = question_of(name, agent)
    change, content = question.change, None
    if change is not None:
        fresh = change.before is None
        hunks = () if fresh else tuple(change.patch)
        content = Content(question.call.tool, hunks, change.after if fresh else None)
    return OpenDialog(dialog_for(question, CWD, {}), content, complete=True)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", ASKED)
def test_a_permission_dialog_equals_the_clients_row_by_row(name: str, columns: int) -> None:
    recorded = dialog_on((SCREENS / f"{name}_{columns}.txt").read_text())

    assert plain(open_dialog(name).render(columns))[1:] == recorded


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", ["ask", "askmulti"])
def test_a_question_equals_the_clients_row_by_row(name: str, columns: int) -> None:
    recorded = dialog_on((SCREENS / f"{name}_{columns}.txt").read_text())

    assert plain(Questionnaire(CALLS[name][1]["questions"]).render(columns)) == recorded


@pytest.mark.parametrize("columns", [80, 120])
def test_the_plan_mode_dialog_equals_the_clients(columns: int) -> None:
    recorded = dialog_on((SCREENS / f"plan_{columns}.txt").read_text())
    placard = FixedDialog(LEAVE_PLAN, (Answer(True), Answer(False)), at_the_bottom=True)

    # The first row also shows the effort, which is not part of the question.
    assert plain(placard.render(columns))[1:] == recorded[1:]


@pytest.mark.parametrize("columns", [80, 120])
def test_a_sub_agents_dialog_names_the_agent(columns: int) -> None:
    recorded = dialog_on((SCREENS / f"subagent_{columns}.txt").read_text())
    agent = Agent("a1", "general-purpose", "Small job", "toolu_0", background=True)

    drawn = plain(open_dialog("edit", agent).render(columns))

    assert drawn[2] == recorded[1]
    assert drawn[-1] == recorded[-1]


def test_a_dialog_is_first_drawn_without_its_change() -> None:
    dialog_open = open_dialog("edit")
    dialog_open.complete = False

    rows = plain(dialog_open.render(80))

    assert "…" in rows
    assert " 1 -def old():" not in rows
    assert " ❯ 1. Yes" in rows


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["1"], Answer(True)),
        (["enter"], Answer(True)),
        (["2"], Answer(True, always=True, switch_mode="acceptEdits")),
        (["btab"], Answer(True, always=True, switch_mode="acceptEdits")),
        (["down", "enter"], Answer(True, always=True, switch_mode="acceptEdits")),
        (["3"], Answer(False)),
        (["escape"], Answer(False)),
        (["tab", *"do b", "enter"], Answer(True, feedback="do b")),
        (["down", "down", "tab", *"use 4", "enter"], Answer(False, feedback="use 4")),
    ],
)
def test_a_key_answers_an_edit_dialog_as_it_answers_the_clients(keys: list[str], answer: Answer) -> None:
    dialog_open = open_dialog("edit")

    answers = [dialog_open.press(key) for key in keys]

    assert answers == [*[None] * (len(keys) - 1), answer]


@pytest.mark.parametrize("key", ["y", "n", "4", "0", "ctrl-c", "paste:1", "x", "left"])
def test_every_other_key_does_nothing(key: str) -> None:
    dialog_open = open_dialog("edit")
    before = dialog_open.render(80)

    assert dialog_open.press(key) is None
    assert dialog_open.render(80) == before


def test_the_digit_of_no_is_not_the_same_in_every_dialog() -> None:
    assert open_dialog("touch").press("3") == Answer(True, switch_mode="auto")
    assert open_dialog("touch").press("4") == Answer(False)
    assert open_dialog("loop").press("3") == Answer(False)


def test_text_typed_into_an_option_is_shown_after_it() -> None:
    dialog_open = open_dialog("touch")
    dialog_open.press("tab")

    assert " ❯ 1. Yes, and tell Claude what to do next" in plain(dialog_open.render(120))
    dialog_open.press("w")
    assert " ❯ 1. Yes, w" in plain(dialog_open.render(120))


def test_several_questions_are_answered_one_by_one_and_submitted() -> None:
    form = Questionnaire(CALLS["askmulti"][1]["questions"])

    for key in ("1", "2", "tab", "1"):
        assert form.press(key) is None
    answer = form.press("1")

    assert answer is not None
    assert answer.answers == {"Which features?": "Log, Undo", "Which language?": "Python"}


def test_a_question_can_be_answered_with_free_text() -> None:
    form = Questionnaire(CALLS["ask"][1]["questions"])

    answers = [form.press(key) for key in ("3", "G", "o", "enter")]

    assert answers[-1] == Answer(True, answers={"Which language?": "Go"})


def test_a_script_may_give_a_dialog_other_options() -> None:
    dialog = reordered(dialog_for(question_of("edit"), CWD, {}), ["No", "Yes", "Ask me later"])
    dialog_open = OpenDialog(dialog)

    assert " ❯ 1. No" in plain(dialog_open.render(80))
    assert dialog_open.press("1") == Answer(False)
    assert dialog_open.press("2") == Answer(True)
    assert dialog_open.press("3") == Answer(False)
