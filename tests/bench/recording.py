"""Record one edit as two commits (timeline and lane), compared with bare system calls and with git.

floor: the same objects hashed, deflated and written, the same refs and reflogs, by system calls alone.
add+commit: `git add` and `git commit`. plumbing: a private index and five git processes. Times are in
milliseconds; ratios compare medians of one interleaved run, on tmpfs where there is one.
"""

import hashlib
import os
import random
import statistics
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.commits import Commit
from chorus.store.objects.loose_objects import LooseStore
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import FILE_MODE, TreeEntry, Trees
from chorus.store.repository import Repository
from chorus.system.files.durable_writes import PendingWrites

EDITS = 600
WARM_UP = 200  # until every directory of the store exists
SLOW_EVERY = 60  # the slow variants make one edit in so many
BODY = b"def function(argument):\n    return argument + 1\n" * 40
REFS = ("refs/chorus/timeline/bench", "refs/heads/chorus/bench")
# Name, number of files, files and directories per directory.
SHAPES = [
    ("100", 100, 20),
    ("5,000", 5_000, 20),
    ("50,000", 50_000, 40),
    ("300,000", 300_000, 40),
    ("flat 10,000", 10_000, 10_000),
]


def main() -> None:
    fast = Path("/dev/shm")
    medians: dict[str, float] = {}
    print(f"{'files':>12} {'ms':>7} {'p99':>7} {'x floor':>8} {'p99':>6} {'add+commit':>11} {'plumbing':>9}")
    for name, count, width in SHAPES:
        with tempfile.TemporaryDirectory(dir=fast if fast.is_dir() else None) as scratch:
            times = measure(Path(scratch), count, width)
        medians[name] = statistics.median(times["chorus"])
        print(render_row(name, times), flush=True)
    print(f"growth from 100 to 300,000 files: {medians['300,000'] / medians['100']:.2f}")


def render_row(name: str, times: dict[str, list[float]]) -> str:
    chorus, floor = times["chorus"], times["floor"]
    middle = statistics.median(chorus)
    return (
        f"{name:>12} {1000 * middle:7.2f} {1000 * percentile_99(chorus):7.2f} "
        f"{middle / statistics.median(floor):8.2f} {percentile_99(chorus) / percentile_99(floor):6.2f} "
        f"{statistics.median(times['add+commit']) / middle:10.0f}x "
        f"{statistics.median(times['plumbing']) / middle:8.0f}x"
    )


def percentile_99(times: list[float]) -> float:
    return sorted(times)[int(0.99 * len(times))]


def measure(scratch: Path, count: int, width: int) -> dict[str, list[float]]:
    paths = [path_of(number, count, width) for number in range(count)]
    repo = scratch / "repo"
    make_repository(repo, paths)
    rehearsal, chorus, floor = (
        TwoChains(repo, "rehearsal"),
        TwoChains(repo, "chorus"),
        Floor(repo / ".git/floor/objects"),
    )
    times: dict[str, list[float]] = {"chorus": [], "floor": [], "add+commit": [], "plumbing": []}
    choose = random.Random(1)
    for number in range(WARM_UP + EDITS):
        path = choose.choice(paths)
        rehearsal.edit(path, number)
        written = rehearsal.pop_written()
        edits: dict[str, Callable[[], None]] = {
            "chorus": partial(chorus.edit, path, number),
            "floor": partial(floor.write, written),
        }
        if number % SLOW_EVERY == SLOW_EVERY - 1:
            (repo / path).write_bytes(b"# %d\n" % number + BODY)
            edits["plumbing"] = partial(plumbing, repo, path)
            edits["add+commit"] = partial(add_and_commit, repo, path)
        for name in choose.sample(sorted(edits), len(edits)):
            start = time.perf_counter()
            edits[name]()
            if number >= WARM_UP:
                times[name].append(time.perf_counter() - start)
    for chains in (rehearsal, chorus):
        chains.store.close()
    return times


