"""What fits lands; what does not stays open and is named with file, line and reason."""

from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.errors import NotFound, UsageError
from chorus.history.recorder import Recorder
from chorus.model.ids import RepoPath
from chorus.review.landing.apply import LandConflict
from chorus.review.landing.hook_check import HookStagedFiles
from chorus.review.landing.merge import PathChange, find_applied
from chorus.review.landing.messages import CommitMessages
from chorus.review.landing.plan import plan_landing
from chorus.review.landing.recovery import recover_landing
from chorus.review.landing.selection import LandingRequest
from chorus.review.landing.target import NothingToLand
from chorus.review.operations import Selection, keep, redo, revert
from chorus.store.objects.tree_object import FILE_MODE, TreeEntry
from chorus.store.user_branch import BranchBusy
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.review.landing_steps import LINES, land, left


def user_writes(repo: UserRepo, recorder: Recorder, old: bytes, new: bytes, path: str = "n.txt") -> None:
    data = (repo.path / path).read_bytes()
    assert old in data
    repo.write(path, data.replace(old, new, 1))
    recorder.record_outside()


def head_file(repo: UserRepo, path: str = "n.txt", branch: str = "main") -> bytes:
    return repo.git("show", f"{branch}:{path}").encode()


def edited(*changes: tuple[bytes, bytes]) -> bytes:
    data = LINES
    for old, new in changes:
        assert old in data
        data = data.replace(old, new, 1)
    return data


def test_an_uncommitted_line_of_the_user_blocks_only_the_action_that_changed_it(
    numbered: UserRepo, agent: Agent
) -> None:
    user_writes(numbered, agent.recorder, b"line 12\n", b"mine\n")
    one = agent.replace("n.txt", b"line 11\n", b"ELEVEN\n")
    two = agent.replace("n.txt", b"mine\n", b"theirs\n")
    three = agent.replace("n.txt", b"line 13\n", b"THIRTEEN\n")
    tree = numbered.fingerprint()["work tree"]
    done = land(agent)
    assert [group.numbers for group in done.groups] == [[one.n, three.n]]
    assert left(done) == [(two.n, 'line 12 of n.txt builds on your uncommitted line "mine"')]
    assert done.left[0].obstacles[0].line == 12
    assert head_file(numbered) == edited((b"line 11\n", b"ELEVEN\n"), (b"line 13\n", b"THIRTEEN\n"))
    assert numbered.fingerprint()["work tree"] == tree
    assert [entry.status for entry in agent.recorder.entries() if entry.n] == [
        "landed",
        "committed",
        "landed",
    ]
    with pytest.raises(LandConflict, match="builds on your uncommitted line") as error:
        land(agent)
    assert "--with-context" in (error.value.hint or "")


def test_each_kind_of_obstacle_has_a_hint_on_a_line_of_its_own(numbered: UserRepo, agent: Agent) -> None:
    user_writes(numbered, agent.recorder, b"line 12\n", b"mine\n")
    one = agent.replace("n.txt", b"mine\n", b"theirs\n")
    agent.replace("n.txt", b"line 5\n", b"five\n")
    two = agent.replace("n.txt", b"five\n", b"cinq\n")
    with pytest.raises(LandConflict) as error:
        land(agent, one.n, two.n)
    hints = (error.value.hint or "").splitlines()
    assert len(hints) == 2
    assert "--with-context" in hints[0]
    assert not any(hint.startswith("hint") for hint in hints)


def test_with_context_lands_exactly_the_users_lines_first_in_the_users_name(
    numbered: UserRepo, agent: Agent
) -> None:
    user_writes(numbered, agent.recorder, b"line 12\n", b"mine\n")
    user_writes(numbered, agent.recorder, b"line 20\n", b"private\n")
    agent.replace("n.txt", b"mine\n", b"theirs\n")
    done = land(agent, with_context=True)
    assert not done.left
    assert head_file(numbered, branch="main~1") == edited((b"line 12\n", b"mine\n"))
    assert head_file(numbered) == edited((b"line 12\n", b"theirs\n"))
    assert numbered.git("log", "-2", "--format=%an %cn").split("\n")[:2] == ["Ada User Ada User"] * 2
    context = numbered.git("log", "-1", "--format=%B", "main~1")
    assert context.startswith("Add the lines that ")
    assert "Chorus-Action" not in context
    assert numbered.git("diff", "--cached") == ""
    assert b"private\n" in (numbered.path / "n.txt").read_bytes()


