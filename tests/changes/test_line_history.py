"""Which lines of an action are still in the file."""

import random

import pytest

from chorus.changes import diff, line_history
from chorus.changes.line_history import FileVersion, LineHistory, Place, Presence, State

START = "a\nb\nc\nd\ne\n"
# What becomes of the lines that are lost, by who takes them away.
LOST = {"user": Presence.GONE, "switch": Presence.AWAY, "revert": Presence.REVERTED}


def text(content: str | None, kind: str = "100644") -> FileVersion:
    if content is None:
        return FileVersion(None)
    return FileVersion(kind, [line.encode() for line in content.splitlines(keepends=True)])


def follow(start: str | None, *steps: tuple[str, str | None]) -> LineHistory:
    """Follow a file: each step is who made it (one of LOST, or an action) and what it left."""
    lines = LineHistory.start(text(start))
    for who, content in steps:
        if who in LOST:
            lines.add_other(text(content), LOST[who])
        else:
            lines.add_action(who, text(content))
    return lines


def gone(lines: LineHistory) -> dict[str, tuple[int, int]]:
    return {action: tuple(lines.count(action)) for action in lines.actions}  # type: ignore[misc]  # two of them


@pytest.mark.parametrize(
    ("start", "changed", "size"),
    [
        (START, "a\nB\nc\nd\ne\n", 1),
        (START, "a\nb\nnew\nc\nd\ne\n", 1),
        (START, "a\nd\ne\n", 2),
        (START, START + "f\ng\n", 2),
        (START, None, 5),
        (None, START, 5),
        (None, "", 1),
        ("", "x\n", 1),
    ],
)
def test_a_change_that_is_taken_back_is_gone_and_comes_back(
    start: str | None, changed: str | None, size: int
) -> None:
    steps = [("one", changed)]
    assert gone(follow(start, *steps)) == {"one": (0, size)}
    assert gone(follow(start, *steps, ("user", start))) == {"one": (size, size)}
    assert gone(follow(start, *steps, ("user", start), ("user", changed))) == {"one": (0, size)}
    assert gone(follow(start, *steps, ("switch", start))) == {"one": (0, size)}
    assert gone(follow(start, *steps, ("switch", start), ("switch", changed))) == {"one": (0, size)}


def test_changes_of_the_same_line_go_together_when_the_first_state_is_back() -> None:
    steps = [("one", "a\n1\nc\nd\ne\n"), ("two", "a\n2\nc\nd\ne\n"), ("three", "a\n2\nc\nd\n3\n")]
    assert gone(follow(START, *steps, ("user", START))) == {"one": (1, 1), "two": (1, 1), "three": (1, 1)}
    undone = gone(follow(START, *steps, ("user", "a\n1\nc\nd\n3\n")))
    assert undone == {"one": (0, 1), "two": (1, 1), "three": (0, 1)}


def test_a_users_own_change_beside_it_does_not_hide_that_it_is_gone() -> None:
    lines = follow(START, ("one", "a\nB\nc\nd\nnew\ne\n"), ("user", "mine\na\nb\nc\nd\ne\n"))
    assert gone(lines) == {"one": (2, 2)}
    lines.add_other(text("mine\na\nB\nc\nd\nnew\ne\n"))
    assert gone(lines) == {"one": (0, 2)}


def test_half_of_it_taken_back_is_counted() -> None:
    assert gone(follow(START, ("one", "A\nb\nc\nd\nE\n"), ("user", "a\nb\nc\nd\nE\n"))) == {"one": (1, 2)}


def test_a_rewritten_line_is_not_gone_a_removed_one_is() -> None:
    changed = "a\nB\nc\nd\ne\n"
    assert gone(follow(START, ("one", changed), ("user", "a\nB!\nc\nd\ne\n"))) == {"one": (0, 1)}
    assert gone(follow(START, ("one", changed), ("user", "a\nc\nd\ne\n"))) == {"one": (1, 1)}
    removed_and_back = [("user", "a\nc\nd\ne\n"), ("user", "x\na\nB\nc\nd\ne\n")]
    assert gone(follow(START, ("one", changed), *removed_and_back)) == {"one": (0, 1)}
    # Five lines made into three: rewritten, all of them.
    assert gone(follow("a\n", ("one", "a\n1\n2\n3\n4\n5\n"), ("user", "a\nx\ny\nz\n"))) == {"one": (0, 5)}
    assert gone(follow("a\n", ("one", "a\n1\n2\n"), ("user", "a\nx\ny\nz\n"))) == {"one": (0, 2)}


