"""Which modules are mutated, by area, and which test files try them in a process of its own."""

RUNNING = tuple(f"tests/watcher/{name}.py" for name in ("test_watcher", "test_process", "server/test_server"))

# By area: the tests that may run its lines. None of them drives the real client.
ROOMS: dict[str, tuple[str, ...]] = {
    "recording": ("changes", "history", "review"),
    "lanes": ("model", "history", "review"),
    "landing": ("review",),
    "watcher": ("watcher",),
    "policy": ("policy",),
}

# By area and module below `chorus/`: tests that are tried after those that run the very line.
TARGETS: dict[str, dict[str, tuple[str, ...]]] = {
    "recording": {
        "changes/call_windows.py": (),
        "changes/diff.py": (),
        "changes/line_history.py": (),
        "changes/line_merge.py": (),
        "changes/line_places.py": (),
        "changes/split.py": (),
        "history/disk_changes/attribution.py": (),
        "history/crash_recovery.py": ("tests/history/test_crash.py",),
        "history/journal.py": (),
        "history/disk_changes/observation.py": (),
        "history/recorder.py": (),
        "history/timeline/timeline.py": (),
        "history/marks/undone.py": (),
        "review/revert/apply.py": (),
        "review/revert/plan.py": (),
    },
    "lanes": {
        "history/timeline/file_lines.py": (),
        "history/disk_changes/head_moves.py": (),
        "history/lanes/lane_change.py": (),
        "history/lanes/lanes.py": (),
        "model/lane_name.py": (),
    },
    "landing": {
        "review/landing/apply.py": (),
        "review/landing/fit.py": (),
        "review/landing/fixup.py": (),
        "review/landing/merge.py": (),
        "review/landing/obstacles.py": (),
        "review/landing/plan.py": ("tests/commands/test_land.py",),
        "review/landing/recovery.py": (),
        "review/landing/selection.py": (),
    },
    "watcher": {
        "watcher/notice_queue.py": (),
        "watcher/prompts/open_calls.py": (),
        "watcher/server/server.py": RUNNING,
        "watcher/sources/changed_paths.py": (),
        "watcher/sources/hook_source.py": RUNNING,
        "watcher/sources/outside_changes.py": RUNNING,
        "watcher/sources/pipeline.py": RUNNING,
        "watcher/tasks.py": (),
        "watcher/work_trees.py": RUNNING,
    },
    "policy": {
        "policy/command_verdict.py": (),
        "policy/literal.py": (),
        "policy/programs.py": (),
        "policy/verdict.py": (),
    },
}

# Mutants that change nothing anybody could see: module, line, operator, with the reason.
EQUIVALENT: dict[tuple[str, str, str], str] = {}