def test_context_lands_only_for_an_action_that_lands(numbered: UserRepo, agent: Agent) -> None:
    numbered.git("checkout", "-q", "-b", "moved")
    numbered.commit("other", **{"n.txt": edited((b"line 3\n", b"other\n"))})
    numbered.git("checkout", "-q", "main")
    user_writes(numbered, agent.recorder, b"line 12\n", b"mine\n")
    both = agent.edit("n.txt", edited((b"line 12\n", b"theirs\n"), (b"line 3\n", b"three\n")))
    agent.edit("new.txt", b"new\n")
    done = land(agent, with_context=True, onto="moved")
    assert {number for number, _ in left(done)} == {both.n}
    assert any(reason.startswith("line 3 of n.txt was changed on moved by ") for _, reason in left(done))
    assert numbered.git("diff", "--name-only", "moved~1", "moved") == "new.txt\n"
    assert head_file(numbered, branch="moved") == edited((b"line 3\n", b"other\n"))


def test_an_edit_of_the_users_untracked_file_is_left_open(numbered: UserRepo, agent: Agent) -> None:
    numbered.write("draft.txt", b"my draft\nmore\n")
    agent.recorder.record_outside()
    made = agent.replace("draft.txt", b"more", b"less")
    with pytest.raises(LandConflict, match=r"draft\.txt builds on your uncommitted file"):
        land(agent)
    land(agent, made.n, with_context=True)
    assert head_file(numbered, "draft.txt", "main~1") == b"my draft\nmore\n"
    assert head_file(numbered, "draft.txt") == b"my draft\nless\n"


def test_every_action_in_the_way_is_named_and_what_builds_on_it_too(numbered: UserRepo, agent: Agent) -> None:
    first = agent.replace("n.txt", b"line 5\n", b"five\n")
    second = agent.replace("n.txt", b"five\n", b"cinq\n")
    third = agent.replace("n.txt", b"line 9\n", b"nine\n")
    fourth = agent.edit(
        "n.txt", (numbered.path / "n.txt").read_bytes().replace(b"cinq", b"go").replace(b"nine", b"ku")
    )
    with pytest.raises(LandConflict) as error:
        land(agent, fourth.n)
    assert f"line 5 of n.txt builds on action {second.n}, which is not on main" in str(error.value)
    assert f"line 9 of n.txt builds on action {third.n}, which is not on main" in str(error.value)
    done = land(agent, third.n, second.n)
    assert [group.numbers for group in done.groups] == [[third.n]]
    assert left(done) == [(second.n, f"line 5 of n.txt builds on action {first.n}, which is not on main")]
    assert [group.numbers for group in land(agent).groups] == [[first.n, second.n, fourth.n]]
    assert head_file(numbered) == (numbered.path / "n.txt").read_bytes()


def test_two_actions_that_cancel_out_make_no_commit_by_turn_and_two_by_action(
    numbered: UserRepo, agent: Agent
) -> None:
    agent.replace("n.txt", b"line 5\n", b"five\n")
    agent.replace("n.txt", b"five\n", b"line 5\n")
    tip = numbered.git("rev-parse", "main")
    preview = land(agent, by="action", dry_run=True)
    assert len([message for message in preview.messages if message]) == 2
    done = land(agent)
    assert done.commits == [None]
    assert numbered.git("rev-parse", "main") == tip
    assert [entry.status for entry in agent.recorder.entries() if entry.n] == ["landed", "landed"]
    with pytest.raises(NothingToLand):
        land(agent)


def test_two_actions_that_cancel_out_block_nothing(numbered: UserRepo, agent: Agent) -> None:
    """One by one neither fits: the user has changed that line and committed it."""
    agent.replace("n.txt", b"line 5\n", b"five\n")
    agent.replace("n.txt", b"five\n", b"line 5\n")
    agent.replace("n.txt", b"line 9\n", b"nine\n")
    user_writes(numbered, agent.recorder, b"line 5\n", b"mine\n")
    numbered.git("commit", "-qam", "by hand")
    done = land(agent)
    assert not done.left
    assert head_file(numbered) == edited((b"line 5\n", b"mine\n"), (b"line 9\n", b"nine\n"))


def test_a_redone_action_lands_although_the_branch_has_what_came_while_it_was_reverted(
    numbered: UserRepo, agent: Agent
) -> None:
    first = agent.replace("n.txt", b"line 2\n", b"")
    revert(agent.recorder, Selection([str(first.n)]))
    agent.replace("n.txt", b"line 9\n", b"nine\n")
    numbered.git("commit", "-qam", "by hand")
    agent.recorder.record_outside()
    redo(agent.recorder, Selection([str(first.n)]))
    land(agent)
    assert head_file(numbered) == edited((b"line 2\n", b""), (b"line 9\n", b"nine\n"))


