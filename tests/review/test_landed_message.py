"""The messages of landed commits: fit for a pull request, and read by git."""

import subprocess

from chorus.config.user_config import LandingSettings
from chorus.history.log.entry import LogEntry
from chorus.model.ids import RepoPath
from chorus.review.landing.messages import CommitGroup, GroupBy, describe_action, render_commit_message

REQUEST = (
    "Please make the parser accept blanks around numbers, and write tests for each of the new cases.\n\n"
    "See the issue for details."
)


def entry(number: int, summary: str, *, message: str | None = REQUEST, tool: str = "Edit") -> LogEntry:
    paths = (RepoPath("src/parser.py"),)
    return LogEntry(
        number, f"toolu_{number}", "committed", summary, paths, tool, message=message, lines=(3, 1)
    )


def render(*entries: LogEntry, by_action: bool = False, **settings: str) -> str:
    group = CommitGroup(entries, tuple(e.id or "" for e in entries))
    by: GroupBy = "action" if by_action else "turn"
    return render_commit_message(group, by, None, LandingSettings(**settings))


def test_a_turn_reads_like_a_commit_a_person_wrote() -> None:
    message = render(entry(1, "I see the problem now"), entry(2, "Accept blanks around numbers"))
    assert message == (
        "Make the parser accept blanks around numbers\n\n"
        "> Please make the parser accept blanks around numbers, and write tests\n"
        "> for each of the new cases.\n"
        ">\n"
        "> See the issue for details.\n\n"
        "- Edit src/parser.py: +3 −1\n"
        "- Accept blanks around numbers\n\n"
        "Chorus-Actions: toolu_1, toolu_2\n"
    )
    trailers = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message, capture_output=True, text=True, check=True
    )
    assert trailers.stdout == "Chorus-Actions: toolu_1, toolu_2\n"


def test_a_short_request_is_not_repeated() -> None:
    message = render(entry(1, "Rename it", message="rename old to new."))
    assert message == "Rename old to new\n\n- Rename it\n\nChorus-Actions: toolu_1\n"


def test_a_request_that_says_nothing_gives_way_to_what_was_done() -> None:
    assert render(entry(1, "Rename old to new", message="go on")).startswith(
        "Rename old to new\n\n> go on\n\n"
    )
    assert (
        render(entry(1, "Let me do it", message=None))
        == "Edit src/parser.py: +3 −1\n\nChorus-Actions: toolu_1\n"
    )


def test_a_request_of_two_words_is_a_subject_unless_it_says_nothing() -> None:
    assert render(entry(1, "Bash: sed -i s/a/b/ x", message="tidy up!", tool="Bash")).startswith(
        "Tidy up\n\n- "
    )
    assert render(entry(1, "Rename it", message="fix it")).startswith("Rename it\n\n> fix it\n")


def test_only_prose_of_a_request_is_wrapped() -> None:
    log, code = "2026 " + "x " * 60, "    indented " + "code " * 20
    request = f"Look at this log\n```\n{log}\n```\n{code}\n- {log}"
    message = render(entry(1, "Rename it", message=request))
    for kept in (log, code, f"- {log}"):
        assert f"> {kept}".rstrip() in message


def test_a_commit_of_one_action_says_what_it_did_first() -> None:
    message = render(entry(1, "Accept blanks around numbers"), by_action=True)
    assert message.startswith("Accept blanks around numbers\n\n> Please make")
    assert "\n- " not in message


def test_the_template_and_the_co_author_are_settings() -> None:
    message = render(
        entry(1, "Accept blanks"),
        template="{subject}\n\nDone by an agent.",
        co_authored_by="Claude <c@example.org>",
    )
    assert message == (
        "Make the parser accept blanks around numbers\n\nDone by an agent.\n\n"
        "Chorus-Actions: toolu_1\nCo-Authored-By: Claude <c@example.org>\n"
    )


def test_a_request_that_mentions_a_field_of_the_template_is_quoted_as_it_is() -> None:
    message = render(entry(1, "Accept blanks")._replace(message="Document {actions} and {request} too"))
    assert "Document {actions} and {request} too" in message.splitlines()[0]


def test_an_action_of_many_files_names_their_number() -> None:
    many = entry(1, "Now the rest", tool="Bash")._replace(paths=(), files=12, lines=None)
    assert describe_action(many) == "Run a command that changes 12 files"


def test_a_revert_is_named_by_what_it_reverts_and_not_by_a_number() -> None:
    def describe(summary: str) -> str:
        return describe_action(entry(9, summary, tool="Revert"))

    assert describe("Revert 7: Accept blanks") == 'Revert "Accept blanks"'
    assert describe("Revert part of 7: Accept blanks") == 'Revert part of "Accept blanks"'
    assert describe("Redo 8: Revert 7: Accept blanks") == 'Redo "Accept blanks"'
    assert describe("Put it back") == 'Revert "Put it back"'
    long = describe("Revert 7: " + "word " * 40)
    assert len(long) <= 72
    assert long.endswith('…"')


def test_a_hunk_that_was_reverted_before_it_landed_is_not_mentioned() -> None:
    part = entry(2, "Revert part of 1: Accept blanks", tool="Revert")._replace(reverts_part=("toolu_1",))
    message = render(entry(1, "Accept blanks"), part)
    assert "- Accept blanks\n\nChorus-Actions: toolu_1, toolu_2\n" in message
    assert "Revert" not in message
    assert render(part, by_action=True).startswith('Revert part of "Accept blanks"\n')
