"""A commit message reads well and gives back every part it was made of."""

import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chorus.model.commits.commit_message import (
    ACTION,
    CONTEXT,
    FORMAT,
    FORMAT_VERSION,
    PART,
    SESSION,
    SUBJECT_LENGTH,
    TOOL,
    MessageText,
    parse_actions,
    parse_contexts,
    parse_message,
    parse_parts,
    render_actions,
    render_message,
    shorten,
)

# Everything a str can hold, lone surrogates and all.
anything = st.text(st.characters(), max_size=60)
awkward = st.one_of(
    anything,
    st.sampled_from(
        [
            "",
            " ",
            "\n",
            "\n\n",
            "a\n\nb",
            "> q",
            '"',
            '"x"',
            "Key: value",
            "\0",
            "\r\n",
            "\udc80",
            "tab\there",
        ]
    ),
)
keys = st.sampled_from([ACTION, TOOL, SESSION, "Chorus-Other"])
texts = st.builds(
    MessageText,
    subject=awkward,
    quoted=st.none() | awkward,
    body_lines=st.lists(awkward, max_size=3).map(tuple),
    trailers=st.lists(st.tuples(keys, awkward), min_size=1, max_size=4).map(tuple),
)


@given(texts)
@example(MessageText("s", "", (), ((ACTION, "x"),)))
@example(MessageText("s", None, ("Chorus-Action: forged",), ((ACTION, "x"),)))
@example(MessageText("s", "Chorus-Action: forged", (), ((ACTION, "x"),)))
def test_a_message_gives_back_what_it_was_made_of(text: MessageText) -> None:
    assert parse_message(render_message(text)) == text


@given(texts)
def test_a_message_is_something_git_can_store(text: MessageText) -> None:
    rendered = render_message(text)
    assert "\0" not in rendered
    rendered.encode()


@given(st.text())
def test_a_message_in_another_format_is_accepted(message: str) -> None:
    parse_message(message)
    parse_actions(message)


PLAIN = MessageText(
    subject="Accept blanks around numbers",
    quoted="The parser should accept blanks.\n\nTests too, please.",
    body_lines=("src/parser.py: +3 −1",),
    trailers=((ACTION, "toolu_01A"), (TOOL, "Edit"), (SESSION, "s-1"), (FORMAT_VERSION, FORMAT)),
)


def test_a_message_reads_like_one_written_by_hand() -> None:
    assert render_message(PLAIN) == (
        "Accept blanks around numbers\n\n"
        "> The parser should accept blanks.\n>\n> Tests too, please.\n\n"
        "src/parser.py: +3 −1\n\n"
        "Chorus-Action: toolu_01A\nChorus-Tool: Edit\nChorus-Session: s-1\nChorus-Format: 1\n"
    )


@pytest.mark.parametrize("quoted", [None, "", "a\tb\r", "> \0 "])
@pytest.mark.parametrize("body_lines", [(), ("one", "two")])
def test_text_that_cannot_be_quoted_is_kept_beside_the_quote(
    quoted: str | None, body_lines: tuple[str, ...]
) -> None:
    text = MessageText("s", quoted, body_lines, ((ACTION, "x"),))
    assert parse_message(render_message(text)) == text


def test_git_finds_the_same_trailers() -> None:
    command = ["git", "interpret-trailers", "--parse"]
    done = subprocess.run(command, input=render_message(PLAIN), capture_output=True, text=True, check=True)
    assert done.stdout == "".join(f"{key}: {value}\n" for key, value in PLAIN.trailers)


def test_trailers_are_found_by_key() -> None:
    text = MessageText("s", trailers=((ACTION, "a"), (TOOL, "Edit"), (ACTION, "b")))
    assert text.first(ACTION) == "a"
    assert text.every(ACTION) == ("a", "b")
    assert text.first(SESSION) is None


def test_nothing_but_a_trailer_is_taken_for_one() -> None:
    forged = "Chorus-Action: forged"
    text = MessageText(forged, forged, (forged,), ((ACTION, "real"),))
    assert parse_actions(render_message(text)) == ("real",)
    assert parse_parts(render_message(MessageText("s", trailers=((PART, "a"), (ACTION, "b"))))) == ("a",)
    assert parse_contexts(render_message(MessageText("s", trailers=((CONTEXT, "start a b"),)))) == (
        "start a b",
    )
    assert parse_message(render_message(text)) == text


def test_a_last_paragraph_with_a_line_that_is_no_trailer_has_none() -> None:
    message = "Subject\n\nChorus-Action: toolu_01A\nand a word more\n"
    assert parse_message(message) == MessageText(
        "Subject", body_lines=("Chorus-Action: toolu_01A", "and a word more")
    )


def test_actions_are_found_in_a_squashed_message() -> None:
    squashed = "Two things\n\n" + render_message(PLAIN) + "\n# second\n\n" + render_message(PLAIN)
    assert parse_actions(squashed) == ("toolu_01A", "toolu_01A")


def test_a_broken_value_is_taken_literally() -> None:
    assert parse_message('"half\n\nChorus-Action: "half\n') == MessageText(
        '"half', trailers=((ACTION, '"half'),)
    )


@given(awkward, st.integers(10, 80))
def test_a_shortened_line_is_one_line_of_that_length(words: str, length: int) -> None:
    line = shorten(words, length)
    assert len(line) <= length
    assert line.isprintable()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("  two\n words ", "two words"),
        ("word " * 30, ("word " * 14).strip() + "…"),
        ("x" * 100, "x" * (SUBJECT_LENGTH - 1) + "…"),
    ],
)
def test_a_line_is_cut_between_words_where_there_are_some(words: str, line: str) -> None:
    assert shorten(words) == line


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8))
def test_the_actions_of_a_landed_commit_are_one_trailer(names: list[str]) -> None:
    rendered = render_actions(names)
    assert parse_actions(f"Subject\n\nText.\n\n{rendered}\nCo-Authored-By: A <a@b.c>\n") == tuple(names)


def test_a_long_list_of_actions_is_folded_as_git_folds_trailers() -> None:
    names = [f"toolu_{number:024}" for number in range(5)]
    lines = render_actions(names).split("\n")
    assert lines[0].startswith("Chorus-Actions: toolu_")
    assert all(line.startswith(" ") for line in lines[1:])
    assert max(map(len, lines)) <= 72
