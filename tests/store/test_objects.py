"""git reads every object Chorus writes, completely or not at all, on any disk and through any gc."""

import errno
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.model.ids import Oid, RepoPath
from chorus.store.lock_file import CannotWrite
from chorus.store.maintenance.side_store import pack
from chorus.store.objects.commits import Commit, Signature, parse_commit, render_commit
from chorus.store.objects.loose_objects import DISK_BLOCK, STORED_BLOCK, encode
from chorus.store.objects.object_store import ALTERNATE_LINE, ObjectMissing, ObjectStore, hash_blob, quoted
from chorus.store.objects.packed_objects import PackReader
from chorus.store.repository import Repository
from chorus.system.files.durable_writes import PendingWrites, finish_writing, is_in_memory, start_writing
from chorus.system.this_system import IS_LINUX
from tests.repos import UserRepo
from tests.store.open_store import OpenStore
from tests.store.recorder import TIMELINE, Recorder

ROOT = Path(__file__).parent.parent.parent
SIZES = [0, 1, DISK_BLOCK - 20, DISK_BLOCK, STORED_BLOCK - 20, STORED_BLOCK, 2 * STORED_BLOCK + 7]


@pytest.mark.parametrize("size", SIZES)
def test_git_reads_objects_of_any_size(opened: OpenStore, size: int) -> None:
    data = os.urandom(size)

    oid = opened.store.write_blob(data)

    assert oid == hash_blob(data)
    assert opened.store.read_blob(oid) == data
    done = subprocess.run(["git", "cat-file", "blob", oid], cwd=opened.repo.path, capture_output=True)
    assert done.stdout == data


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([0, *SIZES]), st.sampled_from([b"blob", b"tree"]))
def test_every_encoding_inflates_to_the_same_bytes(data: bytes, padding: int, kind: bytes) -> None:
    body = data + b"x" * padding

    assert zlib.decompress(encode(kind, body)) == body


PEOPLE = st.builds(
    Signature,
    st.text(max_size=10),
    st.text(max_size=10),
    st.integers(0, 2**40),
    st.sampled_from(["+0000", "-0730"]),
)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(PEOPLE, st.text(max_size=50), st.booleans()), min_size=20, max_size=40))
def test_any_commit_is_one_that_git_accepts(
    opened: OpenStore, written: list[tuple[Signature, str, bool]]
) -> None:
    head = opened.repository.head().oid
    assert head is not None
    tree = opened.store.read_commit(head).tree
    commits = [Commit(tree, (head,) if rooted else (), who, who, text) for who, text, rooted in written]

    oids = [opened.store.write_commit(commit) for commit in commits]

    assert opened.repo.git("fsck", "--strict", "--no-dangling", *oids) == ""
    for commit in commits:
        again = parse_commit(render_commit(commit))
        assert (again.tree, again.parents) == (commit.tree, commit.parents)
        assert again.message == commit.message.replace("\0", "")
        assert render_commit(again) == render_commit(commit)


def test_the_encoding_of_a_commit_is_kept(opened: OpenStore) -> None:
    opened.repo.git("-c", "i18n.commitEncoding=CP1251", "commit", "-q", "--allow-empty", "-m", "encoded")
    head = Oid(opened.repo.git("rev-parse", "HEAD").strip())
    commit = opened.store.read_commit(head)
    assert commit.encoding == "CP1251"
    assert opened.store.write_commit(commit) == head


def test_nothing_is_written_to_the_users_own_objects(opened: OpenStore) -> None:
    objects = opened.repo.path / ".git/objects"
    before = {path for path in objects.rglob("*") if path.is_file()}

    Recorder(opened.repository, opened.store, opened.trees).record("a/b", b"x" * 10_000)

    after = {path for path in objects.rglob("*") if path.is_file()}
    assert after - before == {objects / "info/alternates"}
    assert (objects / "info/alternates").read_bytes() == ALTERNATE_LINE + b"\n"


def test_objects_are_found_wherever_git_has_them(opened: OpenStore, tmp_path: Path) -> None:
    loose = Oid(opened.repo.git("hash-object", "-w", "--stdin", stdin=b"loose").strip())
    head = opened.repository.head().oid
    assert head is not None
    tree = opened.store.read_commit(head).tree
    opened.repo.git("repack", "-q", "-a", "-d")
    UserRepo.copy(opened.repo.path, tmp_path / "other")
    elsewhere = UserRepo(tmp_path / "other").git("hash-object", "-w", "--stdin", stdin=b"elsewhere").strip()
    place = opened.repo.path / ".git/objects/info/alternates"
    place.write_bytes(os.fsencode(tmp_path / "other/.git/objects") + b"\n")

    assert opened.store.read_blob(loose) == b"loose"
    assert opened.store.read_commit(head).tree == tree
    assert opened.store.read_blob(Oid(elsewhere)) == b"elsewhere"


