"""Where the lines of a file are, from its versions on the timeline."""

from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.history.timeline import file_lines
from chorus.history.timeline.file_lines import LineFollower
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.tree_object import FILE_MODE, TreeEntry
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

PATH = RepoPath("letters.txt")


@pytest.fixture
def recorder(repo: UserRepo) -> Iterator[Recorder]:
    repo.commit("letters", **{PATH: b"a\nb\nc\n"})
    with Recorder.open(repo.path) as recorder:
        yield recorder


def texts(recorder: Recorder, content: bytes | None = None) -> str:
    """All lines the file ever had, in order; those of one place in parentheses."""
    by_place: dict[int, list[str]] = {}
    for text, place in recorder.lanes.lines.now(PATH, content)().items():
        by_place.setdefault(place, []).append(text.decode())
    groups = ("".join(sorted(by_place[place])) for place in sorted(by_place))
    return "".join(group if len(group) == 1 else f"({group})" for group in groups)


def test_every_recorded_version_counts_and_the_content_of_now(repo: UserRepo, recorder: Recorder) -> None:
    agent = Agent(repo, recorder)
    agent.edit(PATH, b"a\nB\nc\n")
    repo.write(PATH, b"u\na\nB\nc\n")
    recorder.record_outside()
    agent.edit(PATH, b"u\na\nB\n")
    assert texts(recorder) == "ua(Bb)c"
    assert b"d" in recorder.lanes.lines.now(PATH, b"u\na\nB\nd\n")()
    assert texts(recorder) == "ua(Bb)c"  # that content was not recorded


def test_a_record_of_several_files_counts_with_this_file_alone(repo: UserRepo, recorder: Recorder) -> None:
    def change() -> None:
        repo.write("a.txt", b"1\n2\n")
        repo.write("z.txt", b"3\n4\n")
        repo.write(PATH, b"a\nB\nc\n")

    Agent(repo, recorder).bash(change)
    assert texts(recorder) == "a(Bb)c"


def test_following_that_is_ended_at_any_version_goes_on_there(repo: UserRepo) -> None:
    repo.commit("letters", **{PATH: b"a\nb\nc\n"})
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        for content in (b"a\nB\nc\n", b"a\nB\nC\n", b"x\na\nB\nC\n"):
            agent.edit(PATH, content)
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        steps = 0

        def end_at_every_second() -> None:
            nonlocal steps
            steps += 1
            if steps % 2 == 0:
                raise TimeoutError

        ended = 0
        while True:
            try:
                recorder.lanes.lines.now(PATH, None, end_at_every_second)()
                break
            except TimeoutError:
                ended += 1
        assert ended > 1  # each time one version further, not from the start
        assert texts(recorder) == "xa(Bb)(Cc)"


def test_what_was_committed_before_the_first_record_counts(repo: UserRepo) -> None:
    repo.commit("letters", **{PATH: b"a\nb\n"})
    repo.write(PATH, b"a\nB\n")
    with Recorder.open(repo.path) as recorder:
        Agent(repo, recorder).edit(PATH, b"A\nB\n")
        assert texts(recorder) == "(Aa)(Bb)"


def test_an_edit_sees_the_file_as_it_was_then(repo: UserRepo, recorder: Recorder) -> None:
    agent = Agent(repo, recorder)
    agent.edit(PATH, b"a\nB\nc\n")
    agent.edit(PATH, b"a\nB\nC\n")
    first, second = recorder.timeline.records[-2:]
    (edit,) = recorder.timeline.edits(first)
    assert b"C" not in recorder.lanes.lines.at_edit(edit, first)()
    assert b"C" in recorder.lanes.lines.at_edit(edit)()
    assert len(recorder.lanes.lines.versions(PATH, second)) == len(recorder.lanes.lines.versions(PATH)) - 1


