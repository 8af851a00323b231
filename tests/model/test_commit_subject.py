"""Subjects made from requests, and the agent's words that say nothing about the change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorus.model.commits.commit_message import SUBJECT_LENGTH
from chorus.model.commits.commit_subject import change_phrase, split_revert, subject_of


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("rename old to new", "Rename old to new"),
        ("Please could you rename old() to new()? Thanks!", "Rename old() to new()"),
        (
            "hi, can you fix the failing test in parser.py. It broke yesterday.",
            "Fix the failing test in parser.py",
        ),
        ("go on", None),
        ("yes!\nadd a test for blanks", "Add a test for blanks"),
        ("", None),
        ("# Title of a plan\nmore", "Title of a plan"),
        (
            "I want you to make the parser accept blanks around numbers, "
            "and write tests for each of the new cases",
            "Make the parser accept blanks around numbers",
        ),
        (
            "Add a command that lists all open prompts of every repository "
            "because people miss them otherwise",
            "Add a command that lists all open prompts of every repository",
        ),
        (
            "Store everything in a file beside the configuration directory "
            "that everybody knows already today",
            "Store everything in a file beside the configuration directory",
        ),
        ("x" * 30 + " " + "y" * 80 + " z", "x" * 72),
        ("Use v1.2.3 of the library", "Use v1.2.3 of the library"),
        ("Round every total to cents, please", "Round every total to cents"),
        ("rename old to new please, thanks!", "Rename old to new"),
        (
            "Round every total to cents, please: customers complained about prices such as 3.14159",
            "Round every total to cents",
        ),
    ],
)
def test_a_subject_is_a_whole_phrase(message: str, subject: str | None) -> None:
    found = subject_of(message)
    if subject == "x" * 72:  # one word longer than a subject is the only thing that is cut
        assert found == "X" + "x" * 29
    else:
        assert found == subject


@given(st.text(max_size=300))
def test_a_subject_is_one_short_line(message: str) -> None:
    found = subject_of(message)
    assert found is None or (0 < len(found) <= SUBJECT_LENGTH and found.isprintable())


@pytest.mark.parametrize(
    ("summary", "phrase"),
    [
        ("Rename old to new", "Rename old to new"),
        ("Italic fonts", "Italic fonts"),
        ("Round the subtotal as well.", "Round the subtotal as well"),
        ("Round the subtotal, and so on...", "Round the subtotal, and so on..."),
        ("Why not?", "Why not?"),
        (
            "The discount is fixed. Move it to the settings.",
            "The discount is fixed. Move it to the settings.",
        ),
        ("I see the problem now", None),
        ("The problem is x", None),
        ("Now the tests", None),
        ("Perfect!", None),
        ("Let me read the code first.", None),
        ("Let me fix it", None),
        ("I'll add it", "Add it"),
        ("I'll go.", None),
        ("Now I'll add a helper, half up.", "Add a helper, half up"),
        ("Great! Next, use it for the total.", "Use it for the total"),
        ("Perfect! Also document it.", "Document it"),
        ("And import it there.", "Import it there"),
        ("I see the bug: x is None. Let me also guard y.", "Guard y"),
        ("Now quote.", None),
        ("Found it.", None),
        ("Looking at the code, the total is never rounded.", None),
        ("You're right, my mistake.", None),
        ("Right, that is it.", None),
        ("Right-align the columns", "Right-align the columns"),
        ("Got it. I'll round the total.", "Round the total"),
        ("Now the rest of it.", None),
    ],
)
def test_what_the_agent_did_is_separated_from_what_it_said_about_itself(
    summary: str, phrase: str | None
) -> None:
    assert change_phrase(summary) == phrase


def test_the_summary_of_a_revert_is_split_into_what_was_done_to_which_action() -> None:
    assert split_revert("Revert 7: Accept blanks") == ("Revert", "7", "Accept blanks")
    assert split_revert("Redo 8: Revert part of 7: a") == ("Redo", "part of 7", "a")
    assert split_revert("Revert 9: Redo 8: Revert 7: a") == ("Revert", "7", "a")
    assert split_revert("Put it back") == ("Revert", "", "Put it back")
