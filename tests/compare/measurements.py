"""Measure each contender: time, disk, separately recorded actions, the user's own work, revert cases."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.compare.contenders import Contender
from tests.compare.edits import GIT_CONFIG, make_repository, plan_calls
from tests.compare.revert_cases import REVERT_CASES, RevertCase
from tests.compare.session import Sandbox, SessionFailed, client_command, disk_used, run_session

SLOW_EDITS = 20
SLOW_SECONDS = 1.0
SLOW_FILES = 100


@dataclass(slots=True)
class Row:
    name: str
    version: str = ""
    edits: int = 0
    missing: str | None = None  # why there are no results
    added_ms: dict[int, float] = field(default_factory=dict)  # by the repository's size
    added_bytes: dict[int, int] = field(default_factory=dict)
    recorded: int | None = None
    recorded_slowly: int | None = None
    branch_untouched: bool = True
    work_untouched: bool = True
    revert_results: dict[str, str] = field(default_factory=dict)  # name -> "right", "refused", "wrong"


def measure_cost(contender: Contender, row: Row, sizes: list[int], edits: int) -> None:
    """Measure time and disk. Nothing else may run meanwhile."""
    row.edits = min(edits, contender.edits or edits)
    for size in sizes:
        baseline, baseline_bytes = _cost_of_edits(Contender(), size, row.edits)
        seconds, added = _cost_of_edits(contender, size, row.edits, row)
        if contender.is_timed:
            row.added_ms[size] = (seconds - baseline) * 1000 / row.edits
        row.added_bytes[size] = added - baseline_bytes


def check_correctness(contender: Contender, row: Row) -> None:
    """Count what is recorded at a realistic pace and run the revert cases. Contenders may run at once."""
    if contender.can_revert:
        _run_slowly(contender, row)
        row.revert_results = {case.name: _check_case(contender, case) for case in REVERT_CASES}


def _cost_of_edits(contender: Contender, size: int, count: int, row: Row | None = None) -> tuple[float, int]:
    """Seconds for the edits, without those of an empty session, and the bytes on disk afterwards."""
    # The first run also loads programs into memory.
    empty = min(_session(contender, size, 0)[0] for _ in range(2))
    seconds, added = _session(contender, size, count, row)
    return seconds - empty, added


def _session(contender: Contender, size: int, count: int, row: Row | None = None) -> tuple[float, int]:
    """Run a session in a repository of that size; return its seconds and the bytes on disk afterwards."""
    with _make_sandbox() as sandbox:
        make_repository(sandbox.project, sandbox.home, files=size)
        _write_user_work(sandbox)
        before = _branch_state(sandbox)
        with _attached(contender, sandbox):
            command = client_command(sandbox, plan_calls(count), contender.settings(sandbox))
            seconds = run_session(sandbox, contender.wrap(sandbox, command))
            if row is not None:
                row.recorded = contender.count_recorded(sandbox)
                row.branch_untouched = row.branch_untouched and _branch_state(sandbox) == before
                row.work_untouched = row.work_untouched and _is_user_work_unchanged(sandbox)
            return seconds, disk_used(sandbox.project, sandbox.home)


def _run_slowly(contender: Contender, row: Row) -> None:
    """Run a session with a second between two edits, as with a real model."""
    with _make_sandbox() as sandbox:
        make_repository(sandbox.project, sandbox.home, files=SLOW_FILES)
        with _attached(contender, sandbox):
            calls = plan_calls(SLOW_EDITS)
            command = client_command(sandbox, calls, contender.settings(sandbox), pause_seconds=SLOW_SECONDS)
            run_session(sandbox, contender.wrap(sandbox, command))
            row.recorded_slowly = contender.count_recorded(sandbox)


def _check_case(contender: Contender, case: RevertCase) -> str:
    try:
        return _run_case(contender, case)
    except SessionFailed:
        return "refused"  # it does not let the session start


def _run_case(contender: Contender, case: RevertCase) -> str:
    with _make_sandbox() as sandbox:
        _make_case_repository(sandbox, case)
        call_ids = [f"toolu_case_{number}" for number in range(len(case.calls))]
        calls = [{**call, "id": call_id} for call, call_id in zip(case.calls, call_ids, strict=True)]
        with _attached(contender, sandbox):
            command = client_command(sandbox, calls, contender.settings(sandbox), pause_seconds=SLOW_SECONDS)
            run_session(sandbox, contender.wrap(sandbox, command))
            for name, (old, new) in case.user_edits.items():
                path = sandbox.project / name
                path.write_bytes(path.read_bytes().replace(old, new))
            before = _contents(sandbox, case)
            problem = contender.revert(sandbox, call_ids, case.target)
            after = _contents(sandbox, case)
    if after == case.expected:
        return "right"
    return "refused" if problem is not None and after == before else "wrong"


def _make_case_repository(sandbox: Sandbox, case: RevertCase) -> None:
    sandbox.home.mkdir()
    sandbox.project.mkdir()
    (sandbox.home / ".gitconfig").write_text(GIT_CONFIG)
    for name, content in case.files.items():
        (sandbox.project / name).write_bytes(content)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        sandbox.run("git", *command)
    for name, content in case.untracked.items():
        (sandbox.project / name).write_bytes(content)
    for key, value in case.config.items():
        sandbox.run("git", "config", key, value)


def _contents(sandbox: Sandbox, case: RevertCase) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for name in case.expected:
        path = sandbox.project / name
        found[name] = path.read_bytes() if path.exists() else None
    return found


@contextmanager
def _make_sandbox() -> Iterator[Sandbox]:
    root = Path(tempfile.mkdtemp(prefix="chorus-compare-run-"))
    try:
        yield Sandbox(root / "project", root / "home")
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def _attached(contender: Contender, sandbox: Sandbox) -> Iterator[None]:
    contender.start(sandbox)
    try:
        yield
    finally:
        contender.close(sandbox)


def _write_user_work(sandbox: Sandbox) -> None:
    """Write uncommitted files of the user: one staged, one untracked."""
    (sandbox.project / "staged.txt").write_text("staged\n")
    sandbox.run("git", "add", "staged.txt")
    (sandbox.project / "own.txt").write_text("mine\n")


def _is_user_work_unchanged(sandbox: Sandbox) -> bool:
    status = sandbox.run("git", "status", "--porcelain", "staged.txt", "own.txt").stdout
    return status == "A  staged.txt\n?? own.txt\n"


def _branch_state(sandbox: Sandbox) -> tuple[str, bytes]:
    head = sandbox.run("git", "rev-parse", "HEAD").stdout
    return head, (sandbox.project / ".git" / "index").read_bytes()