def test_a_missing_object_or_one_of_another_kind_is_an_error(opened: OpenStore) -> None:
    blob = opened.store.write_blob(b"blob")

    assert not opened.store.has(Oid("1" * 40))
    with pytest.raises(ObjectMissing, match="is missing or damaged"):
        opened.store.read_blob(Oid("1" * 40))
    with pytest.raises(ObjectMissing, match="is a blob, not a tree"):
        opened.store.read_tree(blob)


def test_a_damaged_object_is_an_error_and_repaired_by_writing_it_again(opened: OpenStore) -> None:
    oid = opened.store.write_blob(b"data")
    place = opened.store.directory / oid[:2] / oid[2:]
    for damage in (b"", b"rubbish"):
        place.unlink()
        place.write_bytes(damage)
        with pytest.raises(ObjectMissing, match="damaged"):
            opened.store.read_blob(oid)

    ObjectStore(opened.repository).write_blob(b"data")

    assert opened.store.read_blob(oid) == b"data"


def test_packs_may_appear_and_disappear(memory_repo: UserRepo) -> None:
    with OpenStore.open(memory_repo) as opened:
        recorder = Recorder(opened.repository, opened.store, opened.trees)
        head = opened.repository.head().oid
        assert head is not None
        for number in range(15):
            tip = recorder.record(f"d{number % 3}/f", b"%d" % number)
            if number % 5 == 0:
                memory_repo.git("repack", "-q", "-a", "-d")
                memory_repo.git("gc", "-q", "--prune=now")
                pack(opened.repository.git, opened.store, young_seconds=-1)
            assert opened.store.read_tree(opened.store.read_commit(head).tree)
            with ObjectStore(opened.repository) as fresh:
                assert fresh.read_commit(tip).tree == recorder.tree


def test_whole_objects_are_read_from_packs_old_and_new(repo: UserRepo) -> None:
    reader = PackReader([repo.path / ".git/objects"])
    head = Oid(repo.git("rev-parse", "HEAD").strip())
    assert reader.read(head) is None
    repo.git("repack", "-q", "-a", "-d", "-f", "--window=0")
    first = reader.read(head)
    newer = Oid(repo.commit("newer"))
    repo.git("repack", "-q", "-a", "-d", "-f", "--window=0")

    assert first is not None
    assert reader.read(head) == first
    assert reader.read(newer) is not None
    assert len(reader._packs) == 1
    reader.close()


def test_the_size_of_a_blob_is_known_without_reading_it(repo: UserRepo) -> None:
    """In the side store, loose in the user's store, and in packs, whole and as a delta."""
    long = b"".join(b"line %d\n" % number for number in range(5_000))
    contents = [b"x", b"y" * 127, b"z" * 70_000, long, long + b"more\n", long * 2, os.urandom(3_000)]
    for number, data in enumerate(contents):
        repo.write(f"f{number}", data)
    repo.git("add", "-A")
    repo.commit("files")
    users = {Oid(repo.git("rev-parse", f"HEAD:f{n}").strip()): len(data) for n, data in enumerate(contents)}
    for _ in range(2):  # loose, then packed
        with OpenStore.open(repo) as opened:
            own = {opened.store.write_blob(data + b"own"): len(data) + 3 for data in contents}
            assert {oid: opened.store.blob_size(oid) for oid in users | own} == users | own
            assert opened.store.blob_size(Oid("1" * 40)) is None
        repo.git("repack", "-q", "-a", "-d", "-f")
        repo.git("prune-packed")


def test_a_damaged_pack_is_left_to_git(repo: UserRepo) -> None:
    repo.git("repack", "-q", "-a", "-d")
    (index,) = (repo.path / ".git/objects/pack").glob("*.idx")
    index.chmod(0o644)
    index.write_bytes(b"rubbish" * 1000)
    reader = PackReader([repo.path / ".git/objects"])

    assert reader.read(Oid("1" * 40)) is None