def test_a_change_that_the_user_committed_with_later_ones_is_not_landed_twice(
    numbered: UserRepo, agent: Agent
) -> None:
    """The branch has the last version of a line, and one by the user that the lane never had."""
    agent.replace("n.txt", b"line 5\n", b"five\n")
    agent.replace("n.txt", b"five\n", b"cinq\n")
    user_writes(numbered, agent.recorder, b"line 9\n", b"mine\n")
    numbered.git("commit", "-qam", "by hand")
    tip = numbered.git("rev-parse", "main")
    done = land(agent, by="action")
    assert done.commits == [None, None]
    assert not done.left
    assert numbered.git("rev-parse", "main") == tip


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("kind", ["neighbours", "same point", "end of file"])
def test_lanes_of_two_sessions_in_neighbouring_lines_land_in_either_order(
    numbered: UserRepo, recorder: Recorder, kind: str, order: tuple[int, int]
) -> None:
    agents = Agent(numbered, recorder, "session-a"), Agent(numbered, recorder, "session-b")
    old, first, second = {
        "neighbours": (b"line 5\n", b"five\n", b"line 6\n"),
        "same point": (b"line 5\n", b"line 5\na\n", b"a\n"),
        "end of file": (b"line 30\n", b"line 30\na\n", b"a\n"),
    }[kind]
    agents[0].replace("n.txt", old, first)
    agents[1].replace("n.txt", second, b"six\n" if kind == "neighbours" else b"a\nb\n")
    for index in order:
        assert not land(agents[index]).left
    assert head_file(numbered) == (numbered.path / "n.txt").read_bytes()


def test_an_action_on_another_sessions_lines_names_that_action(
    numbered: UserRepo, recorder: Recorder
) -> None:
    first, second = Agent(numbered, recorder, "session-a"), Agent(numbered, recorder, "session-b")
    made = first.replace("n.txt", b"line 5\n", b"five\n")
    second.replace("n.txt", b"five\n", b"cinq\n")
    with pytest.raises(LandConflict, match=rf"line 5 of n\.txt builds on action {made.n} of {made.lane}"):
        land(second)
    land(first)
    assert not land(second).left
    assert head_file(numbered) == edited((b"line 5\n", b"cinq\n"))