def test_the_first_edit_of_a_file_that_no_record_and_no_commit_names(
    repo: UserRepo, recorder: Recorder
) -> None:
    repo.write("mine.txt", b"a\nb\n")
    recorder.start()
    agent = Agent(repo, recorder)
    agent.edit("mine.txt", b"a\nB\n")
    recorded = recorder.timeline.records[-1]
    (edit,) = recorder.timeline.edits(recorded)
    assert edit.before is not None
    assert recorder.lanes.lines.versions(edit.path, recorded) == ()
    places = recorder.lanes.lines.at_edit(edit, recorded)()
    assert places[b"b"] == places[b"B"] != places[b"a"]


def test_a_large_or_binary_version_is_passed_over(
    repo: UserRepo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lines, "MAX_BYTES", 10)
    agent = Agent(repo, recorder)
    agent.edit(PATH, b"x" * 11)
    agent.edit(PATH, b"\0\n")
    agent.edit(PATH, b"a\nb\nc\nd\nee")
    assert texts(recorder) == "abcd(ee)"


def test_a_long_history_is_followed_from_a_later_start(
    repo: UserRepo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lines, "MAX_VERSIONS", 4)
    monkeypatch.setattr(file_lines, "VERSIONS_STEP", 2)
    agent = Agent(repo, recorder)
    lengths = []
    for number in range(9):
        agent.edit(PATH, b"a\n%d\nc\n" % number)
        lengths.append(len(recorder.lanes.lines.versions(PATH)))
    # The committed version, the one before the first record followed, and those records.
    assert lengths == [3, 4, 5, 6, 7, 6, 7, 6, 7]
    assert b"0" not in recorder.lanes.lines.now(PATH, None)()


def test_only_the_last_few_files_are_remembered(
    repo: UserRepo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lines, "MAX_FILES", 1)
    agent = Agent(repo, recorder)
    agent.edit(PATH, b"a\nB\nc\n")
    agent.edit("app.py", b"x = 2\n")
    other = recorder.lanes.lines.now(RepoPath("app.py"), None)
    assert texts(recorder) == "a(Bb)c"
    assert b"x = 2" in other()
    assert texts(recorder) == "a(Bb)c"


def test_a_follower_remembers_the_last_few_files_and_no_more(
    repo: UserRepo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lines, "MAX_FILES", 2)
    follower = LineFollower(recorder.workspace)
    store = recorder.workspace.store
    versions = {
        RepoPath(name): (TreeEntry(FILE_MODE, store.write_blob(f"{name}\n".encode())),) for name in "abc"
    }
    read: list[str] = []
    for name in ("a", "b", "a", "c", "a", "b"):
        path = RepoPath(name)
        assert follower.positions(path, versions[path], step=partial(read.append, name))
    assert read == ["a", "b", "c", "b"]


def test_the_first_version_is_that_of_the_commit_the_timeline_began_at(
    repo: UserRepo, recorder: Recorder
) -> None:
    recorder.start()
    repo.commit("later", **{PATH: b"a\nB\nc\n"})
    recorder.record_outside()
    Agent(repo, recorder).edit(PATH, b"a\nB\nC\n")
    first, *_ = recorder.lanes.lines.versions(PATH)
    assert recorder.workspace.read(first) == b"a\nb\nc\n"


def test_the_versions_of_many_files_are_found_in_one_pass(
    repo: UserRepo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lines, "MAX_VERSIONS", 4)
    monkeypatch.setattr(file_lines, "VERSIONS_STEP", 2)
    agent = Agent(repo, recorder)
    names = [RepoPath(name) for name in (PATH, "app.py", "new.txt", "never.txt")]
    for number in range(9):
        for name in names[: 1 + number % 3]:
            agent.edit(name, b"a\n%d\nc\n" % number)
    lines, timeline = recorder.lanes.lines, recorder.timeline
    expected = {name: lines.versions(name) for name in names}
    read: list[Oid] = []
    edits = timeline.edits

    def count(recorded: TimelineCommit) -> Sequence[Edit]:
        read.append(recorded.oid)
        return edits(recorded)

    monkeypatch.setattr(timeline, "edits", count)
    assert lines.versions_of(names) == expected
    assert 0 < len(read) == len(set(read)) <= len(timeline.records)
