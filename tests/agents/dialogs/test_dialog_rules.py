"""Rules are data: checked when they are read, extended by the user, explained on request."""

import tomllib
from typing import Any

import pytest

from chorus.agents.claude_code.dialogs.reader import explain_reading, read_screen
from chorus.agents.claude_code.dialogs.rules import BadPromptRules, parse_rules
from chorus.model.prompt import NoPrompt, Prompt, TextField, UnknownPrompt
from tests.screens import RULES_FILE, screen_text, shipped_rules

RULES = shipped_rules()


def shipped() -> dict[str, Any]:
    return tomllib.loads(RULES_FILE.read_text(encoding="utf-8"))


NEW_DIALOG = """\
────────────────────────────────────────
 Launch rocket
 Saturn
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
 Do you want to launch?
 ❯ 1. Yes
   2. Not today

 Esc to cancel
"""
USERS_RULE = {
    "label": {"not-today": {"text": "Not today", "meaning": "deny"}},
    "rule": [
        {
            "name": "rocket",
            "kind": "rocket",
            "tool": "Launch",
            "seen": ["9.9"],
            "title": "Launch rocket",
            "question": r"Do you want to launch\?",
            "footer": "Esc to cancel",
            "first": ["yes"],
            "last": ["not-today"],
        }
    ],
    "quiet": ["Nothing to see here"],
}


def test_every_shipped_rule_lists_the_client_versions_it_was_seen_on() -> None:
    assert all(rule.seen for rule in RULES.rule)
    assert len({rule.name for rule in RULES.rule}) == len(RULES.rule)


def test_a_dialog_that_matches_no_rule_is_unknown() -> None:
    reading = read_screen(NEW_DIALOG, RULES)
    assert isinstance(reading.found, UnknownPrompt)
    assert [attempt.rule for attempt in reading.attempts] == [rule.name for rule in RULES.rule]


def test_a_rule_in_the_users_config_makes_it_a_prompt() -> None:
    found = read_screen(NEW_DIALOG, parse_rules(shipped(), USERS_RULE)).found
    assert isinstance(found, Prompt)
    assert (found.kind, found.tool, found.keys_with_meaning("deny")) == ("rocket", "Launch", ("2",))
    assert found.option("2") == found.options[1]
    assert found.option("3") is None


def test_a_single_placeholder_is_the_same_as_a_list_of_one() -> None:
    label = {"text": "Not today", "meaning": "deny", "amend": "say when"}
    rules = parse_rules(shipped(), {**USERS_RULE, "label": {"not-today": label}})
    open_field = NEW_DIALOG.replace("❯ 1. Yes", "  1. Yes").replace(
        "  2. Not today", "❯ 2. Not today, say when"
    )
    found = read_screen(open_field, rules).found
    assert isinstance(found, Prompt)
    assert found.text_field == TextField("2", "", True)


def test_a_screen_the_user_lists_as_quiet_is_not_a_prompt() -> None:
    screen = "─" * 40 + "\n  Nothing to see here\n"
    assert isinstance(read_screen(screen, RULES).found, UnknownPrompt)
    assert isinstance(read_screen(screen, parse_rules(shipped(), USERS_RULE)).found, NoPrompt)


def test_an_empty_section_changes_nothing() -> None:
    assert parse_rules(shipped(), {}) == RULES


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"rule": [{**USERS_RULE["rule"][0], "title": "("}]}, "is not a pattern"),  # type: ignore[index]  # known to be a table
        ({"rule": [{**USERS_RULE["rule"][0], "title": 3}]}, "rule.0.title"),  # type: ignore[index]  # known to be a table
        ({"rule": USERS_RULE["rule"]}, "no label is named not-today"),
        ({"rule": [{**USERS_RULE["rule"][0], "seen": []}]}, "rule.0.seen"),  # type: ignore[index]  # known to be a table
        ({"rule": [{**USERS_RULE["rule"][0], "colour": "red"}]}, "rule.0.colour"),  # type: ignore[index]  # known to be a table
        ({"label": {"x": {"text": "x", "meaning": "perhaps"}}}, "label.x.meaning"),
        ({"format": 2}, "format 2 is not known"),
        ({"rule": 5}, "prompt rules, rule: "),
        ({"label": 5}, "prompt rules, label: "),
        ({"label": [1]}, "prompt rules, label: "),
        ({"quiet": "x"}, "prompt rules, quiet: "),
        ({"rules": []}, "prompt rules, rules: "),
    ],
)
def test_an_invalid_rule_is_refused_with_its_location(extra: dict[str, Any], message: str) -> None:
    with pytest.raises(BadPromptRules, match=message):
        parse_rules(shipped(), extra)


def test_the_explanation_of_a_prompt_has_the_reason_why_each_earlier_rule_did_not_match() -> None:
    lines = explain_reading(read_screen(screen_text("recordings/tui/bash_80.txt"), RULES))
    assert lines[0] == "edit: no, the title is 'Bash command'"
    assert lines[-1] == "bash: yes, every part matches; this is a prompt of kind bash"


def test_the_explanation_of_an_unknown_dialog_ends_with_the_result() -> None:
    assert explain_reading(read_screen(NEW_DIALOG, RULES))[-1] == "unknown: no rule matches this dialog"


def test_the_explanation_of_a_screen_without_a_prompt_has_the_reason() -> None:
    lines = explain_reading(read_screen(screen_text("recordings/tui/fake_prompt_in_text.txt"), RULES))
    assert lines == ["none: the input box is shown: no prompt is pending"]


def test_the_id_of_a_prompt_is_the_start_of_its_fingerprint() -> None:
    found = read_screen(screen_text("recordings/tui/edit_80.txt"), RULES).found
    assert isinstance(found, Prompt)
    assert found.fingerprint.startswith(found.id)