def path_of(number: int, count: int, width: int) -> str:
    """Return a path in a tree of directories with `width` entries each, as deep as needed."""
    names = []
    while count > width:
        count = -(-count // width)
        number, rest = divmod(number, width)
        names.append(rest)
    names.append(number)
    *directories, file = reversed(names)
    return "/".join([*(f"directory{name}" for name in directories), f"file{file}.py"])


def make_repository(repo: Path, paths: list[str]) -> None:
    git(repo.parent, "init", "-q", "-b", "main", str(repo))
    for key, value in (("user.name", "a"), ("user.email", "a@b"), ("gc.auto", "0")):
        git(repo, "config", key, value)
    stream = [b"commit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 1\nx\n"]
    stream += [
        b"M 100644 inline %s\ndata %d\n# %08d\n%s\n" % (path.encode(), 11 + len(BODY), number, BODY)
        for number, path in enumerate(paths)
    ]
    git(repo, "fast-import", "--quiet", stdin=b"".join(stream))
    git(repo, "reset", "-q", "--hard")


class RecordingStore(LooseStore):
    """Remembers each new object, because the floor writes the same bytes."""

    def __init__(self, directory: Path, pending_writes: PendingWrites) -> None:
        super().__init__(directory, pending_writes)
        self.written: dict[Oid, tuple[bytes, bytes]] = {}
        self.seen: set[Oid] = set()

    def write(self, kind: bytes, data: bytes) -> Oid:
        oid = super().write(kind, data)
        if oid not in self.seen:
            self.seen.add(oid)
            self.written[oid] = (kind, data)
        return oid


class TwoChains:
    """Two chains of commits that grow by one edit at a time. The timeline has one file more than the lane, as
    with an uncommitted file of the user, so their root trees differ."""

    def __init__(self, repo: Path, name: str) -> None:
        self.name = name
        self.repository = Repository.open(repo)
        self.store = ObjectStore(self.repository)
        self._recording_store = RecordingStore(self.store.directory, self.repository.pending_writes)
        if name == "rehearsal":
            self.store._loose = self._recording_store
        self.trees = Trees(self.store)
        head = self.repository.head().oid
        assert head is not None
        lane = self.store.read_commit(head).tree
        notes = TreeEntry(FILE_MODE, self.store.write_blob(b"notes\n"))
        timeline = self.trees.splice(lane, {RepoPath("notes.txt"): notes})
        self.chains = {f"{REFS[0]}-{name}": Chain(timeline), f"{REFS[1]}-{name}": Chain(lane)}

    def edit(self, path: str, number: int) -> None:
        # The same length in each variant, and never the same bytes twice.
        data = b"# %-9s %6d\n" % (self.name.encode(), number) + BODY
        entry = TreeEntry(FILE_MODE, self.store.write_blob(data))
        for ref, chain in self.chains.items():
            chain.tree = self.trees.splice(chain.tree, {RepoPath(path): entry})
            who = self.repository.committer.sign()
            parents = (chain.tip,) if chain.tip else ()
            tip = self.store.write_commit(Commit(chain.tree, parents, who, who, f"edit {path}\n"))
            self.repository.refs.update(ref, tip, chain.tip, f"edit {path}")
            chain.tip = tip

    def pop_written(self) -> list[tuple[bytes, bytes]]:
        written = list(self._recording_store.written.values())
        self._recording_store.written.clear()
        return written


@dataclass
class Chain:
    tree: Oid
    tip: Oid | None = None


@dataclass
class Floor:
    """Objects, refs and reflogs written with system calls alone: whole files, renamed into place."""

    directory: Path
    count: int = 0

    def __post_init__(self) -> None:
        for number in range(256):
            (self.directory / f"{number:02x}").mkdir(parents=True)

    def write(self, objects: list[tuple[bytes, bytes]]) -> None:
        for kind, data in objects:
            body = b"%s %d\0%s" % (kind, len(data), data)
            oid = hashlib.sha1(body, usedforsecurity=False).hexdigest()
            packed = zlib.compress(body, 0 if kind == b"tree" else 1)
            self.put(f"{self.directory}/{oid[:2]}/{oid[2:]}", packed)
            if kind == b"commit":
                self.move_ref(oid)

    def put(self, path: str, data: bytes) -> None:
        self.count += 1
        self.replace(path, f"{self.directory}/scratch{self.count}", data, 0o444)

    def replace(self, path: str, scratch: str, data: bytes, mode: int) -> None:
        file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        os.write(file, data)
        os.close(file)
        os.rename(scratch, path)  # noqa: PTH104  the floor is bare system calls

    def move_ref(self, oid: str) -> None:
        """Compare and swap: read the old value of the ref, then replace it through a lock file."""
        file = os.open(f"{self.directory}/ref", os.O_RDONLY | os.O_CREAT, 0o666)
        old = os.read(file, 100)[:40] or b"0" * 40
        os.close(file)
        self.replace(f"{self.directory}/ref", f"{self.directory}/ref.lock", oid.encode() + b"\n", 0o666)
        log = os.open(f"{self.directory}/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(log, b"%s %s a <a@b> 1 +0000\tedit\n" % (old, oid.encode()))
        os.close(log)


def git(repo: Path, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> str:
    environment = os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {})
    done = subprocess.run(
        ["git", *arguments], cwd=repo, input=stdin, capture_output=True, check=True, env=environment
    )
    return done.stdout.decode().strip()


def add_and_commit(repo: Path, path: str) -> None:
    for _ in REFS:
        git(repo, "add", path)
        git(repo, "commit", "-q", "--allow-empty", "-m", "edit")


def plumbing(repo: Path, path: str) -> None:
    index = repo / ".git" / "bench-index"
    for ref in REFS:
        git(repo, "read-tree", "HEAD", index=index)
        blob = git(repo, "hash-object", "-w", path)
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
        tree = git(repo, "write-tree", index=index)
        commit = git(repo, "commit-tree", tree, "-p", "HEAD", "-m", "edit")
        git(repo, "update-ref", ref, commit)