@pytest.mark.parametrize("rest", [b"", b"\xff" * 500, b"\x9f\x01rubbish" * 60])
def test_an_object_in_a_damaged_pack_is_missing_unless_another_copy_is_whole(
    repo: UserRepo, rest: bytes
) -> None:
    head = Oid(repo.git("rev-parse", "HEAD").strip())
    copy = repo.path / ".git/objects" / head[:2] / head[2:]
    whole = copy.read_bytes()
    repo.git("repack", "-q", "-a", "-d")
    (pack,) = (repo.path / ".git/objects/pack").glob("*.pack")
    header = pack.read_bytes()[:12]
    pack.chmod(0o644)
    pack.write_bytes(header + rest)
    with OpenStore.open(repo) as opened:
        assert not opened.store.has(head)
        with pytest.raises(ObjectMissing, match="is missing or damaged"):
            opened.store.read_commit(head)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(whole)
        assert opened.store.read_commit(head).message == "second\n"


def test_an_index_of_a_pack_that_is_cut_off_is_left_to_git(repo: UserRepo) -> None:
    head = Oid(repo.git("rev-parse", "HEAD").strip())
    repo.git("repack", "-q", "-a", "-d")
    (index,) = (repo.path / ".git/objects/pack").glob("*.idx")
    index.chmod(0o644)
    index.write_bytes(index.read_bytes()[:100])
    reader = PackReader([repo.path / ".git/objects"])

    assert reader.read(head) is None


def test_a_reader_whose_process_died_starts_another(opened: OpenStore) -> None:
    opened.repo.git("repack", "-q", "-a", "-d")
    blob = Oid(opened.repo.git("rev-parse", "HEAD:app.py").strip())
    opened.store.read_blob(blob)
    process = opened.store._reader._process
    assert process is not None
    process.kill()
    process.wait()

    assert opened.store.read_blob(blob) == b"x = 1\ny = 2\n"


def test_closing_leaves_no_process_and_no_descriptor(repo: UserRepo) -> None:
    repo.git("repack", "-q", "-a", "-d")
    before = psutil.Process().num_fds()
    with OpenStore.open(repo) as opened:
        recorder = Recorder(opened.repository, opened.store, opened.trees)
        recorder.record("app.py", b"1")
        opened.store.read_blob(Oid(repo.git("rev-parse", "HEAD:app.py").strip()))

    assert psutil.Process().num_fds() == before
    assert subprocess.run(["pgrep", "-P", str(os.getpid()), "-x", "git"], capture_output=True).stdout == b""


def test_a_partial_clone_is_read_without_a_fetch(repo: UserRepo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("commit", "-qm", "staged")
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repo.path}", str(clone))
    missing = Oid(repo.git("rev-parse", "HEAD:app.py").strip())
    with OpenStore.open(UserRepo(clone)) as opened:
        with pytest.raises(ObjectMissing):
            opened.store.read_blob(missing)
        Recorder(opened.repository, opened.store, opened.trees).record("new.py", b"1\n")

    packs = list((clone / ".git/objects/pack").glob("*.pack"))
    assert len(packs) == 1
    assert UserRepo(clone).fsck() == ""


def test_a_shallow_clone_records(repo: UserRepo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "clone"))
    clone = UserRepo(tmp_path / "clone")
    before = clone.fingerprint()
    with OpenStore.open(clone) as opened:
        opened.scanner.baseline()
        Recorder(opened.repository, opened.store, opened.trees).record("new.py", b"1\n")

    assert clone.fingerprint() == before
    assert clone.fsck() == ""