def test_a_moved_line_is_not_gone() -> None:
    assert gone(follow(START, ("one", "a\nnew\nb\nc\nd\ne\n"), ("user", "a\nb\nc\nd\nnew\ne\n"))) == {
        "one": (0, 1)
    }


def test_a_deleted_file_takes_every_change_with_it() -> None:
    lines = follow(START, ("one", "a\nB\nc\nd\ne\n"), ("user", None))
    assert gone(lines) == {"one": (1, 1)}
    lines.add_other(text("other\n"))
    assert gone(lines) == {"one": (1, 1)}
    lines.add_other(text("a\nB\nc\nd\ne\n"))
    assert gone(lines) == {"one": (0, 1)}


def test_a_file_without_lines_is_one_thing() -> None:
    lines = LineHistory.start(FileVersion("100644 1"))
    lines.add_action("one", FileVersion("100644 2"))
    lines.add_other(FileVersion("100644 3"))
    assert gone(lines) == {"one": (0, 1)}
    lines.add_other(FileVersion("100644 1"))
    assert gone(lines) == {"one": (1, 1)}
    lines.add_other(FileVersion("100644 2"))
    assert gone(lines) == {"one": (0, 1)}
    lines.add_other(FileVersion(None))
    assert gone(lines) == {"one": (1, 1)}


def test_a_new_action_on_what_was_undone_leaves_that_undone() -> None:
    lines = follow(START, ("one", "a\nB\nc\nd\ne\n"), ("user", START), ("two", "a\nB\nc\nd\ne\n"))
    assert gone(lines) == {"one": (1, 1), "two": (0, 1)}
    lines.add_other(text(START))
    assert gone(lines) == {"one": (1, 1), "two": (1, 1)}


def test_the_same_line_again_is_not_taken_for_an_earlier_state() -> None:
    lines = follow("a\n", ("one", "b\n"), ("two", "a\n"), ("user", "a\nx\n"), ("user", "a\n"))
    assert gone(lines) == {"one": (0, 1), "two": (0, 1)}


def test_a_huge_stretch_counts_as_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_history, "MAX_ALIGNED_CELLS", 3)
    lines = follow("a\nb\n", ("one", "1\n2\n"), ("user", "a\nb\nc\n"))
    assert gone(lines) == {"one": (0, 2)}


def test_a_line_that_a_coarse_diff_calls_changed_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "MAX_EDITS", 0)
    lines = follow("x\ny\nx\ny\n", ("one", "y\nx\ny\nx\n"), ("user", "z\nx\ny\nz\n"))
    assert [place.value for place in lines.places if place.value] == [b"z\n", b"x\n", b"y\n", b"z\n"]


def test_an_unknown_action_has_no_lines() -> None:
    assert follow(START).count("one") == (0, 0)


def test_random_changes_always_leave_the_lines_of_the_last_version() -> None:
    chance = random.Random(7)
    for _ in range(400):
        lines = LineHistory.start(text(START))
        content = START.splitlines(keepends=True)
        seen = [list(content)]
        for step in range(12):
            roll = chance.random()
            if roll < 0.25:
                content = list(chance.choice(seen))
            else:
                for _ in range(chance.randrange(1, 4)):
                    at = chance.randrange(len(content) + 1)
                    content[at : at + chance.randrange(3)] = [
                        f"{chance.choice('abcdefxyz')}\n" for _ in range(chance.randrange(3))
                    ]
            seen.append(list(content))
            version = text("".join(content))
            if chance.random() < 0.5:
                lines.add_action(str(step), version)
            else:
                lines.add_other(version, LOST[chance.choice(["user", "user", "user", "switch", "revert"])])
            assert [place.value for place in lines.places if place.value is not None] == list(version.lines)
        assert all(0 <= count[0] <= count[1] for count in gone(lines).values())


def test_a_place_stays_as_it_is_for_content_it_never_had() -> None:
    place = Place([State(b"a")])
    place.set(b"b", Presence.GONE)
    place.set(b"a", Presence.GONE)
    assert (place.value, place.current) == (b"a", 0)


def test_an_action_made_again_has_its_states_again() -> None:
    lines = follow("a\nb\n", ("one", "a\nnew\nb\n"), ("revert", "a\nb\n"))
    lines.redo("one", text("a\nnew\nb\n"))
    lines.add_other(text("user\nnew\nb\n"))
    lines.add_other(text("a\nnew\nb\n"))
    assert lines.count("one") == (0, 1)


