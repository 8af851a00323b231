"""The notice to a session: what was reverted or restored, and what to read again."""

import os

import pytest

from chorus.history import records
from chorus.history.recorder import Recorder
from chorus.model.api.json_api import RevertJson
from chorus.model.ids import SessionId, ToolUseId
from chorus.review.operations import Selection, redo, revert
from chorus.review.revert.conflict import RevertConflict
from chorus.review.revert.notice_text import (
    MAX_LISTED,
    AnyNotice,
    Notice,
    RevertNotice,
    drop_undone,
    find_notices,
    render_notices,
)
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

REVERTED, RESTORED = "The user reverted", "The user restored"


def notice_text(recorder: Recorder, done: RevertJson) -> str:
    notices = find_notices(recorder, done["made"])
    assert {notice.session for notice in notices} == {SessionId("session-a")}
    return render_notices(notices)


def test_a_notice_says_whether_changes_were_reverted_or_restored(repo: UserRepo, agent: Agent) -> None:
    edit = agent.edit("app.py", b"x = 9\n", lead_text="I raise x.")
    chosen = Selection([str(edit.n)])
    reverted = revert(agent.recorder, chosen)
    text = notice_text(agent.recorder, reverted)
    assert text.startswith(REVERTED)
    assert "- I raise x\n" in text
    assert "- app.py\n" in text
    assert "unless the user asks" in text
    restored = redo(agent.recorder, chosen)
    assert notice_text(agent.recorder, restored).startswith(RESTORED)
    assert "- I raise x\n" in notice_text(agent.recorder, restored)
    again = revert(agent.recorder, Selection([str(restored["n"])]))
    assert notice_text(agent.recorder, again).startswith(REVERTED)
    assert notice_text(agent.recorder, revert(agent.recorder, Selection([str(again["n"])]))).startswith(
        RESTORED
    )


def test_a_name_that_is_not_utf8_is_written_with_escapes(repo: UserRepo, agent: Agent) -> None:
    made = agent.edit(os.fsdecode(b"f\xff.txt"), b"1\n")
    text = notice_text(agent.recorder, revert(agent.recorder, Selection([str(made.n)])))
    assert "- f\\xff.txt\n" in text
    text.encode()


def test_each_session_gets_a_notice_about_its_own_actions(repo: UserRepo, recorder: Recorder) -> None:
    one, two = Agent(repo, recorder), Agent(repo, recorder, "session-b")
    edits = [one.edit("a.txt", b"a\n"), two.edit("b.txt", b"b\n")]
    done = revert(recorder, Selection([str(edit.n) for edit in edits]))
    texts = {notice.session: render_notices([notice]) for notice in find_notices(recorder, done["made"])}
    assert texts.keys() == {"session-a", "session-b"}
    assert [("a.txt" in text, "b.txt" in text) for text in texts.values()].count((True, False)) == 1


@pytest.mark.parametrize("listed", [1, records.MAX_LISTED])
def test_a_long_list_is_shortened(
    repo: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch, listed: int
) -> None:
    monkeypatch.setattr(records, "MAX_LISTED", listed)

    def change() -> None:
        for number in range(MAX_LISTED + 5):
            repo.write(f"many/{number:02}.txt", b"x\n")

    made = agent.bash(change)
    text = notice_text(agent.recorder, revert(agent.recorder, Selection([str(made.n)])))
    assert "- and 5 more\n" in text


def test_reverts_conflicts_and_notices_use_words_of_the_agent_that_came_late(agent: Agent) -> None:
    recorder = agent.recorder
    first = agent.edit("app.py", b"x = 9\n")
    second = agent.edit("app.py", b"x = 8\n")
    recorder.set_summary(ToolUseId(first.id or ""), "Raise x.")
    recorder.set_summary(ToolUseId(second.id or ""), "Lower x again.")
    with pytest.raises(RevertConflict, match=r"action 2 \(Lower x again\)"):
        revert(recorder, Selection([str(first.n)]))
    done = revert(recorder, Selection([str(second.n)]))
    assert recorder.entries()[-1].summary == "Revert 2: Lower x again"
    assert "- Lower x again\n" in notice_text(recorder, done)


def notices_of(agent: Agent, *done: RevertJson) -> list[tuple[str, bool]]:
    """What is left to say after these reverts and redos: summaries, and whether they were restored."""
    found = [notice for one in done for notice in find_notices(agent.recorder, one["made"])]
    left = drop_undone(found)
    return [(notice.summary, notice.restored) for notice in left if isinstance(notice, RevertNotice)]


def test_a_revert_and_its_redo_are_nothing_and_a_third_step_is_one_revert(agent: Agent) -> None:
    recorder = agent.recorder
    edit = agent.edit("app.py", b"x = 9\n", lead_text="Raise x.")
    other = agent.edit("b.txt", b"b\n", lead_text="Add b.")
    chosen = Selection([str(edit.n)])
    first = revert(recorder, Selection([str(edit.n), str(other.n)]))
    back = redo(recorder, chosen)
    again = revert(recorder, chosen)
    last = redo(recorder, chosen)
    assert notices_of(agent, first, back) == [("Add b", False)]
    assert notices_of(agent, first, back, again) == [("Add b", False), ("Raise x", False)]
    assert notices_of(agent, first, back, again, last) == [("Add b", False)]
    # The session knows of the first revert: what was restored and reverted again is nothing new.
    assert notices_of(agent, back, again) == []
    assert notices_of(agent, back, again, last) == [("Raise x", True)]


def test_two_parts_of_an_action_are_two_changes(agent: Agent) -> None:
    recorder = agent.recorder
    lines = [f"line {number}\n".encode() for number in range(30)]
    agent.edit("long.txt", b"".join(lines))
    made = agent.edit(
        "long.txt", b"".join([b"first\n", *lines[1:-1], b"last\n"]), lead_text="Name both ends."
    )
    one, two = (revert(recorder, Selection([str(made.n)], hunks=(number,))) for number in (1, 2))
    back = redo(recorder, Selection([str(made.n)]))
    assert len(notices_of(agent, one, two)) == 2
    assert len(notices_of(agent, one, two, back)) == 1
    assert notices_of(agent, two, back) == []


def test_one_text_says_what_was_reverted_then_what_was_restored_then_the_rest() -> None:
    session = SessionId("a")

    def change(name: str, *, restored: bool, more: int = 0) -> RevertNotice:
        return RevertNotice(session, name, restored, f"Change {name}", (f"{name}.txt", "both.txt"), more)

    notices: list[AnyNotice] = [
        Notice(session, "A note."),
        change("x", restored=False, more=3),
        change("y", restored=True),
        change("z", restored=False),
    ]
    reverted, restored, note = render_notices(notices).split("\n\n")
    assert reverted.startswith(f"{REVERTED} changes of yours with Chorus:\n- Change x\n- Change z\n")
    assert "- both.txt\n- x.txt\n- z.txt\n- and 3 more\n" in reverted
    assert restored.startswith(f"{RESTORED} changes of yours with Chorus:\n- Change y\n")
    assert note == "A note."
