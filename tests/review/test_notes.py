"""Notes keep to their lines, whatever happens to the file."""

import stat
from pathlib import Path

import pytest

from chorus.errors import NotFound, UsageError
from chorus.model.api.json_api import NoteJson
from chorus.review.notes.note_log import FILE_NAME, NoteLog
from chorus.review.notes.notes import NoSuchLine, note_json, note_log, render_notes, write_note
from chorus.review.operations import Selection, revert
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

LINES = b"".join(b"line %d\n" % n for n in range(1, 11))
NOW = "2026-01-02T09:14:00+00:00"


@pytest.fixture
def numbered(repo: UserRepo, agent: Agent) -> UserRepo:
    repo.write("n.txt", LINES)
    agent.recorder.start()
    return repo


def write(
    agent: Agent, action: object, text: str = "why?", *, n: int = 1, line: int | None = None
) -> NoteJson:
    note = write_note(agent.recorder, str(action), text, number=n, time=NOW, path=None, line=line)
    return note_json(agent.recorder, note)


def read(agent: Agent, n: int = 1) -> NoteJson:
    """The note as the next process reads it."""
    return note_json(agent.recorder, note_log(agent.recorder).read()[n])


def test_a_note_on_a_line_quotes_it_as_it_is_now(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    written = write(agent, edit.n, line=5)
    assert (written["action"], written["path"], written["line"], written["at"]) == (edit.n, "n.txt", 5, 5)
    assert (written["quote"], written["changed"], written["state"]) == (["LINE 5"], False, "draft")

    numbered.write("n.txt", b"new\n" + (numbered.path / "n.txt").read_bytes())
    assert (read(agent)["at"], read(agent)["quote"], read(agent)["changed"]) == (6, ["LINE 5"], False)

    agent.replace("n.txt", b"LINE 5\n", b"Line five\n")
    assert (read(agent)["at"], read(agent)["quote"], read(agent)["changed"]) == (6, ["Line five"], True)


def test_a_note_on_an_action_quotes_the_first_lines_it_changed(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 5\nline 6\n", b"five\nsix\n")
    assert write(agent, edit.n)["quote"] == ["five", "six"]
    revert(agent.recorder, Selection(actions=[str(edit.n)]))
    assert read(agent)["changed"]
    (numbered.path / "n.txt").unlink()
    assert (read(agent)["at"], read(agent)["quote"], read(agent)["changed"]) == (None, [], True)


def test_neighbouring_changes_made_one_after_another_are_told_apart(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 5\nline 6\n", b"five\nsix\n")
    write(agent, edit.n, line=6)
    agent.replace("n.txt", b"five\n", b"five\nfive and a half\n")
    agent.replace("n.txt", b"six\n", b"SIX\n")
    agent.replace("n.txt", b"five and a half\n", b"half\n")
    assert (read(agent)["at"], read(agent)["quote"]) == (7, ["SIX"])


def test_a_sent_note_is_addressed_once_the_session_changes_its_lines(
    numbered: UserRepo, agent: Agent
) -> None:
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    write(agent, edit.n, line=5)
    note_log(agent.recorder).mark_sent(1, time=NOW, after=edit.n or 0, lines=["LINE 5"])
    assert read(agent)["state"] == "sent"
    agent.replace("n.txt", b"line 9\n", b"LINE 9\n")
    assert read(agent)["state"] == "sent", "other lines"
    agent.replace("n.txt", b"LINE 5\n", b"five\n")
    assert read(agent)["state"] == "addressed"


def test_a_change_of_the_user_does_not_address_a_note(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    write(agent, edit.n, line=5)
    note_log(agent.recorder).mark_sent(1, time=NOW, after=edit.n or 0, lines=["LINE 5"])
    numbered.write("n.txt", LINES)
    assert (read(agent)["state"], read(agent)["changed"]) == ("sent", True)
    note_log(agent.recorder).mark_addressed(1)
    assert read(agent)["state"] == "addressed"


def test_a_note_needs_a_line_that_is_there_and_a_text(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    with pytest.raises(NoSuchLine, match=r"n\.txt has 10 lines"):
        write(agent, edit.n, line=11)
    with pytest.raises(UsageError, match="empty"):
        write(agent, edit.n, "  ")
    with pytest.raises(UsageError, match="characters"):
        write(agent, edit.n, "x" * 5000)
    with pytest.raises(NotFound):
        write(agent, 99)
    with pytest.raises(NoSuchLine, match="did not change other"):
        write_note(agent.recorder, str(edit.n), "x", number=1, time=NOW, path="other", line=1)
    assert note_log(agent.recorder).read() == {}


def test_the_file_is_private_and_a_line_that_was_cut_short_is_skipped(
    numbered: UserRepo, agent: Agent, tmp_path: Path
) -> None:
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    write(agent, edit.n)
    path = agent.recorder.workspace.repository.own_dir / FILE_NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open("ab") as file:
        file.write(b'{"v":1,"kind":"no')
    write(agent, edit.n, "second", n=2)
    with path.open("ab") as file:
        file.write(b'{"v":1,"kind":"sent","n":7}\n{"v":2}\n[]\n')
    log = note_log(agent.recorder)
    assert [note.text for note in log.read().values()] == ["why?", "second"]
    log.drop(2)
    assert (list(log.read()), log.last_number()) == ([1], 7)
    assert NoteLog(tmp_path / "nowhere").read() == {}


def test_the_text_for_the_agent_quotes_each_note_in_order(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    first, second = write(agent, edit.n, "Why?", line=5), write(agent, edit.n, "And this?", n=2)
    agent.replace("n.txt", b"LINE 5\n", b"five\n")
    text = render_notes([read(agent, 1), read(agent, 2)], ["Shout", "Shout"])
    assert (first["n"], second["n"]) == (1, 2)
    assert "left 2 notes" in text
    assert f"Note 1 on action {edit.n} (Shout), n.txt, line 5:\n> 5: five\n(these lines have changed" in text
    assert text.endswith("And this?")
    assert "Note 2 on action" in render_notes([read(agent, 2)], ["Shout"]), "by the number the user sees"
    numbered.write("n.txt", b"")
    assert "(these lines are gone)\nWhy?" in render_notes([read(agent)], ["Shout"])


def test_a_note_follows_a_file_that_is_renamed(numbered: UserRepo, agent: Agent) -> None:
    """By a command of the session, then by the user, with changes in between."""
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    write(agent, edit.n, line=5)
    agent.bash(lambda: (numbered.path / "n.txt").rename(numbered.path / "m.txt"))
    assert (read(agent)["path"], read(agent)["at"], read(agent)["changed"]) == ("m.txt", 5, False)
    numbered.write("m.txt", b"new\n" + (numbered.path / "m.txt").read_bytes())
    agent.recorder.record_outside()
    (numbered.path / "m.txt").rename(numbered.path / "o.txt")
    agent.recorder.record_outside()
    assert (read(agent)["path"], read(agent)["at"], read(agent)["quote"]) == ("o.txt", 6, ["LINE 5"])

    note_log(agent.recorder).mark_sent(1, time=NOW, after=edit.n or 0, lines=["LINE 5"])
    agent.replace("o.txt", b"LINE 5\n", b"five\n")
    assert (read(agent)["state"], read(agent)["quote"]) == ("addressed", ["five"])


def test_a_note_is_gone_with_its_file_and_back_with_it(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 5\n", b"LINE 5\n")
    write(agent, edit.n, line=5)
    agent.edit("n.txt", None)
    assert (read(agent)["path"], read(agent)["at"], read(agent)["quote"]) == ("n.txt", None, [])
    agent.edit("n.txt", b"new\n" + LINES.replace(b"line 5", b"LINE 5"))
    assert (read(agent)["at"], read(agent)["quote"], read(agent)["changed"]) == (6, ["LINE 5"], False)


def test_a_note_on_a_deletion_says_that_there_is_nothing_to_quote(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.edit("n.txt", None)
    written = write(agent, edit.n, "Restore it.")
    assert (written["at"], written["changed"]) == (None, False)
    assert "n.txt:\n(the action removed its lines)\nRestore it." in render_notes([read(agent)], ["Delete"])
