import pytest

from chorus.changes.call_windows import (
    CallWindows,
    RecordCallWindow,
    RecordNamedPaths,
    RecordOutsideAt,
    RecordOutsideEverywhere,
    RecordUnchanged,
)
from chorus.model.action import Action, Call, Status, WriteScope
from chorus.model.ids import SessionId, ToolUseId, TurnId
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    CallOpened,
    CallStarted,
    LeadTextAdded,
    Outcome,
    OwnerCorrected,
    PromptClosed,
    PromptOpened,
    RateLimited,
    SessionDiscovered,
    SessionEnded,
    SessionLinked,
    StatusCorrected,
    TurnEnded,
    TurnStarted,
)

S = SessionId("s")


def call(identity: str, tool: str = "Edit", paths: tuple[str, ...] = ("/p/a",)) -> Call:
    write_scope = {"Edit": WriteScope.NAMED, "Read": WriteScope.NOTHING}.get(tool, WriteScope.ANYWHERE)
    return Call(
        ToolUseId(identity),
        tool,
        {},
        paths if write_scope is WriteScope.NAMED else (),
        write_scope,
        session=S,
    )


def closed(of: Call, status: Status = "succeeded", **input_: object) -> Action:
    return Action(
        of.id,
        of.tool,
        input_,
        status,
        of.session,
        None,
        None,
        of.paths,
        of.write_scope,
        None,
        None,
        None,
        None,
    )


def test_the_named_paths_of_an_edit_are_recorded_before_and_after() -> None:
    windows, edit = CallWindows(), call("e")
    assert windows.feed(CallOpened(edit)) == [RecordOutsideAt(("/p/a",))]
    assert windows.open_paths == {"/p/a"}
    assert not windows.open
    assert windows.feed(ActionClosed(closed(edit))) == [RecordNamedPaths(closed(edit))]
    assert windows.open_paths == frozenset()


def test_a_path_that_another_open_edit_names_is_not_recorded_before() -> None:
    """It may hold that edit by now, which is reported a moment later."""
    windows, first, second = CallWindows(), call("1"), call("2", paths=("/p/a", "/p/b"))
    windows.feed(CallOpened(first))
    assert windows.feed(CallOpened(second)) == [RecordOutsideAt(("/p/b",))]
    assert windows.feed(CallOpened(call("3"))) == []


@pytest.mark.parametrize("status", ["failed", "denied"])
def test_an_edit_that_failed_or_was_denied_is_only_marked(status: Status) -> None:
    windows, edit = CallWindows(), call("e")
    windows.feed(CallOpened(edit))
    assert windows.feed(ActionClosed(closed(edit, status))) == [RecordUnchanged(closed(edit, status))]


def test_an_edit_cut_off_by_a_kill_may_have_been_written() -> None:
    windows, edit = CallWindows(), call("e")
    windows.feed(CallOpened(edit))
    cut = closed(edit, "unfinished")
    assert windows.feed(ActionClosed(cut)) == [RecordNamedPaths(cut)]


def test_bash_records_outside_changes_first_and_owns_what_changes_until_it_ends() -> None:
    windows, bash = CallWindows(), call("b", "Bash")
    assert windows.feed(CallOpened(bash)) == [RecordOutsideEverywhere(frozenset())]
    assert windows.open
    assert windows.feed(ActionClosed(closed(bash))) == [RecordCallWindow(closed(bash), False)]
    assert not windows.open


def test_a_failed_command_may_have_changed_files_but_a_denied_one_has_not() -> None:
    windows, bash = CallWindows(), call("b", "Bash")
    failed, denied = closed(bash, "failed"), closed(bash, "denied")
    windows.feed(CallOpened(bash))
    assert windows.feed(ActionClosed(failed)) == [RecordCallWindow(failed, False)]
    windows.feed(CallOpened(bash))
    assert windows.feed(ActionClosed(denied)) == [RecordUnchanged(denied)]
    assert not windows.open


def test_a_second_window_does_not_record_the_firsts_changes_as_outside() -> None:
    windows, one, two = CallWindows(), call("1", "Bash"), call("2", "mcp__x__y")
    windows.feed(CallOpened(one))
    assert windows.feed(CallOpened(two)) == []
    assert windows.feed(ActionClosed(closed(one))) == [RecordCallWindow(closed(one), True)]
    assert windows.feed(ActionClosed(closed(two))) == [RecordCallWindow(closed(two), False)]


def test_the_path_of_an_open_edit_is_excluded_from_outside_changes() -> None:
    windows, edit, bash = CallWindows(), call("e"), call("b", "Bash")
    windows.feed(CallOpened(edit))
    assert windows.feed(CallOpened(bash)) == [RecordOutsideEverywhere(frozenset({"/p/a"}))]
    assert windows.feed(ActionClosed(closed(bash))) == [RecordCallWindow(closed(bash), False)]