def test_a_read_only_store_is_a_clear_error(opened: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    opened.store.write_blob(b"first")

    def refused(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(CannotWrite, match="Read-only file system"):
        opened.store.write_blob(b"second")


def test_a_full_disk_leaves_no_partial_object(opened: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    opened.store.write_blob(b"first")
    before = sorted(opened.store.directory.rglob("*"))

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 100:
            return os.pwrite(descriptor, data[:100], 0)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(CannotWrite, match="No space left"):
        opened.store.write_blob(os.urandom(150))
    monkeypatch.undo()

    assert sorted(opened.store.directory.rglob("*")) == before


WRITE = """
import os, sys
from pathlib import Path
from chorus.store.objects.object_store import ObjectStore
from chorus.store.repository import Repository
from chorus.store.objects.trees import Trees
from tests.store.recorder import Recorder
repository = Repository.open(Path(sys.argv[1]))
store = ObjectStore(repository)
recorder = Recorder(repository, store, Trees(store))
for number in range(100000):
    recorder.record(f"d{number % 7}/f{number % 11}", os.urandom(3000 + number % 5000))
    print(recorder.tip, flush=True)
"""


def test_a_recorder_killed_at_any_moment_leaves_an_intact_repository(memory_repo: UserRepo) -> None:
    repo = memory_repo
    said = repo.path.parent / "said"
    for least in (1, 3, 10, 40, 41, 42):
        with said.open("w") as output:
            worker = subprocess.Popen(
                [sys.executable, "-c", WRITE, str(repo.path)], cwd=ROOT, stdout=output, stderr=subprocess.PIPE
            )
            wait_until_longer(said, 41 * least)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            assert worker.stderr is not None
            assert worker.stderr.read() == b""
            worker.stderr.close()
        last = said.read_text().splitlines()[-1]
        chain = repo.git("rev-list", TIMELINE).split()
        # Every reported commit exists; one more may have been recorded but not reported.
        assert last in chain[:2]
        lock = repo.path / ".git" / f"{TIMELINE}.lock"
        lock.unlink(missing_ok=True)  # what `chorus doctor` tells the user to do

    assert repo.fsck() == ""


def wait_until_longer(path: Path, size: int) -> None:
    deadline = time.monotonic() + 30
    while path.stat().st_size < size:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_objects_are_on_the_disk_before_the_ref(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of calls, for the file systems that have a disk."""
    monkeypatch.setattr("chorus.system.files.durable_writes.is_in_memory", lambda _: False)
    pending_writes = PendingWrites(tmp_path, enabled=True)
    calls: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "chorus.system.files.durable_writes.start_writing", lambda file: calls.append(("start", file))
    )
    monkeypatch.setattr(
        "chorus.system.files.durable_writes.finish_writing",
        lambda files: calls.extend(("finish", file) for file in files),
    )
    files = [os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT) for name in "abc"]
    for file in files:
        pending_writes.take(file)
    assert calls == [("start", file) for file in files]
    pending_writes.wait()
    assert calls[3:] == [("finish", file) for file in files]
    pending_writes.wait()
    assert len(calls) == 6


def test_an_object_that_may_not_have_reached_the_disk_is_written_again(
    repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("chorus.system.files.durable_writes.is_in_memory", lambda _: False)
    with OpenStore.open(repo) as opened:
        oid, head = opened.store.write_blob(b"data"), opened.repository.head().oid
        first = (opened.store.directory / oid[:2] / oid[2:]).stat().st_ino
        assert head is not None
        with monkeypatch.context() as broken_disk:
            broken_disk.setattr("chorus.system.files.durable_writes.finish_writing", failing)
            with pytest.raises(OSError, match="Input/output"):
                opened.repository.refs.update(TIMELINE, head, None, "not written")
        assert opened.repository.refs.read(TIMELINE) is None

        assert opened.store.write_blob(b"data") == oid
        assert (opened.store.directory / oid[:2] / oid[2:]).stat().st_ino != first


def test_a_file_is_written_to_the_disk_in_two_steps(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x")
        file.flush()
        start_writing(file.fileno())
        finish_writing([file.fileno()])
    assert is_in_memory(Path("/proc")) is False
    assert not IS_LINUX or not Path("/dev/shm").is_dir() or is_in_memory(Path("/dev/shm"))


def test_durability_can_be_switched_off(repo: UserRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorus.system.files.durable_writes.is_in_memory", lambda _: False)
    repo.git("config", "chorus.durable", "true")
    assert Repository.open(repo.path).pending_writes.enabled
    repo.git("config", "chorus.durable", "false")
    assert not Repository.open(repo.path).pending_writes.enabled


def test_a_durable_recorder_records_the_same(repo: UserRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorus.system.files.durable_writes.is_in_memory", lambda _: False)
    repo.git("config", "chorus.durable", "true")
    with OpenStore.open(repo) as opened:
        recorder = Recorder(opened.repository, opened.store, opened.trees)
        for number in range(20):
            recorder.record("a/b/c", b"%d\n" % number)
        for number in range(100):
            opened.store.write_blob(b"%d" % number)
        opened.repository.pending_writes.wait()

    assert len(repo.read_commits(TIMELINE)) == 20
    assert repo.fsck() == ""


def test_odd_paths_are_quoted_for_git() -> None:
    assert quoted(Path("/plain/path")) == "/plain/path"
    assert quoted(Path('/with:colon"quote')) == '"/with:colon\\"quote"'


def test_a_repository_in_an_odd_place_records(template_repo: Path, tmp_path: Path) -> None:
    odd = UserRepo.copy(template_repo, tmp_path / 'a:b "c" \\d\ne [x]')
    odd.write(".gitattributes", b"* text\n")
    with OpenStore.open(odd) as opened:
        tree, _ = opened.scanner.baseline()
        assert opened.contents(tree) == opened.on_disk()
        Recorder(opened.repository, opened.store, opened.trees).record("app.py", b"1\n")
        assert opened.filters.to_git(RepoPath("x"), b"a\r\n").data == b"a\n"
    assert odd.fsck() == ""