def test_an_action_made_again_counts_by_what_it_changes_now() -> None:
    """Its first state cannot come back: another action wrote there while it was reverted."""
    lines = follow("a\nb\nc\n", ("one", "a\nc\n"), ("revert", "a\nb\nc\n"), ("two", "a\nB\nc\n"))
    lines.add_other(text("a\nb\nc\n"), Presence.REVERTED)
    lines.redo("one", text("a\nc\n"))
    assert lines.count("one") == (0, 1)
    lines.add_other(text("a\nb\nc\n"))
    assert lines.count("one") == (1, 1)


def test_a_revert_leaves_the_removal_of_another_action_in_effect() -> None:
    """Reverting the action that added two lines takes the one that is left, and the file is as at first."""
    steps = [("one", "new\nmore\na\n"), ("two", "new\na\n"), ("revert", "a\n")]
    assert gone(follow("a\n", *steps))["two"] == (0, 1)
    assert gone(follow("a\n", *steps, ("user", "new\nmore\na\n")))["two"] == (1, 1)


def test_a_line_is_gone_when_somebody_puts_back_what_a_reverted_action_left() -> None:
    steps = [("one", "a\nnew\nb\n"), ("two", "a\nB\n"), ("revert", "a\nnew\nb\n")]
    assert gone(follow("a\nb\n", *steps))["one"] == (0, 1)
    assert gone(follow("a\nb\n", *steps, ("user", "a\nB\n")))["one"] == (1, 1)
    assert gone(follow("a\nb\n", *steps, ("switch", "a\nB\n")))["one"] == (0, 1)


def test_a_removal_that_was_redone_is_gone_when_the_line_is_back() -> None:
    lines = follow("a\nb\nc\n", ("one", "a\nc\n"), ("revert", "a\nb\nc\n"), ("user", "A\nb\nc\n"))
    lines.redo("one", text("A\nc\n"))
    assert lines.count("one") == (0, 1)
    lines.add_other(text("A\nb\nc\n"))
    assert lines.count("one") == (1, 1)


def test_a_line_that_was_redone_below_a_newer_one_is_gone_with_the_rest() -> None:
    lines = follow("a\nz\n", ("one", "a\nnew\nz\n"), ("revert", "a\nz\n"), ("two", "a\nmore\nz\n"))
    lines.redo("one", text("a\nmore\nnew\nz\n"))
    lines.add_other(text("a\nz\n"))
    assert gone(lines) == {"two": (1, 1), "one": (1, 1)}


def test_a_redone_line_is_not_gone_where_the_file_returns_to_a_version_from_before_the_revert() -> None:
    first = "a\nx\nz\n"
    lines = follow("a\nz\n", ("one", first), ("user", "b\nx\nz\n"), ("revert", "b\nz\n"))
    lines.add_action("two", text("c\nd\nz\n"))
    lines.redo("one", text("c\nd\nx\nz\n"))
    assert lines.count("one") == (0, 1)
    lines.add_action("two", text("c\nd\ny\nz\n"))
    lines.add_other(text(first))
    assert lines.count("one") == (0, 1)
    lines.add_other(text("a\nz\n"))
    assert lines.count("one") == (1, 1)


def test_a_line_that_two_actions_removed_counts_for_both_although_one_was_reverted_and_redone() -> None:
    lines = follow("a\nb\nc\n", ("one", "a\nc\n"), ("revert", "a\nb\nc\n"), ("two", "a\nc\n"))
    lines.redo("one", text("a\nc\n"))
    assert gone(lines) == {"one": (0, 1), "two": (0, 1)}
    lines.add_other(text("a\nb\nc\n"))
    assert gone(lines) == {"one": (1, 1), "two": (1, 1)}


def test_a_line_that_was_undone_and_comes_back_is_no_longer_gone() -> None:
    """Also if something else was written there in between, which is gone then."""
    steps = [("one", "a\n1\nc\n"), ("user", "a\nb\nc\n"), ("user", "a\nmine\nmore\nc\n")]
    assert gone(follow("a\nb\nc\n", *steps)) == {"one": (1, 1)}
    assert gone(follow("a\nb\nc\n", *steps, ("user", "a\n1\nc\n"))) == {"one": (0, 1)}
    steps[2:] = [("two", "a\n2\nc\n"), ("user", "a\n1\nc\n")]
    assert gone(follow("a\nb\nc\n", *steps)) == {"one": (0, 1), "two": (1, 1)}
