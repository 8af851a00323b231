import json
from typing import Any

import pytest
from pydantic import ValidationError

from chorus.model.api import json_api
from chorus.model.api.schema import PUBLISHED, arguments_validator, render_schema, validator

LANE: dict[str, Any] = {
    "name": "chorus/go", "ref": "refs/heads/chorus/go", "base": None, "tip": "a" * 40, "session": "s",
    "actions": 2, "open": 1, "worktree": "main", "context": [],
}  # fmt: skip


def test_a_record_that_fits_is_accepted_as_it_is() -> None:
    assert validator(json_api.LaneJson).validate_python(LANE, strict=True) == LANE


@pytest.mark.parametrize(
    "wrong", [{**LANE, "actions": "2"}, {key: LANE[key] for key in LANE if key != "tip"}]
)
def test_a_record_with_a_wrong_or_missing_value_is_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        validator(json_api.LaneJson).validate_python(wrong, strict=True)


def test_a_key_that_is_not_required_may_be_missing() -> None:
    revert = {"n": 3, "reverted": [2], "paths": ["a.txt"], "patch": ""}
    assert validator(json_api.RevertJson).validate_python(revert) == revert


def test_a_request_takes_its_own_arguments_and_no_others() -> None:
    assert arguments_validator("show").validate_python({"action": "3", "cwd": "/r"})["action"] == "3"
    with pytest.raises(ValidationError):
        arguments_validator("show").validate_python({"action": "3", "cwd": "/r", "more": 1})


def test_a_revert_cannot_be_asked_to_undo_as_a_keep_can() -> None:
    assert arguments_validator("keep").validate_python({"actions": [3], "undo": True})["undo"]
    with pytest.raises(ValidationError, match="undo"):
        arguments_validator("revert").validate_python({"actions": [3], "undo": True})


def test_the_published_schema_is_json_and_defines_every_record() -> None:
    schema = render_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert set(schema["$defs"]) == set(PUBLISHED)
