"""Which modules are mutated, and which few quick test files must notice."""

HISTORY = "tests/history/"
REVIEW = "tests/review/"
WATCHER = "tests/watcher/"
POLICY = tuple(
    f"tests/policy/test_{name}.py"
    for name in ("policy", "policy_rules", "policy_shell", "literal", "programs")
)
LANDING = tuple(f"{REVIEW}test_{name}.py" for name in ("landing_fits", "landing", "landed_status"))
RECORDING = tuple(f"{HISTORY}test_{name}.py" for name in ("recorder", "touching_lines", "undone"))
STATES = (f"{HISTORY}test_file_kinds.py", f"{HISTORY}test_git_states.py")
WORK_TREES = tuple(f"{WATCHER}test_{name}.py" for name in ("work_tree", "work_tree_windows", "work_trees"))
RUNNING = tuple(f"{WATCHER}test_{name}.py" for name in ("watcher", "process", "server"))

# By area and module below `chorus/`; test files in the order in which they are tried.
TARGETS: dict[str, dict[str, tuple[str, ...]]] = {
    "recording": {
        "changes/call_windows.py": ("tests/changes/test_call_windows.py",),
        "changes/diff.py": ("tests/changes/test_diff.py", "tests/changes/test_line_merge.py"),
        "changes/line_history.py": ("tests/changes/test_line_history.py",),
        "changes/line_merge.py": ("tests/changes/test_line_merge.py",),
        "changes/line_places.py": ("tests/changes/test_line_places.py", "tests/changes/test_line_merge.py"),
        "changes/split.py": ("tests/changes/test_split.py", "tests/changes/test_split_windows.py"),
        "history/attribution.py": (*RECORDING, f"{HISTORY}test_state_machine.py"),
        "history/crash_recovery.py": (f"{HISTORY}test_crash.py", *RECORDING),
        "history/journal.py": (*RECORDING, f"{HISTORY}test_git_states.py"),
        "history/observation.py": (
            *RECORDING,
            f"{HISTORY}test_file_kinds.py",
            f"{HISTORY}test_git_states.py",
        ),
        "history/recorder.py": (*RECORDING, f"{HISTORY}test_file_kinds.py"),
        "history/timeline.py": (*RECORDING, f"{HISTORY}test_concurrency.py"),
        "history/undone.py": (f"{HISTORY}test_undone.py",),
        "review/revert/apply.py": (f"{REVIEW}test_revert.py", f"{REVIEW}test_file_writes.py"),
        "review/revert/plan.py": (f"{REVIEW}test_revert.py", f"{REVIEW}test_many_dependents.py"),
    },
    "lanes": {
        "history/file_lines.py": (f"{HISTORY}test_file_lines.py", f"{HISTORY}test_touching_lines.py"),
        "history/head_moves.py": (f"{HISTORY}test_git_states.py", f"{HISTORY}test_recorder.py"),
        "history/lane_change.py": (f"{HISTORY}test_touching_lines.py", f"{HISTORY}test_file_kinds.py"),
        "history/lanes.py": (f"{HISTORY}test_recorder.py", f"{HISTORY}test_git_states.py"),
        "model/lane_name.py": ("tests/model",),
    },
    "landing": {
        "review/landing/apply.py": LANDING,
        "review/landing/fit.py": LANDING,
        "review/landing/fixup.py": (f"{REVIEW}test_fixup.py",),
        "review/landing/merge.py": LANDING,
        "review/landing/obstacles.py": LANDING,
        "review/landing/plan.py": LANDING,
        "review/landing/recovery.py": LANDING,
        "review/landing/selection.py": (*LANDING, f"{REVIEW}test_selection.py"),
    },
    "watcher": {
        "watcher/notice_queue.py": (f"{WATCHER}test_notice_queue.py",),
        "watcher/prompts/open_calls.py": (f"{WATCHER}test_open_calls.py",),
        "watcher/server/server.py": (f"{WATCHER}test_server.py",),
        "watcher/sources/changed_paths.py": (f"{WATCHER}test_changed_paths.py",),
        "watcher/sources/hook_source.py": (f"{WATCHER}test_hook_source.py", *RUNNING),
        "watcher/sources/outside_changes.py": (f"{WATCHER}test_outside_changes.py", *WORK_TREES),
        "watcher/sources/pipeline.py": (*WORK_TREES, *RUNNING),
        "watcher/tasks.py": (f"{WATCHER}test_tasks.py",),
        "watcher/work_trees.py": (*WORK_TREES, *RUNNING),
    },
    "policy": {
        "policy/command_verdict.py": POLICY,
        "policy/literal.py": POLICY,
        "policy/programs.py": POLICY,
        "policy/verdict.py": POLICY,
    },
}
