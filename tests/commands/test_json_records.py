"""What `log`, `show` and `lanes` print with `--json` fits the published records."""

from typing import Any

import pytest

from chorus.history.recorder import Recorder
from chorus.model.api.schema import PUBLISHED, validator
from chorus.review.operations import Selection, keep, revert
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start
from tests.commands.conftest import Shell
from tests.history.agent_at_work import action
from tests.repos import UserRepo


@pytest.fixture
def reviewed(worked: UserRepo) -> UserRepo:
    """Entries of every kind: kept, reverted, open, a revert, a denied call, an outside change."""
    with Recorder.open(worked.path) as recorder:
        keep(recorder, Selection(["1"]))
        revert(recorder, Selection(["2"]))
        recorder.record_unchanged(action("toolu_denied", status="denied"))
        worked.write("own.txt", b"mine\n")
        recorder.record_outside()
    return worked


def validate(name: str, value: Any) -> None:
    record: dict[str, Any] = validator(PUBLISHED[name]).validate_python(value, strict=True)
    assert record == value, "a key that the record does not have"


@pytest.mark.parametrize("watched", [False, True], ids=["without a watcher", "with a watcher"])
def test_json_output_fits_the_published_records(reviewed: UserRepo, chorus: Shell, watched: bool) -> None:
    if watched:
        connect_or_start(find_home(reviewed.path)).close()
    entries = chorus("log", "--outside", "--json").json()
    assert {entry["status"] for entry in entries} == {"kept", "reverted", "committed", "denied", "outside"}
    for entry in entries:
        validate("log", entry)
        validate("show", chorus("show", str(entry["n"] or entry["timeline"]), "--json").json())
    (lane,) = chorus("lanes", "--json").json()
    validate("lanes", lane)