def test_a_missing_branch_is_created_from_head_and_removed_again_if_a_hook_refuses(
    numbered: UserRepo, agent: Agent
) -> None:
    agent.replace("n.txt", b"line 5\n", b"five\n")
    hook = numbered.write(".git/hooks/pre-commit", b"#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = numbered.fingerprint()
    with pytest.raises(Exception, match="refused"):
        land(agent, onto="feature/new")
    assert numbered.fingerprint() == before
    hook.unlink()
    preview = land(agent, onto="feature/new", dry_run=True)
    assert preview.messages[0]
    assert numbered.git("branch", "--list", "feature/*") == ""
    land(agent, onto="feature/new")
    assert numbered.git("rev-parse", "feature/new~1") == numbered.git("rev-parse", "main")
    assert head_file(numbered, branch="feature/new") == edited((b"line 5\n", b"five\n"))
    # Another branch does not have it, so there it lands too.
    land(agent)
    assert head_file(numbered) == edited((b"line 5\n", b"five\n"))


def test_a_branch_that_only_a_remote_has_or_that_is_a_tag_is_not_created(
    numbered: UserRepo, agent: Agent
) -> None:
    agent.edit("new.txt", b"new\n")
    numbered.git("update-ref", "refs/remotes/origin/feature", "HEAD")
    with pytest.raises(NotFound, match="only origin/feature") as error:
        land(agent, onto="feature")
    assert error.value.hint == "Create it first with `git branch feature origin/feature`."
    with pytest.raises(NotFound, match="v1 is not a branch; git resolves it to something else"):
        land(agent, onto="v1")


def detach(repo: UserRepo) -> None:
    repo.git("checkout", "-q", "--detach")


def rebase(repo: UserRepo) -> None:
    repo.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")


def merge(repo: UserRepo) -> None:
    repo.write(".git/MERGE_HEAD", repo.git("rev-parse", "HEAD").encode())


@pytest.mark.parametrize(
    ("prepare", "error", "words"),
    [
        (detach, UsageError, "no branch is checked out"),
        (rebase, UsageError, "no branch"),
        (merge, BranchBusy, "merge"),
    ],
)
def test_a_work_tree_without_a_branch_or_busy_is_refused(
    numbered: UserRepo, agent: Agent, prepare: Callable[[UserRepo], None], error: type[Exception], words: str
) -> None:
    agent.edit("new.txt", b"new\n")
    prepare(numbered)
    refs = numbered.git("for-each-ref")
    with pytest.raises(error, match=words):
        land(agent)
    assert numbered.git("for-each-ref") == refs
    if prepare is detach:
        land(agent, onto="main")
        assert head_file(numbered, "new.txt") == b"new\n"


def test_a_lane_of_an_unborn_branch_lands_as_its_first_commit(tmp_path: Path) -> None:
    path = tmp_path / "unborn"
    path.mkdir()
    repo = UserRepo(path)
    repo.git("init", "-q", "-b", "main")
    repo.write("mine.txt", b"mine\n")
    with Recorder.open(path) as recorder:
        agent = Agent(repo, recorder)
        agent.edit("new.txt", b"new\n")
        land(agent, onto="other")
        assert repo.git("ls-tree", "--name-only", "other").split() == ["new.txt"]
        land(agent)
    assert repo.git("ls-tree", "--name-only", "main").split() == ["new.txt"]
    assert repo.git("status", "--short") == "?? mine.txt\n"


def test_mode_changes_deletions_renames_and_crlf_land(numbered: UserRepo, agent: Agent) -> None:
    numbered.commit("more", **{"gone.txt": b"gone\n", "old.txt": b"a\nb\nc\n", "dos.txt": b"a\r\nb\r\n"})

    def change() -> None:
        (numbered.path / "app.py").chmod(0o755)
        (numbered.path / "gone.txt").unlink()
        (numbered.path / "old.txt").rename(numbered.path / "new.txt")

    agent.bash(change)
    agent.replace("dos.txt", b"b\r\n", b"B\r\n")
    user_writes(numbered, agent.recorder, b"a\n", b"A\n", "new.txt")
    assert not land(agent).left
    assert numbered.git("diff", "--summary", "-M", "HEAD~1", "HEAD").splitlines() == [
        " mode change 100644 => 100755 app.py",
        " delete mode 100644 gone.txt",
        " rename old.txt => new.txt (100%)",
    ]
    assert head_file(numbered, "dos.txt") == b"a\r\nB\r\n"
    assert numbered.git("status", "--short") == " M new.txt\n"


def test_a_change_that_the_branch_has_in_a_later_version_is_not_in_the_way(
    numbered: UserRepo, agent: Agent
) -> None:
    """The user has committed line 5 as the second action left it, beside an own line; the third builds on
    a line that the user has not committed.
    """

    def write() -> None:
        numbered.write("n.txt", edited((b"line 5\n", b"draft\n")))
        numbered.write("new.txt", b"new\n")

    one = agent.bash(write)
    agent.replace("n.txt", b"draft\n", b"FIVE\n")
    user_writes(numbered, agent.recorder, b"line 25\n", b"the user's\n")
    numbered.git("commit", "-qm", "by hand", "n.txt")
    user_writes(numbered, agent.recorder, b"line 12\n", b"mine\n")
    three = agent.replace("n.txt", b"mine\n", b"theirs\n")
    four = agent.replace("n.txt", b"line 20\n", b"TWENTY\n")
    landed = land(agent)
    assert [number for number, _ in left(landed)] == [three.n]
    assert {one.n, four.n} <= {number for group in landed.groups for number in group.numbers}
    committed = edited((b"line 5\n", b"FIVE\n"), (b"line 25\n", b"the user's\n"))
    assert head_file(numbered) == committed.replace(b"line 20\n", b"TWENTY\n")
    assert head_file(numbered, "new.txt") == b"new\n"


def test_a_file_that_a_branch_does_not_have_is_named(numbered: UserRepo, agent: Agent) -> None:
    agent.replace("n.txt", b"line 5\n", b"five\n")
    numbered.git("branch", "side", "v1")
    with pytest.raises(LandConflict, match=r"n\.txt builds on commits that side does not have"):
        land(agent, 1, onto="side")


@pytest.mark.parametrize("onto", ["alias", None])
def test_a_branch_that_is_a_symbolic_ref_is_refused_and_stays_one(
    numbered: UserRepo, agent: Agent, onto: str | None
) -> None:
    numbered.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    if onto is None:
        numbered.git("symbolic-ref", "HEAD", "refs/heads/alias")
    agent.replace("n.txt", b"line 5\n", b"five\n")
    before = numbered.git("rev-parse", "main")
    with pytest.raises(BranchBusy, match="alias is a symbolic ref to main"):
        land(agent, onto=onto)
    assert numbered.git("symbolic-ref", "refs/heads/alias") == "refs/heads/main\n"
    assert numbered.git("rev-parse", "main") == before


@pytest.mark.parametrize(("theirs", "ours"), [("lib", "lib/a.py"), ("lib/a.py", "lib")])
def test_a_file_where_a_branch_has_a_directory_or_the_reverse_is_left_open(
    numbered: UserRepo, agent: Agent, theirs: str, ours: str
) -> None:
    numbered.git("checkout", "-qb", "side")
    numbered.commit("theirs", **{theirs: b"theirs\n"})
    numbered.git("checkout", "-q", "main")
    agent.recorder.record_outside()
    blocked = agent.edit(ours, b"ours\n")
    agent.edit("other.py", b"other\n")
    assert [number for number, _ in left(land(agent, onto="side"))] == [blocked.n]
    assert numbered.git("show", f"side:{theirs}") == "theirs\n"
    assert numbered.git("show", "side:other.py") == "other\n"


def test_only_the_chosen_actions_turns_and_kept_ones_land(numbered: UserRepo, agent: Agent) -> None:
    one, two, three = (agent.edit(f"{name}.txt", b"x\n") for name in "abc")
    keep(agent.recorder, Selection([str(two.n)]))
    assert [group.numbers for group in land(agent, kept=True).groups] == [[two.n]]
    assert [group.numbers for group in land(agent, three.n).groups] == [[three.n]]
    with pytest.raises(NothingToLand, match=f"main already has {three.n}"):
        land(agent, three.n)
    with pytest.raises(UsageError):
        land(agent, one.n, kept=True)
    assert [group.numbers for group in land(agent, turns=["turn-1", "turn"]).groups] == [[one.n]]


def test_a_reverted_action_lands_only_by_number_and_a_reverted_hunk_not_at_all(
    numbered: UserRepo, agent: Agent
) -> None:
    gone = agent.edit("gone.txt", b"x\n")
    both = agent.edit("n.txt", edited((b"line 3\n", b"three\n"), (b"line 25\n", b"x\n")))
    revert(agent.recorder, Selection([str(gone.n)]))
    revert(agent.recorder, Selection([str(both.n)], hunks=[2]))
    land(agent, both.n)
    assert head_file(numbered) == edited((b"line 3\n", b"three\n"))
    with pytest.raises(NothingToLand):
        land(agent)
    land(agent, gone.n)
    assert head_file(numbered, "gone.txt") == b"x\n"


def test_a_reverted_hunk_is_in_no_commit_of_its_action(numbered: UserRepo, agent: Agent) -> None:
    both = agent.edit("n.txt", edited((b"line 3\n", b"three\n"), (b"line 25\n", b"x\n")))
    other = agent.edit("other.txt", b"x\n")
    revert(agent.recorder, Selection([str(both.n)], hunks=[2]))
    result = land(agent, by="action")
    part = agent.recorder.entries()[-1]
    assert [group.numbers for group in result.groups] == [[both.n, part.n], [other.n]]
    assert head_file(numbered) == edited((b"line 3\n", b"three\n"))
    assert b"x" not in numbered.git("show", "HEAD~1:n.txt").encode()


def test_a_hunk_lands_by_itself_and_the_rest_later(numbered: UserRepo, agent: Agent) -> None:
    user_writes(numbered, agent.recorder, b"line 15\n", b"mine\n")
    both = agent.edit(
        "n.txt", edited((b"line 3\n", b"three\n"), (b"line 15\n", b"mine\n"), (b"line 25\n", b"x\n"))
    )
    land(agent, both.n, hunks=[2])
    assert head_file(numbered) == edited((b"line 25\n", b"x\n"))
    assert "Chorus-Part: " in numbered.git("log", "-1", "--format=%B")
    assert next(e for e in agent.recorder.entries() if e.n == both.n).status == "committed"
    land(agent)
    assert head_file(numbered) == edited((b"line 3\n", b"three\n"), (b"line 25\n", b"x\n"))
    more = agent.edit("m.txt", b"m\n")
    with pytest.raises(NotFound, match="no hunk 9"):
        land(agent, more.n, hunks=[9])


def test_each_turn_or_action_can_have_its_own_message(numbered: UserRepo, agent: Agent) -> None:
    one, two = agent.edit("a.txt", b"a\n"), agent.edit("b.txt", b"b\n")
    messages = CommitMessages("Both", named=[(str(two.n), "Second\n\nBody")])
    land(agent, by="action", messages=messages)
    assert numbered.git("log", "-2", "--format=%s").split("\n")[:2] == ["Second", "Both"]
    agent.edit("c.txt", b"c\n")
    with pytest.raises(
        NothingToLand, match=f"--message-for {one.n}: that action is not part of this landing"
    ):
        land(agent, by="action", messages=CommitMessages(named=[(str(one.n), "First")]))
    land(agent, messages=CommitMessages(named=[("turn", "By turn")]))
    assert numbered.git("log", "-1", "--format=%s") == "By turn\n"


def test_a_change_that_the_branch_has_and_one_that_leads_back(numbered: UserRepo, agent: Agent) -> None:
    workspace = agent.recorder.workspace
    path = RepoPath("n.txt")
    entries = [
        TreeEntry(FILE_MODE, workspace.store.write_blob(text)) for text in (LINES, b"other\n", b"third\n")
    ]
    there, back = (
        PathChange(path, entries[0], entries[1], (1,)),
        PathChange(path, entries[1], entries[0], (2,)),
    )
    tree = workspace.splice(None, {path: entries[1]})
    assert find_applied(workspace, tree, [there, back]) == {there}
    assert find_applied(workspace, tree, [back, there]) == set()
    third = workspace.splice(None, {path: entries[2]})
    assert find_applied(workspace, third, [there, back]) == set()
    further = PathChange(path, entries[1], entries[2], (3,))
    assert find_applied(workspace, third, [there, further]) == {there, further}
    assert find_applied(workspace, third, [there, PathChange(path, entries[0], entries[2], (4,))]) == {
        PathChange(path, entries[0], entries[2], (4,))
    }


def test_a_message_is_utf8_whatever_the_user_has_set(numbered: UserRepo, agent: Agent) -> None:
    numbered.git("config", "i18n.commitEncoding", "ISO-8859-1")
    agent.edit("a.txt", b"a\n")
    land(agent, messages=CommitMessages("Grüße"))
    assert numbered.git("log", "-1", "--encoding=UTF-8", "--format=%s|%e") == "Grüße|\n"


def test_an_action_left_because_of_staged_lines_is_not_landed(
    numbered: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    """Also in one commit with others of its turn."""
    one = agent.replace("n.txt", b"line 5\n", b"five\n")
    two = agent.replace("n.txt", b"line 9\n", b"nine\n")
    numbered.write("n.txt", edited((b"line 5\n", b"five\n"), (b"line 9\n", b"other\n")))
    numbered.git("add", "n.txt")
    recorder.record_outside()
    land(agent)
    states = {entry.n: entry.status for entry in recorder.entries()}
    assert (states[one.n], states[two.n]) == ("landed", "committed")


def test_a_staged_line_where_an_action_inserted_one_leaves_only_that_action(
    numbered: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    one = agent.replace("n.txt", b"line 5\n", b"line 5\ninserted\n")
    two = agent.replace("n.txt", b"line 20\n", b"twenty\n")
    user_writes(numbered, recorder, b"inserted\n", b"mine instead\n")
    numbered.git("add", "n.txt")
    done = land(agent)
    assert left(done) == [(one.n, "line 6 of n.txt has other content staged")]
    assert head_file(numbered) == edited((b"line 20\n", b"twenty\n"))
    assert {e.n: e.status for e in recorder.entries()}[two.n] == "landed"


def test_a_staged_line_leaves_no_action_that_inserted_lines_just_beside_it(
    numbered: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    """Both put lines between the same two lines of the branch, each at a place of its own."""
    one = agent.replace("n.txt", b"line 5\n", b"line 5\ninserted\n")
    two = agent.replace("n.txt", b"inserted\n", b"above\ninserted\n")
    three = agent.replace("n.txt", b"inserted\n", b"inserted\nbelow\n")
    user_writes(numbered, recorder, b"inserted\n", b"mine instead\n")
    numbered.git("add", "n.txt")
    done = land(agent)
    assert left(done) == [(one.n, "line 7 of n.txt has other content staged")]
    assert head_file(numbered) == edited((b"line 5\n", b"line 5\nabove\nbelow\n"))
    states = {entry.n: entry.status for entry in recorder.entries()}
    assert (states[two.n], states[three.n]) == ("landed", "landed")


def test_a_staged_last_line_does_not_hold_back_the_newline_at_its_end(
    numbered: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    one = agent.edit("n.txt", LINES.replace(b"line 30\n", b"thirty\n"))
    two = agent.edit("n.txt", LINES.replace(b"line 30\n", b"thirty"))
    numbered.write("n.txt", LINES.replace(b"line 30\n", b"mine\n"))
    numbered.git("add", "n.txt")
    numbered.write("n.txt", LINES.replace(b"line 30\n", b"thirty"))
    done = land(agent)
    assert [number for number, _ in left(done)] == [one.n]
    assert [group.numbers for group in done.groups] == [[two.n]]
    assert head_file(numbered) == LINES.removesuffix(b"\n")
    assert numbered.git("show", ":n.txt").encode() == LINES.replace(b"line 30\n", b"mine")


def test_lines_that_an_action_removed_are_removed_from_a_branch_that_has_them(
    numbered: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    """Also where actions in another file fit only together."""
    numbered.commit("more", **{"m.txt": LINES})
    agent.replace("n.txt", b"line 5\n", b"line 5\nextra\n")
    agent.replace("m.txt", b"line 9\n", b"nine\n")
    agent.replace("m.txt", b"nine\n", b"line 9\n")
    user_writes(numbered, recorder, b"line 9\n", b"mine\n", "m.txt")
    user_writes(numbered, recorder, b"line 20\n", b"mine\n")
    numbered.git("commit", "-qam", "mine")
    recorder.record_outside()
    agent.replace("n.txt", b"extra\n", b"")
    land(agent)
    assert head_file(numbered) == edited((b"line 20\n", b"mine\n"))


def test_a_line_is_removed_from_a_branch_that_has_every_earlier_change_of_the_file(
    numbered: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    """The user committed the file with a rewritten line, which none of its versions on the lane equals."""
    agent.replace("n.txt", b"line 5\n", b"five\n")
    agent.replace("n.txt", b"five\n", b"5a\n5b\n")
    agent.replace("n.txt", b"line 30\n", b"line 30\nextra\n")
    Agent(numbered, recorder, "session-b").replace("n.txt", b"line 20\n", b"twenty\n")
    numbered.git("commit", "-qam", "mine")
    recorder.record_outside()
    agent.replace("n.txt", b"extra\n", b"")
    assert not land(agent).left
    assert head_file(numbered) == edited((b"line 5\n", b"5a\n5b\n"), (b"line 20\n", b"twenty\n"))


def test_staged_lines_beside_and_on_landed_ones(numbered: UserRepo, agent: Agent) -> None:
    one = agent.replace("n.txt", b"line 5\n", b"five\n")
    two = agent.replace("n.txt", b"line 9\n", b"nine\n")
    disk = (numbered.path / "n.txt").read_bytes()
    numbered.write("n.txt", edited((b"line 6\n", b"staged\n"), (b"line 9\n", b"other\n")))
    numbered.git("add", "n.txt")
    numbered.write("n.txt", disk)
    done = land(agent)
    assert [group.numbers for group in done.groups] == [[one.n]]
    assert left(done) == [(two.n, "line 9 of n.txt has other content staged")]
    assert head_file(numbered) == edited((b"line 5\n", b"five\n"))
    assert numbered.git("show", ":n.txt").encode() == edited(
        (b"line 5\n", b"five\n"), (b"line 6\n", b"staged\n"), (b"line 9\n", b"other\n")
    )


def test_staged_content_without_lines_leaves_every_action_on_that_file(
    numbered: UserRepo, agent: Agent
) -> None:
    numbered.commit("image", **{"image.bin": b"\0one"})
    one, two = agent.edit("image.bin", b"\0two"), agent.edit("image.bin", b"\0three")
    other = agent.replace("n.txt", b"line 5\n", b"five\n")
    numbered.write("image.bin", b"\0staged")
    numbered.git("add", "image.bin")
    numbered.write("image.bin", b"\0three")
    done = land(agent)
    assert [group.numbers for group in done.groups] == [[other.n]]
    reason = "image.bin has staged changes that differ from what would land"
    assert left(done) == [(one.n, reason), (two.n, reason)]
    assert [action.obstacles[0].why for action in done.left] == ["staged", "staged"]


def test_of_several_staged_lines_the_first_that_an_action_changed_is_named(
    numbered: UserRepo, agent: Agent
) -> None:
    one = agent.edit("n.txt", edited((b"line 9\n", b"nine\n"), (b"line 15\n", b"fifteen\n")))
    two = agent.replace("n.txt", b"line 20\n", b"twenty\n")
    disk = (numbered.path / "n.txt").read_bytes()
    staged = edited((b"line 9\n", b"a\n"), (b"line 15\n", b"b\n"), (b"line 20\n", b"c\n"))
    numbered.write("n.txt", staged)
    numbered.git("add", "n.txt")
    numbered.write("n.txt", disk)
    free = agent.edit("new.txt", b"new\n")
    done = land(agent)
    assert [group.numbers for group in done.groups] == [[free.n]]
    assert left(done) == [
        (one.n, "line 9 of n.txt has other content staged"),
        (two.n, "line 20 of n.txt has other content staged"),
    ]
    assert [action.obstacles[0].line for action in done.left] == [9, 20]


def test_a_staged_line_holds_back_who_inserted_it_and_not_who_removed_another(
    numbered: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    """Also if actions between them fit only together."""
    inserted = agent.replace("n.txt", b"line 10\n", b"line 10\nnew\n")
    user_writes(numbered, recorder, b"new\n", b"mine\n")
    user_writes(numbered, recorder, b"line 5\n", b"also mine\nline 5\n")
    rewrote = agent.replace("n.txt", b"also mine\nline 5\n", b"five\n")
    removed = agent.replace("n.txt", b"five\n", b"")
    numbered.git("add", "n.txt")
    done = land(agent, dry_run=True)
    assert [number for number, _ in left(done)] == [inserted.n]
    assert [group.numbers for group in done.groups] == [[rewrote.n, removed.n]]


def test_a_staged_line_holds_back_whoever_removed_it_and_not_who_removed_the_next(
    numbered: UserRepo, agent: Agent
) -> None:
    one = agent.replace("n.txt", b"line 9\n", b"")
    two = agent.replace("n.txt", b"line 10\n", b"")
    disk = (numbered.path / "n.txt").read_bytes()
    numbered.write("n.txt", edited((b"line 9\n", b"staged\n")))
    numbered.git("add", "n.txt")
    numbered.write("n.txt", disk)
    done = land(agent)
    assert [group.numbers for group in done.groups] == [[two.n]]
    assert left(done) == [(one.n, "line 9 of n.txt has other content staged")]
    assert head_file(numbered) == edited((b"line 10\n", b""))


ADD_ALL = "sed -i s/five/FIVE/ n.txt; git add -u"


@pytest.mark.parametrize("is_users", [False, True])
def test_a_hook_that_stages_the_users_lines_is_refused_and_one_that_formats_is_not(
    numbered: UserRepo, agent: Agent, is_users: bool
) -> None:
    agent.replace("n.txt", b"line 5\n", b"five\n")
    if is_users:
        user_writes(numbered, agent.recorder, b"line 20\n", b"private\n")
    hook = numbered.write(".git/hooks/pre-commit", f"#!/bin/sh\n{ADD_ALL}\n".encode())
    hook.chmod(0o755)
    refs = numbered.git("for-each-ref", "refs/heads/main")
    if is_users:
        with pytest.raises(HookStagedFiles, match=r"staged n\.txt from the work tree"):
            land(agent)
        assert numbered.git("for-each-ref", "refs/heads/main") == refs
    else:
        land(agent)
        assert head_file(numbered) == edited((b"line 5\n", b"FIVE\n"))


def test_a_landing_that_fails_after_its_commits_undoes_them(
    numbered: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.edit("a.txt", b"a\n")
    agent.edit("b.txt", b"b\n")
    before = numbered.fingerprint()

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("chorus.review.landing.apply.update_user_index", fail)
    with pytest.raises(KeyboardInterrupt):
        land(agent, by="action")
    assert numbered.fingerprint()["refs"] == before["refs"]
    assert numbered.fingerprint()["status"] == before["status"]
    assert not (numbered.path / ".git/chorus/landing.json").exists()


@pytest.mark.parametrize("count", [1, 2])
def test_a_hook_that_changes_what_later_actions_build_on_undoes_the_landing(
    numbered: UserRepo, agent: Agent, count: int
) -> None:
    agent.replace("n.txt", b"line 5\n", b"five\n", turn="turn-1")
    agent.replace("n.txt", b"five\n", b"cinq\n", turn="turn-2")
    if count > 1:
        agent.replace("n.txt", b"cinq\n", b"go\n", turn="turn-2")
    hook = numbered.write(
        ".git/hooks/pre-commit",
        b"#!/bin/sh\ngit show :n.txt | sed s/five/FIVE/ >x\n"
        b"git update-index --cacheinfo 100644,$(git hash-object -w x),n.txt; rm x\n",
    )
    hook.chmod(0o755)
    refs = numbered.git("for-each-ref", "refs/heads/main")
    which = "action 2 builds" if count == 1 else "actions 2, 3 build"
    with pytest.raises(LandConflict) as error:
        land(agent)
    assert str(error.value) == f"a commit hook changed n.txt, which {which} on; nothing was landed"
    assert numbered.git("for-each-ref", "refs/heads/main") == refs


def test_hunks_can_be_chosen_from_one_action_only(numbered: UserRepo, agent: Agent) -> None:
    one, two = agent.edit("a.txt", b"a\n"), agent.edit("b.txt", b"b\n")
    with pytest.raises(UsageError, match="hunks can be chosen from one action only"):
        land(agent, one.n, two.n, hunks=[1])
    assert [group.numbers for group in land(agent, one.n, hunks=[1]).groups] == [[one.n]]


def test_planning_lists_lanes_of_other_work_trees_as_such(numbered: UserRepo, agent: Agent) -> None:
    agent.edit("a.txt", b"a\n")
    with pytest.raises(NothingToLand, match="main is not a lane"):
        plan_landing(agent.recorder, LandingRequest("main"))


def die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("onto", [None, "fresh"])
@pytest.mark.parametrize(
    ("point", "is_finished"),
    [
        ("chorus.store.user_branch.UserBranch._prepare", False),
        ("chorus.review.landing.recovery.PendingLanding.add", False),
        ("chorus.store.user_branch.UserBranch.copy_to_user_store", True),
    ],
)
def test_a_landing_killed_at_any_point_is_undone_or_finished(
    numbered: UserRepo,
    agent: Agent,
    monkeypatch: pytest.MonkeyPatch,
    *,
    onto: str | None,
    point: str,
    is_finished: bool,
) -> None:
    user_writes(numbered, agent.recorder, b"line 12\n", b"mine\n")
    agent.replace("n.txt", b"mine\n", b"theirs\n")
    agent.edit("b.txt", b"b\n")
    before = numbered.fingerprint()
    monkeypatch.setattr(point, die)
    # As after a kill: this process cleans up nothing.
    monkeypatch.setattr("chorus.store.user_branch.UserBranch.roll_back", lambda _: None)
    monkeypatch.setattr("chorus.review.landing.recovery.PendingLanding.clear", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        land(agent, by="action", with_context=True, onto=onto)
    monkeypatch.undo()
    with Recorder.open(numbered.path) as recorder:
        recover_landing(recorder)
        statuses = [entry.status for entry in recorder.entries() if entry.n]
    if is_finished:
        assert statuses == ["landed", "landed"]
        assert head_file(numbered, branch=onto or "main") == edited((b"line 12\n", b"theirs\n"))
        assert numbered.git("diff", "--cached") == ""
    else:
        assert statuses == ["committed", "committed"]
        assert numbered.fingerprint()["refs"] == before["refs"]
        assert numbered.fingerprint()["status"] == before["status"]
