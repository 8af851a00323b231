"""Which modules are mutated, by area, and the tests that try them."""

# By area, below `tests/`: the tests that may run its lines. None of them drives the real client.
ROOMS: dict[str, tuple[str, ...]] = {
    "recording": ("changes", "history", "review", "watcher"),
    "lanes": ("model", "history", "review"),
    "landing": ("review", "history", "commands/test_land.py"),
    "watcher": ("watcher",),
    "policy": ("policy",),
}

# By area, below `chorus/`.
TARGETS: dict[str, tuple[str, ...]] = {
    "recording": (
        "changes/call_windows.py",
        "changes/diff.py",
        "changes/line_history.py",
        "changes/line_merge.py",
        "changes/line_places.py",
        "changes/split.py",
        "history/disk_changes/attribution.py",
        "history/crash_recovery.py",
        "history/journal.py",
        "history/disk_changes/observation.py",
        "history/recorder.py",
        "history/timeline/timeline.py",
        "history/marks/undone.py",
        "review/revert/apply.py",
        "review/revert/plan.py",
    ),
    "lanes": (
        "history/timeline/file_lines.py",
        "history/disk_changes/head_moves.py",
        "history/lanes/lane_change.py",
        "history/lanes/lanes.py",
        "model/lane_name.py",
    ),
    "landing": (
        "review/landing/apply.py",
        "review/landing/fit.py",
        "review/landing/fixup.py",
        "review/landing/merge.py",
        "review/landing/obstacles.py",
        "review/landing/plan.py",
        "review/landing/recovery.py",
        "review/landing/selection.py",
    ),
    "watcher": (
        "watcher/notice_queue.py",
        "watcher/prompts/open_calls.py",
        "watcher/server/server.py",
        "watcher/sources/changed_paths.py",
        "watcher/sources/hook_source.py",
        "watcher/sources/outside_changes.py",
        "watcher/sources/pipeline.py",
        "watcher/tasks.py",
        "watcher/work_trees.py",
    ),
    "policy": (
        "policy/command_verdict.py",
        "policy/literal.py",
        "policy/programs.py",
        "policy/verdict.py",
    ),
}

# Kinds of mutants that change nothing anybody could see: operator and pattern of the line, with the reason.
EQUIVALENT_KINDS: dict[tuple[str, str], str] = {
    ("core/NumberReplacer", r"[A-Z_]+ = [\d_.*/ ]+(#.*)?"): "a limit, whose exact value is a choice",
    ("core/ReplaceTrueWithFalse", r".*strict=True.*"): "the lengths are the same in any case",
    (
        "core/ReplaceBinaryOperator_Mul_Div",
        r"(async )?(def .*[(, ])?\*,.*",
    ): "the star before keyword-only parameters: no call that works is made in another way",
    ("core/ReplaceComparisonOperator_Is_Eq", r".*"): "of what is compared with `is` there is one object each",
    ("core/ReplaceComparisonOperator_IsNot_NotEq", r".*"): "as above",
    ("core/ReplaceComparisonOperator_Eq_Is", r".*\blen\([\w.]+\) == \d\b.*"): (
        "of a small number there is one object"
    ),
    ("core/ReplaceComparisonOperator_NotEq_IsNot", r".*\blen\([\w.]+\) != \d\b.*"): "as above",
}
# Single ones: module, line, operator, with the reason.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("history/disk_changes/attribution.py", "if len(calls) > 1:", "core/ReplaceComparisonOperator_Gt_GtE"): (
        "of one call the likely owner is that call"
    ),
    (
        "changes/line_history.py",
        "parent: int = -1  # the index of the state that it replaced in its place",
        "core/NumberReplacer",
    ): "any negative index means that the place had no line",
    (
        "changes/line_history.py",
        "self.file.go_to(-1, lost)",
        "core/ReplaceUnaryOperator_USub_Invert",
    ): "as above",
    (
        "changes/diff.py",
        "done, step = 0, 64",
        "core/NumberReplacer",
    ): "the length of the first slice compared",
    (
        "history/disk_changes/head_moves.py",
        'old, new, *_ = *head.split(" ", 2), "", ""',
        "core/NumberReplacer",
    ): "what follows the second word is not used",
    (
        "history/timeline/file_lines.py",
        "if known is None or known.start != start or known.first != self._timeline.records[0].oid:",
        "core/ReplaceComparisonOperator_NotEq_IsNot",
    ): "what is not found in the cache is computed again",
    (
        "history/timeline/file_lines.py",
        "if len(self._followed) > MAX_FILES:",
        "core/AddNot",
    ): "as above",
    (
        "review/landing/selection.py",
        'if (not turns or entry.turn in turns) and (not request.kept or entry.status == "kept")',
        "core/ReplaceComparisonOperator_Eq_GtE",
    ): "what is not landed is committed or kept",
    (
        "review/landing/obstacles.py",
        "if count < self._followed or not self._followed:",
        "core/ReplaceComparisonOperator_Lt_LtE",
    ): "the same versions are followed once more",
    (
        "review/landing/obstacles.py",
        "if count < self._followed or not self._followed:",
        "core/ReplaceComparisonOperator_Lt_NotEq",
    ): "as above",
    (
        "watcher/notice_queue.py",
        'return [s.id for s in sessions if s.id in waiting and s.state != "gone" and s.is_live]',
        "core/ReplaceComparisonOperator_NotEq_Gt",
    ): "every other state comes after it in the alphabet",
    (
        "history/lanes/lane_change.py",
        "if ours is None and after is not None:",
        "core/ReplaceAndWithOr",
    ): "nothing is in the way of a file that is there",
    (
        "watcher/work_trees.py",
        "self.was_rewound: Callable[[Path], bool] = lambda path: False",
        "core/ReplaceFalseWithTrue",
    ): "the watcher replaces it at once",
    (
        "watcher/work_trees.py",
        "if tree is not None and stamp is not None:",
        "core/AddNot",
    ): "what is not found in the cache is looked up again",
}
