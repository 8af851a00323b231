"""A lane as a pull request: the request, what was done and where, reverts and why, notes, tests."""

import pytest

from chorus.history.log.entry import entry_json
from chorus.history.log.lookup import NoSuchAction
from chorus.history.recorder import Recorder
from chorus.review.notes.notes import note_json, note_log, write_note
from chorus.review.operations import Selection, redo, revert
from chorus.review.pull_request import describe_pull_request, escape, is_test_command
from tests.history.agent_at_work import Agent, bash
from tests.repos import UserRepo

LINES = b"".join(b"line %d\n" % n for n in range(1, 11))
ASKED = "Please make line five louder.\nAnd test it."


@pytest.fixture
def worked(repo: UserRepo, agent: Agent) -> Recorder:
    repo.write("n.txt", LINES)
    recorder = agent.recorder
    recorder.start()
    agent.replace("n.txt", b"line 5\n", b"LINE 5\n", message=ASKED, lead_text="Make line 5 louder")
    bad = agent.replace("n.txt", b"line 8\n", b"LINE 8\n", message=ASKED, lead_text="Shout *8* @all")
    agent.replace("n.txt", b"line 1\n", b"new\nline 1\n", message=ASKED, turn="turn-2")
    write_note(recorder, str(bad.n), "nobody asked for it", number=1, time="t", path=None, line=None)
    revert(recorder, Selection(actions=[str(bad.n)]))
    recorder.record_unchanged(bash("toolu_t1", command="make test", status="failed", message=ASKED))
    recorder.record_unchanged(bash("toolu_t2", command="make test", message=ASKED))
    recorder.record_unchanged(bash("toolu_t3", command="ls tests", message=ASKED))
    return recorder


def body_of(recorder: Recorder) -> str:
    (lane,) = recorder.lanes.all()
    notes = [note_json(recorder, note) for note in note_log(recorder).read().values()]
    return describe_pull_request(recorder, lane.name, notes)["body"]


def test_it_says_what_was_asked_done_reverted_noted_and_tested(worked: Recorder) -> None:
    body = body_of(worked)
    assert "> Please make line five louder.\n> And test it.\n" in body
    assert "- Make line 5 louder (`n.txt:6`)" in body, "line 5 is line 6 now"
    assert "## Tried and reverted\n\n- Shout 8 &#64;all: nobody asked for it" in body
    assert "- [ ] nobody asked for it (`n.txt:9`)" in body
    assert "## Tests that were run\n\n- `make test`: succeeded\n" in body
    assert "ls tests" not in body
    assert body.count("Shout") == 1


def test_a_revert_that_was_undone_and_a_test_that_was_denied_are_left_out(
    worked: Recorder, agent: Agent
) -> None:
    worked.record_unchanged(bash("toolu_t4", command="pytest -q", status="denied", message=ASKED))
    kept = agent.replace("n.txt", b"line 3\n", b"a\nb\nline 3\n", message=ASKED, lead_text="Add two lines")
    revert(worked, Selection(actions=[str(kept.n)]))
    redo(worked, Selection(actions=[str(kept.n)]))
    body = body_of(worked)
    assert "- Add two lines (`n.txt:4-5`)\n" in body
    assert body.count("Add two lines") == 1
    assert "pytest" not in body


def test_a_test_that_changed_files_is_listed_and_bytes_have_no_lines(
    worked: Recorder, repo: UserRepo
) -> None:
    (repo.path / "cache.bin").write_bytes(b"a\n\0\nb\n")
    worked.record_window(bash("toolu_t5", command="pytest -q", message=ASKED, lead_text="Run the tests."))
    body = body_of(worked)
    assert "- Run the tests (`cache.bin`)\n" in body
    assert "- `pytest -q`: succeeded\n" in body
    (entry,) = [entry for entry in worked.entries() if entry.id == "toolu_t5"]
    assert entry_json(entry, "main")["command"] == "pytest -q"


def test_lines_are_linked_at_the_remote(worked: Recorder, repo: UserRepo) -> None:
    repo.git("remote", "add", "origin", "git@forge.example:team/shop.git")
    head = repo.git("rev-parse", "HEAD").strip()
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        assert f"[`n.txt:6`](https://forge.example/team/shop/blob/{head}/n.txt#L6)" in body_of(recorder)


def test_the_title_is_the_request_and_an_unknown_lane_is_refused(worked: Recorder) -> None:
    (lane,) = worked.lanes.all()
    assert describe_pull_request(worked, lane.name, [])["title"] == "Make line five louder"
    with pytest.raises(NoSuchAction):
        describe_pull_request(worked, "chorus/none", [])


def test_text_of_an_agent_is_inert() -> None:
    assert escape("<b> [x](y) @team closes #3\n`z`") == (r"\<b\> \[x\](y) &#64;team closes &#35;3 \`z\`")


def test_a_request_is_quoted_as_it_was_written(worked: Recorder, agent: Agent) -> None:
    asked = "Make <Button> red, see @src/app.py and `<b> @x`:\n\n- *now*\n```\n<a> @y\n```\n    <c>"
    agent.replace("n.txt", b"line 9\n", b"LINE 9\n", message=asked, turn="turn-9")
    body = body_of(worked)
    assert "> Make &lt;Button> red, see &#64;src/app.py and `<b> @x`:\n>\n> - *now*\n" in body
    assert "> ```\n> <a> @y\n> ```\n>     <c>\n" in body


@pytest.mark.parametrize(
    ("command", "tests"),
    [
        ("pytest -q tests/x.py", True),
        ("cd api && .venv/bin/pytest", True),
        ("python -m unittest", True),
        ("make test", True),
        ("make -j4 check", True),
        ("npm run test:unit", True),
        ("go test ./...", True),
        ("cargo test", True),
        ("cat tests/x.py", False),
        ("make docs", False),
        ("git commit -m 'add test'", False),
        ("pip install pytest-cov", False),
    ],
)
def test_commands_that_run_tests_are_recognised(command: str, tests: bool) -> None:
    assert is_test_command(command) is tests
