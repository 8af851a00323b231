import pytest

from chorus.model.ids import SessionId
from chorus.model.lane_name import (
    branch_name,
    choose_lane_name,
    is_lane_ref,
    lane_ref,
    lane_spellings,
    short_lane_name,
)

SESSION = SessionId("1A2B3c4d-0000")


@pytest.mark.parametrize(
    ("session", "message", "taken", "name"),
    [
        (SESSION, "Fix the parser, please!", (), "chorus/fix-the-parser-please-1a2b"),
        (SESSION, "one two three four five six", (), "chorus/one-two-three-four-five-1a2b"),
        (SESSION, "x" * 60, (), f"chorus/{'x' * 40}-1a2b"),
        (SESSION, None, (), "chorus/2026-01-31-1a2b"),
        (SESSION, "…", (), "chorus/2026-01-31-1a2b"),
        (None, "go", (), "chorus/go"),
        (None, "go", ("chorus/go",), "chorus/go-2"),
        (None, "go", ("chorus/go", "chorus/go-2"), "chorus/go-3"),
        (None, "go", ("chorus",), "chorus-lanes/go"),
        (None, "go", ("chorus", "chorus-lanes/go"), "chorus-lanes/go-2"),
        (None, "go", ("chorus", "chorus-lanes"), "chorus-lanes-2/go"),
        (None, "go", ("chorus", "chorus-lanes", "chorus-lanes-2"), "chorus-lanes-2/go"),
        (None, "go", ("chorus-lanes", "chorus-lanes-2"), "chorus/go"),
        (None, None, (), "chorus/2026-01-31"),
        (None, "a" * 39 + " b", (), f"chorus/{'a' * 39}"),
        (SessionId("1-2-3-4-5"), "go", (), "chorus/go-1234"),
    ],
)
def test_a_lane_is_named_by_the_message_and_the_session(
    session: SessionId | None, message: str | None, taken: tuple[str, ...], name: str
) -> None:
    assert choose_lane_name(session, message, "2026-01-31", taken) == name


@pytest.mark.parametrize("name", ["chorus/go", "chorus-lanes/go", "chorus-lanes-2/go"])
def test_a_lane_is_recognised_and_found_by_every_spelling(name: str) -> None:
    ref = lane_ref(name)
    assert is_lane_ref(ref)
    assert branch_name(ref) == name
    assert short_lane_name(name) == "go"
    assert all(name in lane_spellings(spelling) for spelling in (name, ref, "go"))


@pytest.mark.parametrize("name", ["chorus", "chorus-go", "main", "mine/chorus/go"])
def test_other_branches_are_not_lanes(name: str) -> None:
    assert not is_lane_ref(lane_ref(name))
    assert short_lane_name(name) == name
