"""Record one edit on timeline and lane, compared with bare system calls, `git commit` and git plumbing."""

import hashlib
import os
import shutil
import statistics
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from chorus.history.recorder import Recorder
from chorus.store.maintenance.side_store import pack, pack_if_due
from tests.history.agent_at_work import action

SIZES = (100, 5_000, 50_000, 300_000)
EDITS = 60
WARM_UP = 5
GIT_EDITS = 5
FILES_PER_DIRECTORY = 50
LONG_HISTORY = 10_000

# Elapsed seconds, and seconds of processor time of this process.
Times: TypeAlias = tuple[float, float]


def main() -> None:
    chosen = [int(size) for size in os.environ.get("CHORUS_BENCH_FILES", "").split()]
    for size in chosen or SIZES:
        with scratch() as folder:
            measure_size(folder, size)
    if not chosen:
        with scratch() as folder:
            measure_flat(folder)
        with scratch() as folder:
            measure_long_history(folder)


def measure_size(folder: Path, size: int) -> None:
    paths = [f"d{i // 2500}/e{i // FILES_PER_DIRECTORY % 50}/f{i}.txt" for i in range(size)]
    measure_edits(f"{size:,} files", make_repository(folder / "repo", paths), paths)


def measure_flat(folder: Path) -> None:
    paths = [f"f{i}.txt" for i in range(10_000)]
    measure_edits("10,000 in one directory", make_repository(folder / "repo", paths), paths)


def measure_edits(label: str, repo: Path, paths: list[str]) -> None:
    with Recorder.open(repo) as recorder:
        recorder.start()
        rounds = list(record_edits(recorder, repo, paths))[WARM_UP:]
    ours, scans, floors, durable = ([times[column] for times in rounds] for column in range(4))
    plumbing = [commit_by_plumbing(repo, paths[k], k) for k in range(GIT_EDITS)]
    plain = [commit_by_git(repo, paths[k], k) for k in range(GIT_EDITS)]
    floor, synced, by_git = (statistics.median(wall(times)) for times in (floors, durable, plain))
    processor = statistics.median(cpu(ours)) / statistics.median(cpu(floors))
    print(
        f"{label:>24}: record {report(ours, synced)}, processor time {processor:.1f} · "
        f"read before the call {report(scans, synced)}"
    )
    print(
        f"{'':>24}  floor with the same fsyncs {synced * 1e3:.2f} ms, without {floor * 1e3:.2f} · "
        f"add+commit {by_git / synced:.0f} · plumbing {statistics.median(wall(plumbing)) / synced:.0f} · "
        f"record is {by_git / statistics.median(wall(ours)):.0f} times faster than add+commit",
        flush=True,
    )


def record_edits(recorder: Recorder, repo: Path, paths: list[str]) -> Iterator[list[Times]]:
    """Yield the times per edit: record, read before the call, bare system calls without and with fsync."""
    written = WrittenObjects(recorder)
    for number in range(WARM_UP + EDITS):
        file = repo / paths[(number * 7919) % len(paths)]
        scan = timed(recorder.record_before_call, [str(file)])
        file.write_bytes(file.read_bytes().replace(b"line 5 ", b"line 5 x", 1))
        record = timed(recorder.record_named_paths, [action(f"t{number}", file, message=None)])
        objects = written.take()
        bare = [timed(write_bare, repo, objects, durable=durable) for durable in (False, True)]
        yield [record, scan, *bare]


def wall(times: list[Times]) -> list[float]:
    return [seconds for seconds, _ in times]


def cpu(times: list[Times]) -> list[float]:
    return [seconds for _, seconds in times]


def report(times: list[Times], floor: float) -> str:
    ranked = sorted(wall(times))
    return f"p50 {statistics.median(ranked) / floor:.2f} p99 {ranked[int(len(ranked) * 0.99)] / floor:.2f}"


class WrittenObjects:
    """Collects the objects that one record writes."""

    def __init__(self, recorder: Recorder) -> None:
        self._objects: list[tuple[bytes, bytes]] = []
        loose = recorder.workspace.store._loose
        write = loose.write

        def write_and_collect(kind: bytes, data: bytes) -> object:
            self._objects.append((kind, data))
            return write(kind, data)

        loose.write = write_and_collect  # type: ignore[method-assign, assignment]  # to collect

    def take(self) -> list[tuple[bytes, bytes]]:
        objects, self._objects[:] = list(dict.fromkeys(self._objects)), []
        return objects


def write_bare(repo: Path, objects: list[tuple[bytes, bytes]], *, durable: bool) -> None:
    """Write the same objects and two refs with system calls alone."""
    root = f"{repo}/.git/bare-{int(durable)}"
    if not Path(root).is_dir():
        for number in range(256):
            Path(f"{root}/{number:02x}").mkdir(parents=True)
    name = ""
    for kind, data in objects:
        body = b"%s %d\0%s" % (kind, len(data), data)
        name = hashlib.sha1(body).hexdigest()
        write_file(f"{root}/{name[:2]}/{name[2:]}", zlib.compress(body, 0 if kind == b"tree" else 1))
    for ref in ("timeline", "lane"):
        write_file(f"{root}/{ref}", name.encode(), durable=durable)


