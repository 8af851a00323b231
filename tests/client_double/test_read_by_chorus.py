"""Chorus reads the screens, stream and transcript of the client double as the client's."""

import json
from pathlib import Path

import pytest

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.agents.claude_code.events.parser import parse_event
from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.agents.interface import Source
from chorus.model.action import Action
from chorus.model.outcomes import ActionClosed
from chorus.model.prompt import NoPrompt, Prompt, UnknownPrompt
from tests.client_double.conftest import ClientDouble
from tests.client_double.dialog_calls import CALLS, PROJECT
from tests.client_double.output import Answer
from tests.client_double.screen.blocks import AssistantText, Block, UserText
from tests.client_double.screen.dialogs import reordered
from tests.client_double.screen.fixed_dialogs import FixedDialog
from tests.client_double.screen.frame import Overlay, State, render
from tests.client_double.screen.questions import Questionnaire
from tests.client_double.script import Show
from tests.client_double.test_dialogs import ASKED, open_dialog
from tests.screens import shipped_rules

RULES = shipped_rules()
FAKE = " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel"


def screen_with(overlay: Overlay | None, *, columns: int = 100, said: str = "Working on it.") -> str:
    blocks: list[Block] = [UserText("go on"), AssistantText(said)]
    state = State("2.1.325", PROJECT, "default", blocks, overlay=overlay)
    return "\n".join(render(state, columns, 50, 0.0)) + "\n"


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("name", ASKED)
def test_each_dialog_is_read_with_the_meaning_of_its_keys(name: str, columns: int) -> None:
    found = read_screen(screen_with(open_dialog(name), columns=columns), RULES).found

    assert isinstance(found, Prompt)
    assert found.tool in (CALLS[name][0], None)
    for option in found.options:
        answer = open_dialog(name).press(option.key.lower())
        assert answer is not None
        assert answer.allow is (option.meaning != "deny"), option


def test_a_question_is_read_with_its_choices() -> None:
    form = Questionnaire(CALLS["ask"][1]["questions"])

    found = read_screen(screen_with(form), RULES).found

    assert isinstance(found, Prompt)
    assert [option.label for option in found.options][:2] == ["Python", "Rust"]


def test_options_in_another_order_are_read_off_the_screen_or_not_at_all() -> None:
    dialog_open = open_dialog("edit")
    labels = [option.label for option in dialog_open.dialog.options]
    dialog_open.dialog = reordered(dialog_open.dialog, list(reversed(labels)))

    found = read_screen(screen_with(dialog_open), RULES).found

    # Unknown is fine too: only a wrong key would be an error.
    if isinstance(found, Prompt):
        assert {option.meaning: option.key for option in found.options}["deny"] == "1"
    else:
        assert isinstance(found, UnknownPrompt)


def test_an_unknown_option_is_never_taken_for_a_plain_yes_or_no() -> None:
    dialog_open = open_dialog("edit")
    dialog_open.dialog = reordered(dialog_open.dialog, ["Yes", "Yes, and share it with everyone", "No"])

    found = read_screen(screen_with(dialog_open), RULES).found

    if isinstance(found, Prompt):
        assert found.options[1].meaning in ("other", "allow-always")
        assert [found.options[at].meaning for at in (0, 2)] == ["allow", "deny"]
    else:
        assert isinstance(found, UnknownPrompt)


def test_an_unscripted_dialog_is_unknown() -> None:
    show = Show(("New thing", "", "Shall the new thing happen?"), ("Certainly", "Perhaps"))
    placard = FixedDialog(show, (Answer(False), Answer(False)))

    assert isinstance(read_screen(screen_with(placard), RULES).found, UnknownPrompt)


def test_an_idle_screen_and_text_that_imitates_a_dialog_are_no_prompts() -> None:
    assert isinstance(read_screen(screen_with(None), RULES).found, NoPrompt)
    assert isinstance(read_screen(screen_with(None, said=FAKE), RULES).found, NoPrompt)


def actions_in(values: list[dict[str, object]], source: Source) -> list[Action]:
    pairing = Pairing()
    outcomes = [outcome for value in values for outcome in pairing.feed(parse_event(value, source=source))]
    return [outcome.action for outcome in outcomes if isinstance(outcome, ActionClosed)]


def test_the_stream_and_the_transcript_give_the_same_actions(client_double: ClientDouble) -> None:
    fails = {"file_path": "{cwd}/app.py", "old_string": "nope", "new_string": "x"}
    client_double.scripts = {
        "go": [
            [{"say": "Renaming."}, {"tool": "Edit", "input": CALLS["edit"][1]}],
            [{"tool": "Edit", "input": fails}, {"tool": "Write", "input": CALLS["create"][1]}],
            [{"tool": "Bash", "input": {"command": "npm run build"}}],
            [{"say": "All done."}],
        ]
    }

    streamed = actions_in(
        client_double.headless("go", "--permission-mode", "acceptEdits").events(), Source.STREAM
    )
    written = actions_in(client_double.transcript(), Source.TRANSCRIPT)

    assert [(action.tool, action.status) for action in streamed] == [
        ("Edit", "succeeded"),
        ("Edit", "failed"),
        ("Write", "succeeded"),
        ("Bash", "denied"),
    ]
    assert [(a.id, a.status, a.paths) for a in written] == [(a.id, a.status, a.paths) for a in streamed]
    assert streamed[0].lead_text == "Renaming."
    assert streamed[0].paths == (str(Path(client_double.project) / "app.py"),)


def test_chorus_knows_every_event_of_the_double(client_double: ClientDouble) -> None:
    client_double.scripts = {"go": [[{"think": "Hm."}, {"tool": "Edit", "input": CALLS["edit"][1]}]]}
    run = client_double.headless("go", "--dangerously-skip-permissions")

    for source, values in ((Source.STREAM, run.events()), (Source.TRANSCRIPT, client_double.transcript())):
        strangers = [
            v for v in values if type(parse_event(v, source=source)).__name__ in ("Unknown", "Malformed")
        ]
        assert strangers == [], json.dumps(strangers)