def test_a_background_command_keeps_its_window_until_its_task_ends() -> None:
    windows, bash = CallWindows(), call("b", "Bash")
    windows.feed(CallOpened(bash))
    action = closed(bash, run_in_background=True)
    moved, ended = "2026-01-02T03:04:05Z", "2026-01-02T03:04:09Z"
    assert windows.feed(ActionClosed(action, moved)) == [RecordCallWindow(action, False, moved)]
    assert windows.open
    later = action._replace(id=ToolUseId("b-background"))
    assert windows.feed(BackgroundTaskEnded(S, bash.id, "task", ended)) == [
        RecordCallWindow(later, False, ended, moved)
    ]
    assert windows.feed(BackgroundTaskEnded(S, bash.id, "task")) == []
    assert not windows.open


def test_a_background_command_ends_with_its_session_at_the_latest() -> None:
    windows, bash = CallWindows(), call("b", "Bash")
    windows.feed(CallOpened(bash))
    windows.feed(ActionClosed(closed(bash, run_in_background=True)))
    assert windows.feed(SessionEnded(SessionId("other"), None)) == []
    assert len(windows.feed(SessionEnded(S, None))) == 1
    assert not windows.open


def test_a_command_the_client_moves_to_the_background_keeps_its_window_too() -> None:
    windows, bash = CallWindows(), call("b", "Bash")
    windows.feed(CallOpened(bash))
    windows.feed(ActionClosed(closed(bash)._replace(background=True)))
    assert windows.open
    (effect,) = windows.feed(BackgroundTaskEnded(S, bash.id, "task"))
    assert isinstance(effect, RecordCallWindow)
    assert not windows.open


@pytest.mark.parametrize("tool", ["Read", "Agent", "Task"])
def test_tools_that_write_nothing_themselves_leave_no_trace(tool: str) -> None:
    windows, one = CallWindows(), call("r", tool)
    assert windows.feed(CallOpened(one)) == []
    assert not windows.open
    assert windows.feed(ActionClosed(closed(one))) == []


@pytest.mark.parametrize(
    "outcome",
    [
        BackgroundTaskEnded(S, None, "task"),
        SessionDiscovered(S, None),
        SessionLinked(S, S, "resume"),
        TurnStarted(S, TurnId("t"), None),
        TurnEnded(S, None),
        StatusCorrected(ToolUseId("x"), "denied", "failed"),
        LeadTextAdded(ToolUseId("x"), "I rename it."),
        OwnerCorrected(ToolUseId("x"), S, None, None),
        PromptOpened(S, None, None, {}, None, None, None, ()),
        PromptClosed(S, None, None, "allow"),
    ],
)
def test_outcomes_that_change_no_file_have_no_effect(outcome: Outcome) -> None:
    assert CallWindows().feed(outcome) == []


def test_a_call_counts_from_when_it_may_run() -> None:
    """The client shows all calls of a message before it runs the first."""
    windows, bash, edit = CallWindows(), call("b", "Bash"), call("e")
    windows.feed(CallOpened(bash))
    assert windows.feed(CallOpened(edit, running=False)) == []
    assert windows.open_paths == frozenset()
    windows.feed(ActionClosed(closed(bash)))
    assert windows.feed(CallStarted(edit)) == [RecordOutsideAt(("/p/a",))]
    assert windows.open_paths == {"/p/a"}


def test_what_differs_while_a_command_runs_is_not_recorded_as_outside_before_an_edit() -> None:
    windows = CallWindows()
    windows.feed(CallOpened(call("b", "Bash")))
    assert windows.feed(CallOpened(call("e"))) == []
    assert windows.open_paths == {"/p/a"}


def test_what_a_session_says_of_itself_opens_and_closes_nothing() -> None:
    assert CallWindows().feed(RateLimited(SessionId("s"), "rejected", None)) == []


def test_the_only_open_window_is_known() -> None:
    windows, one, two = CallWindows(), call("1", "Bash"), call("2", "Bash")
    assert windows.only is None
    windows.feed(CallOpened(one))
    assert windows.only == one
    windows.feed(CallOpened(two))
    assert windows.only is None
    windows.feed(ActionClosed(closed(one)))
    assert windows.only == two


def test_beside_a_background_task_no_window_is_the_only_one() -> None:
    windows, task, bash = CallWindows(), call("1", "Bash"), call("2", "Bash")
    windows.feed(CallOpened(task))
    windows.feed(ActionClosed(closed(task, run_in_background=True)))
    windows.feed(CallOpened(bash))
    assert windows.only is None
