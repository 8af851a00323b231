"""Hooks added to a settings text and removed again: nothing else changes, and the text is restored."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorus.agents.claude_code.settings.hook_entries import (
    SettingsUnreadable,
    add_hooks,
    find_hooks,
    remove_hooks,
)
from chorus.agents.claude_code.settings.json_text import NotJson, parse_json

OURS = {"type": "command", "command": "/opt/chorus/chorus-hook", "args": [], "timeout": 10}
GROUPS: dict[str, Any] = {
    "PreToolUse": [{"matcher": "^(?!Read$)", "hooks": [OURS]}, {"matcher": "Edit", "hooks": [OURS]}],
    "Stop": [{"hooks": [OURS]}],
}
THEIRS = {"hooks": [{"type": "command", "command": "their-hook"}]}

TEXTS = {
    "an empty object": "{}",
    "an empty object over lines": "{\n}\n",
    "one line": '{"model": "opus"}',
    "two blanks": '{\n  "model": "opus"\n}\n',
    "tabs": '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "1"\n\t}\n}',
    "carriage returns": '{\r\n  "model": "opus"\r\n}\r\n',
    "odd layout": '\n { "a":1 ,\n"b" : [ ] , "c":{ "d" : null }\t} \n\n',
    "escapes and other scripts": '{"a": "\\u00e9 \\"}{[,", "日本": "\\\\"}',
    "a mark at the beginning": '\ufeff{"a": 1.5e3, "b": true}',
    "empty hooks": '{"hooks": {}}',
    "empty hooks with a blank": '{"hooks": { }, "x": 1}',
    "an empty list": '{"hooks": {"PreToolUse": []}}',
    "an empty list with blanks": '{"hooks": {"PreToolUse": [  \n ]}}',
    "their hooks": json.dumps({"hooks": {"PreToolUse": [THEIRS], "Stop": [THEIRS, THEIRS]}}),
    "their hooks over lines": json.dumps(
        {"hooks": {"PreToolUse": [THEIRS], "X": [THEIRS]}, "z": 0}, indent=4
    ),
    "one key twice": '{"hooks": {"Stop": []}, "hooks": {"Stop": [1]}}',
    "blank": " \n",
    "only a mark": "\ufeff\n",
    "empty": "",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_removing_the_hooks_restores_the_text(text: str) -> None:
    with_hooks = add_hooks(text, GROUPS)

    assert find_hooks(with_hooks) == GROUPS
    assert remove_hooks(with_hooks) == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_all_other_settings_keep_their_values(text: str) -> None:
    def load(content: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(content.removeprefix("\ufeff").strip() or "{}")
        return value

    before, after = load(text), load(add_hooks(text, GROUPS))
    for event, added in GROUPS.items():
        before.setdefault("hooks", {}).setdefault(event, []).extend(added)
    assert after == before


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_adding_the_hooks_twice_is_adding_them_once(text: str) -> None:
    once = add_hooks(text, GROUPS)

    assert add_hooks(once, GROUPS) == once


def test_a_missing_file_is_created_in_plain_layout_and_removed_again() -> None:
    text = add_hooks(None, GROUPS)

    assert text.startswith('{\n  "hooks": {\n    "PreToolUse": [\n      {')
    assert text.endswith("]\n  }\n}\n")
    assert remove_hooks(text) is None


def test_hooks_of_another_path_or_an_older_version_are_replaced() -> None:
    text = '{\n  "model": "opus"\n}\n'
    old = {event: [{"hooks": [{**OURS, "command": "'/old place/chorus-hook'"}]}] for event in ("Stop", "Old")}

    assert remove_hooks(add_hooks(add_hooks(text, old), GROUPS)) == text
    assert find_hooks(add_hooks(add_hooks(text, old), GROUPS)).keys() == GROUPS.keys()


def test_the_layout_of_the_file_is_followed() -> None:
    text = add_hooks('{\r\n\t"model": "opus"\r\n}', {"Stop": [{"hooks": [OURS]}]})

    lines = text.split("\r\n")
    assert "\n" not in "".join(lines)
    assert lines[2:4] == ['\t"hooks": {', '\t\t"Stop": [']


def test_hooks_that_the_user_added_beside_ours_stay() -> None:
    both = json.dumps(
        {"hooks": {"Stop": [{"hooks": [OURS, THEIRS["hooks"][0]]}, {"hooks": [OURS]}], "Other": [THEIRS]}},
        indent=2,
    )

    after = remove_hooks(both)

    assert after is not None
    assert json.loads(after) == {"hooks": {"Stop": [THEIRS], "Other": [THEIRS]}}


def test_reformatted_hooks_leave_no_empty_containers_behind() -> None:
    text = add_hooks('{"model": "opus"}', GROUPS)
    reformatted = json.dumps(json.loads(text), indent=8)

    after = remove_hooks(reformatted)

    assert after is not None
    assert json.loads(after) == {"model": "opus"}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "1",
        '{"a": NaN}',
        "// no\n{}",
        '{"a": 1,}',
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        "[" * 9999,
    ],
)
def test_settings_the_client_cannot_read_are_refused(text: str) -> None:
    with pytest.raises(SettingsUnreadable) as caught:
        add_hooks(text, GROUPS)
    assert caught.value.hint


def test_entries_of_any_other_form_are_ignored() -> None:
    inner = '[3, {"command": 4}, {"command": "chorus-hooks"}]'
    text = f'{{"hooks": {{"Stop": [1, {{"hooks": 2}}, {{"hooks": {inner}}}], "X": 5}}}}'

    assert find_hooks(text) == {}
    assert remove_hooks(add_hooks(text, GROUPS)) == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
groups = st.lists(st.just(THEIRS) | json_values, max_size=3)
hooks = st.dictionaries(st.sampled_from(["PreToolUse", "Stop", "X"]), groups, max_size=3)
files = (
    st.dictionaries(st.text(), json_values, max_size=3)
    .flatmap(lambda rest: st.one_of(st.just(rest), hooks.map(lambda h: {**rest, "hooks": h})))
    .filter(lambda value: isinstance(value.get("hooks", {}), dict))
)


@settings(max_examples=60)
@given(value=files, indent=st.sampled_from([None, 0, 1, 2, 4, "\t"]), ascii_only=st.booleans())
def test_adding_and_removing_restores_any_settings_to_the_character(
    value: dict[str, Any], indent: Any, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    if any(not isinstance(value.get("hooks", {}).get(event, []), list) for event in GROUPS):
        return
    with_hooks = add_hooks(text, GROUPS)

    assert json.loads(with_hooks)["hooks"]["Stop"][-1:] == GROUPS["Stop"]
    assert remove_hooks(with_hooks) == text


@given(value=json_values)
def test_every_value_of_a_text_is_found_at_its_position(value: Any) -> None:
    text = " " + json.dumps(value, indent=1) + "\n"

    def check(node: Any) -> None:
        assert json.loads(text[node.start : node.end]) == node.value
        for child in node.children:
            check(child)

    check(parse_json(text))


def test_a_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(NotJson):
        parse_json("{} {}")
