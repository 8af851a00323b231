"""Objects, trees and refs together: one edit becomes one commit, and nothing else changes."""

from chorus.model.ids import RepoPath
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import Trees
from chorus.store.refs import NO_OID
from chorus.store.repository import Repository
from tests.repos import UserRepo
from tests.store.recorder import LANE, TIMELINE, Recorder


def test_an_edit_is_one_commit_that_git_reads(
    repo: UserRepo, repository: Repository, store: ObjectStore, trees: Trees
) -> None:
    Recorder(repository, store, trees).record("src/deep/new/file.py", b"print()\n")

    assert repo.read_files(TIMELINE) == repo.read_files("HEAD") | {"src/deep/new/file.py": b"print()\n"}
    assert repo.git("diff-tree", "-r", "--name-status", "HEAD", TIMELINE) == "A\tsrc/deep/new/file.py\n"
    assert repo.fsck() == ""


def test_recording_leaves_the_users_repository_alone(
    repo: UserRepo, repository: Repository, store: ObjectStore, trees: Trees
) -> None:
    before = repo.fingerprint()

    for ref in (TIMELINE, LANE):
        recorder = Recorder(repository, store, trees, ref)
        for number in range(3):
            recorder.record("app.py", b"x = %d\n" % number)
        recorder.record("app.py", None)

    assert repo.fingerprint() == before


def test_the_reason_is_in_the_reflog(
    repo: UserRepo, repository: Repository, store: ObjectStore, trees: Trees
) -> None:
    recorder = Recorder(repository, store, trees, LANE)
    recorder.record("app.py", b"1\n")
    recorder.record("app.py", b"2\n")

    log = repo.git("reflog", "show", "--format=%H %gs", LANE).splitlines()

    assert [line.split(" ", 1)[1] for line in log] == ["record app.py", "record app.py"]
    assert log[0].split()[0] == recorder.tip


def test_the_same_edit_by_git_gives_the_same_tree(
    repo: UserRepo, repository: Repository, store: ObjectStore, trees: Trees
) -> None:
    recorder = Recorder(repository, store, trees)
    recorder.record("src/deep/er/file.txt", b"changed\n")
    repo.git("stash", "-q")
    repo.write("src/deep/er/file.txt", b"changed\n")
    repo.git("commit", "-qam", "the same")

    assert repo.git("rev-parse", "HEAD^{tree}").strip() == recorder.tree


def test_lookup_and_walk_agree_with_git(
    repo: UserRepo, repository: Repository, store: ObjectStore, trees: Trees
) -> None:
    tree = store.read_commit(repository.head().oid or NO_OID).tree
    listed = repo.git("ls-tree", "-r", "-z", "HEAD").split("\0")[:-1]

    walked = [f"{entry.mode:06o} blob {entry.oid}\t{path}" for path, entry in trees.walk(tree)]

    assert walked == listed
    assert all(trees.lookup(tree, path) == entry for path, entry in trees.walk(tree))
    assert trees.lookup(tree, RepoPath("src/none")) is None