def write_file(file: str, data: bytes, *, durable: bool = False) -> None:
    descriptor = os.open(file + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    os.write(descriptor, data)
    if durable:
        os.fsync(descriptor)
    os.close(descriptor)
    os.rename(file + ".new", file)  # noqa: PTH104  the floor is bare system calls


def commit_by_git(repo: Path, path: str, number: int) -> Times:
    (repo / path).write_bytes(b"by git %d\n" % number)
    started = time.perf_counter()
    git(repo, "add", path)
    git(repo, "commit", "-qm", "edit")
    return time.perf_counter() - started, 0.0


def commit_by_plumbing(repo: Path, path: str, number: int) -> Times:
    """Commit with a private index and six processes."""
    index = str(repo / ".git" / "private-index")
    started = time.perf_counter()
    blob = git(repo, "hash-object", "-w", "--stdin", stdin=b"by plumbing %d\n" % number)
    git(repo, "read-tree", "HEAD", GIT_INDEX_FILE=index)
    git(repo, "update-index", "--cacheinfo", f"100644,{blob},{path}", GIT_INDEX_FILE=index)
    tree = git(repo, "write-tree", GIT_INDEX_FILE=index)
    commit = git(repo, "commit-tree", "-p", "HEAD", "-m", "edit", tree)
    git(repo, "update-ref", "refs/heads/plumbing", commit)
    return time.perf_counter() - started, 0.0


def measure_long_history(folder: Path) -> None:
    """Measure git commands, the log and the disk use after 10,000 actions."""
    paths = [f"d{i // 50}/f{i}.txt" for i in range(1_000)]
    repo = make_repository(folder / "repo", paths)
    fresh = folder / "fresh"
    git(folder, "clone", "-q", "--no-local", str(repo), str(fresh))
    with Recorder.open(repo) as recorder:
        recorder.start()
        started = time.perf_counter()
        for number in range(LONG_HISTORY):
            file = repo / paths[(number * 7919) % len(paths)]
            file.write_bytes(file.read_bytes().replace(b"line 5 ", b"line 5 x", 1))
            recorder.record_named_paths([action(f"t{number}", file, message=None)])
            if number % 500 == 0:
                pack_if_due(recorder.workspace.repository.git, recorder.workspace.store)
        print(f"{LONG_HISTORY:,} actions in {time.perf_counter() - started:.0f} s, packing included")
        pack(recorder.workspace.repository.git, recorder.workspace.store, young_seconds=0)
    shutil.copytree(repo, fresh, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    for words in (["status"], ["log", "-20"], ["commit", "--allow-empty", "-qm", "x"]):
        pair = [interleaved(repo, fresh, words) for _ in range(20)]
        ratio = statistics.median(a for a, _ in pair) / statistics.median(b for _, b in pair)
        print(f"  git {words[0]}: {ratio:.2f} times a fresh clone")
    measure_log(repo)
    own, packed = disk_use(repo / ".git" / "chorus"), packed_size(repo, folder / "packed")
    print(f"  disk: {own / 2**20:.1f} MB, {own / packed:.1f} times the packed history")


def measure_log(repo: Path) -> None:
    with Recorder.open(repo) as recorder:
        seconds, used = timed(recorder.entries)
        count = len(recorder.entries())
        again, _ = timed(recorder.entries)
    own = f"{used * 1e3:.0f} ms of it in this process"
    print(f"  log of {count:,} entries: {seconds * 1e3:.0f} ms at first, {own}; again {again * 1e3:.0f} ms")


def interleaved(repo: Path, fresh: Path, words: list[str]) -> tuple[float, float]:
    return timed(git, repo, *words)[0], timed(git, fresh, *words)[0]


def disk_use(root: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in root.rglob("*") if file.is_file())


def packed_size(repo: Path, target: Path) -> int:
    """Disk use of timeline and lanes in a clone packed by `git gc`."""
    git(repo, "clone", "-q", "--bare", "--no-local", str(repo), str(target))
    git(target, "fetch", "-q", str(repo), "refs/chorus/*:refs/chorus/*", "refs/heads/*:refs/heads/*")
    git(target, "gc", "-q")
    return disk_use(target)


def make_repository(repo: Path, paths: list[str]) -> Path:
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    for number, path in enumerate(paths):
        file = repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(b"line %d of file %d\n" % (i, number) for i in range(40)))
    git(repo, "config", "gc.auto", "0")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "start")
    git(repo, "gc", "-q")
    return repo


def git(folder: Path, *words: str, stdin: bytes = b"", **variables: str) -> str:
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    environment = os.environ | dict.fromkeys(names, "bench") | variables
    done = subprocess.run(
        ["git", *words], cwd=folder, input=stdin, capture_output=True, check=True, env=environment
    )
    return done.stdout.decode().strip()


def timed(run: Callable[..., object], *arguments: Any, **options: Any) -> Times:
    started, used = time.perf_counter(), time.process_time()
    run(*arguments, **options)
    return time.perf_counter() - started, time.process_time() - used


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a temporary directory, below `CHORUS_BENCH_DIR` if that is set."""
    folder = Path(tempfile.mkdtemp(prefix="chorus-bench-", dir=os.environ.get("CHORUS_BENCH_DIR")))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
