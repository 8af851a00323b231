"""Which modules are mutated, by area, and which test files try them in a process of its own."""

WATCHER = "tests/watcher/"
RUNNING = tuple(f"{WATCHER}test_{name}.py" for name in ("watcher", "process", "server"))

# By area and module below `chorus/`: tests that are tried after those that run the very line.
TARGETS: dict[str, dict[str, tuple[str, ...]]] = {
    "recording": {
        "changes/call_windows.py": (),
        "changes/diff.py": (),
        "changes/line_history.py": (),
        "changes/line_merge.py": (),
        "changes/line_places.py": (),
        "changes/split.py": (),
        "history/attribution.py": (),
        "history/crash_recovery.py": ("tests/history/test_crash.py",),
        "history/journal.py": (),
        "history/observation.py": (),
        "history/recorder.py": (),
        "history/timeline.py": (),
        "history/undone.py": (),
        "review/revert/apply.py": (),
        "review/revert/plan.py": (),
    },
    "lanes": {
        "history/file_lines.py": (),
        "history/head_moves.py": (),
        "history/lane_change.py": (),
        "history/lanes.py": (),
        "model/lane_name.py": (),
    },
    "landing": {
        "review/landing/apply.py": (),
        "review/landing/fit.py": (),
        "review/landing/fixup.py": (),
        "review/landing/merge.py": (),
        "review/landing/obstacles.py": (),
        "review/landing/plan.py": (),
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
