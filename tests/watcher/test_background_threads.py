"""Work on threads beside the loop."""

import ast
import asyncio
import threading
from pathlib import Path

import pytest

import chorus.watcher
from chorus.errors import NotFound
from chorus.watcher.background_threads import from_any_thread, run_in_thread
from chorus.watcher.recorder_pool import RecorderPool
from tests.repos import UserRepo


async def test_the_result_or_exception_of_the_work_arrives() -> None:
    assert await run_in_thread(max, 1, 2) == 2
    with pytest.raises(NotFound, match="gone"):
        await run_in_thread(fail)


def fail() -> None:
    raise NotFound("gone")


def test_a_thread_that_never_ends_delays_neither_its_caller_nor_the_end_of_the_loop() -> None:
    never = threading.Event()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await run_in_thread(never.wait)

    asyncio.run(main())  # returns
    never.set()


def test_the_result_of_a_thread_that_ends_after_its_caller_is_dropped() -> None:
    gate, ended = threading.Event(), threading.Event()

    def work() -> None:
        gate.wait()
        ended.set()

    async def main() -> None:
        waiting = asyncio.ensure_future(run_in_thread(work))
        await asyncio.sleep(0)
        waiting.cancel()
        gate.set()
        await asyncio.get_running_loop().run_in_executor(None, ended.wait)
        await asyncio.sleep(0.01)

    asyncio.run(main())


def test_the_watcher_uses_no_threads_that_are_waited_for_at_its_end() -> None:
    """`asyncio.run` waits for those of `to_thread`, whatever they do."""
    (root,) = chorus.watcher.__path__
    for path in Path(root).rglob("*.py"):
        names = {
            node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
        }
        assert not names & {"to_thread", "run_in_executor"}, path


@pytest.fixture
def pool() -> RecorderPool:
    return RecorderPool()


async def test_a_recorder_is_kept_for_the_next_request_and_closed_when_none_comes(
    pool: RecorderPool, repo: UserRepo
) -> None:
    first = await pool.use(repo.path, lambda recorder: recorder)
    assert await pool.use(repo.path, lambda recorder: recorder) is first
    pool.close_unused(seconds=60)
    assert await pool.use(repo.path, lambda recorder: recorder) is first
    pool.close_unused(seconds=0)
    assert await pool.use(repo.path, lambda recorder: recorder) is not first
    pool.close()


async def test_two_at_once_have_a_recorder_each_and_one_is_kept(pool: RecorderPool, repo: UserRepo) -> None:
    with pool.borrow(repo.path) as one, pool.borrow(repo.path) as other:
        assert one is not other
    with pool.borrow(repo.path) as kept:
        assert kept is other
    pool.close()


@pytest.mark.parametrize(("error", "is_kept"), [(NotFound("no"), True), (KeyError("bug"), False)])
def test_after_a_refusal_a_recorder_is_kept_and_after_a_bug_it_is_not(
    pool: RecorderPool, repo: UserRepo, error: Exception, is_kept: bool
) -> None:
    with pytest.raises(type(error)), pool.borrow(repo.path) as first:
        raise error
    with pool.borrow(repo.path) as second:
        assert (second is first) is is_kept
    pool.close()


def test_a_recorder_of_a_work_tree_that_was_replaced_is_not_used(
    pool: RecorderPool, repo: UserRepo, template_repo: Path, tmp_path: Path
) -> None:
    with pool.borrow(repo.path) as first:
        pass
    repo.path.rename(tmp_path / "moved")
    UserRepo.copy(template_repo, repo.path)
    with pool.borrow(repo.path) as second:
        assert second is not first
    pool.close()


def test_a_recorder_returned_after_the_end_is_closed(pool: RecorderPool, repo: UserRepo) -> None:
    with pool.borrow(repo.path) as first:
        pool.close()
    with pool.borrow(repo.path) as second:
        assert second is not first


async def test_a_function_of_the_loop_runs_on_it_whoever_calls_it() -> None:
    def fail() -> None:
        raise ValueError("said no")

    here = from_any_thread(threading.get_ident)
    assert here() == threading.get_ident()
    assert await run_in_thread(here) == threading.get_ident()
    with pytest.raises(ValueError, match="said no"):
        await run_in_thread(from_any_thread(fail))
