"""Hooks as a source: when events are read, what is done with each, and when its client continues."""

import asyncio
import json
import os
import select
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.hook_spool import Spool
from chorus.agents.interface import Source
from chorus.watcher.sources import hook_source
from chorus.watcher.sources.hook_source import NEXT_HOOK_WAITS_SECONDS, HookSource
from chorus.watcher.sources.live_clients import find_client_key

NOBODY = cast(Any, None)


async def test_a_wakeup_is_handled_once(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    hooks = HookSource(NOBODY, NOBODY, spool, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)
    hooks.listen()
    poke = os.open(tmp_path / "spool/poke", os.O_WRONLY | os.O_NONBLOCK)
    os.write(poke, b"\n\n")
    os.close(poke)
    while not hooks._woken.is_set():
        await asyncio.sleep(0)

    readable, _, _ = select.select([spool.fileno()], [], [], 0)
    assert not readable
    hooks.close(asleep=True)


async def test_a_stop_that_comes_together_with_an_event_is_noticed() -> None:
    hooks = HookSource(NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)

    async def exists() -> bool:
        pytest.fail("the loop went on after it was cancelled")

    running = asyncio.create_task(hooks.run(exists, lambda: None))
    await asyncio.sleep(0.01)
    hooks._woken.set()
    running.cancel()

    await asyncio.wait([running])
    assert running.cancelled()


@pytest.mark.parametrize("name", ["PreToolUse", "PostToolUse"])
async def test_only_the_hook_before_a_call_waits_until_its_event_is_fed(tmp_path: Path, name: str) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    event = tmp_path / "spool" / f"{os.getpid()}.1"
    event.write_bytes(b'1\t\t\t\n{"hook_event_name": "%s"}' % name.encode())
    seen: list[tuple[bool, bool]] = []

    async def feed(*_: object, is_waiting: Callable[[], bool], **__: object) -> list[object]:
        seen.append((event.exists(), is_waiting()))
        return []

    ignored = SimpleNamespace(
        **dict.fromkeys(("remember", "reply", "feed_hook", "update"), lambda *_, **__: None)
    )
    nothing = lambda *_: None  # noqa: E731  as short as what it stands for

    async def record_held() -> None:
        pass

    trees = SimpleNamespace(
        all={}, set_more_to_come=nothing, record_held=record_held, publish_changes=nothing
    )
    pipeline = SimpleNamespace(lock=asyncio.Lock(), feed=feed)
    hooks = HookSource(
        AGENT.events, *cast(Any, (ignored, spool, pipeline, trees, NOBODY, ignored, ignored, ignored, NOBODY))
    )
    await hooks.read()
    assert seen == [(name == "PreToolUse", True)]
    assert not event.exists()
    spool.close(asleep=True)


class Noted:
    """All that a hook source works with, in memory: notes what is done, in order."""

    def __init__(self, spool: Spool) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.failures: list[BaseException] = []
        self.is_disk_full = False
        self.sources: tuple[str, ...] = ()
        self.tree = SimpleNamespace(any_held=False)
        self.fails_on: set[str] = set()
        self.waits: list[Callable[[], bool]] = []
        fake = SimpleNamespace
        self.tails = fake(frozen=False)
        pipeline = fake(lock=asyncio.Lock(), feed=self._feed, sources_of=lambda session: self.sources)
        trees = fake(
            all={"/": self.tree},
            set_more_to_come=lambda more: self.done.append(("more", more)),
            record_held=self._record_held,
            publish_changes=lambda: self.done.append(("publish",)),
        )
        self.source = HookSource(
            AGENT.events,
            cast(Any, fake(remember=self._remember)),
            spool,
            cast(Any, pipeline),
            cast(Any, trees),
            cast(Any, fake(tails=self.tails)),
            cast(Any, fake(reply=lambda event: self.done.append(("reply", event.name)))),
            cast(Any, fake(feed_hook=lambda event, outcomes: self.done.append(("requests", outcomes)))),
            cast(Any, fake(update=lambda: None)),
            self._fail,
        )

    def _remember(self, value: Any, source: Source, **where: Any) -> None:
        self.done.append(("remember", source, where))

    async def _feed(
        self, messages: Any, source: Source, *, client: str, is_waiting: Any, reported_at: float
    ) -> list[str]:
        self.waits.append(is_waiting)
        assert abs(reported_at - time.time()) < 60
        (message,) = messages
        self.done.append(("feed", message["session_id"], source, client))
        if message["session_id"] in self.fails_on:
            raise RuntimeError(message["session_id"])
        return ["outcome of " + message["session_id"]]

    async def _record_held(self) -> None:
        self.done.append(("held",))

    def _fail(self, error: BaseException) -> bool:
        self.failures.append(error)
        return self.is_disk_full

    def steps(self, *names: str) -> list[tuple[Any, ...]]:
        return [step for step in self.done if step[0] in names]


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool")
    spool.open()
    yield spool
    spool.close(asleep=True)


def put(spool: Spool, number: int, name: str, session: str, head: str = "\t\t", **more: Any) -> Path:
    event = {"hook_event_name": name, "session_id": session, **more}
    path = spool._directory / f"{os.getpid()}.{number}"
    path.write_bytes(f"1\t{head}\n{json.dumps(event)}".encode())
    return path


def left(spool: Spool) -> list[str]:
    """Names of the events that are in the spool or taken from it."""
    return sorted(path.name for path in spool._directory.rglob(f"{os.getpid()}.*"))


async def test_events_are_fed_in_order_and_held_calls_are_recorded_after_the_last(spool: Spool) -> None:
    noted = Noted(spool)
    put(spool, 1, "PreToolUse", "a")
    put(spool, 2, "PreToolUse", "b")
    await noted.source.read()
    assert noted.steps("more", "feed", "held", "requests", "publish") == [
        ("more", True),
        ("feed", "a", Source.HOOK, ""),
        ("more", False),
        ("requests", ["outcome of a"]),
        ("more", False),
        ("feed", "b", Source.HOOK, ""),
        ("more", False),
        ("held",),
        ("requests", ["outcome of b"]),
        ("publish",),
    ]
    assert len(noted.steps("reply")) == 2
    assert left(spool) == []
    assert noted.source._recorded.is_set()


async def test_an_event_is_kept_until_the_call_it_ends_is_recorded(spool: Spool) -> None:
    noted = Noted(spool)
    noted.tree.any_held = True
    put(spool, 1, "PreToolUse", "a")
    await noted.source.read()
    assert len(left(spool)) == 1
    noted.tree.any_held = False
    await noted.source.read()
    assert left(spool) == []
    assert noted.source._unsettled == []


async def test_an_event_that_cannot_be_processed_is_set_aside_and_the_next_one_is_read(spool: Spool) -> None:
    noted = Noted(spool)
    noted.fails_on = {"a"}
    put(spool, 1, "PreToolUse", "a")
    put(spool, 2, "PreToolUse", "b")
    await noted.source.read()
    assert [str(failure) for failure in noted.failures] == ["a"]
    assert noted.steps("requests") == [("requests", ["outcome of b"])]
    assert noted.steps("more") == [("more", True), ("more", False), ("more", False), ("more", False)]
    assert noted.tails.frozen
    assert [path.parent.name for path in spool._directory.rglob(f"{os.getpid()}.1*")] == ["aside"]


async def test_no_event_is_read_after_one_that_the_disk_does_not_take(spool: Spool) -> None:
    noted = Noted(spool)
    noted.fails_on, noted.is_disk_full = {"a"}, True
    put(spool, 1, "PostToolUse", "a")
    put(spool, 2, "PreToolUse", "b")
    with pytest.raises(RuntimeError, match="a"):
        await noted.source.read()
    assert len(noted.steps("feed")) == 1
    assert not noted.tails.frozen
    assert noted.source._recorded.is_set()


async def test_where_a_session_is_comes_from_its_hook(spool: Spool) -> None:
    noted = Noted(spool)
    put(spool, 1, "PreToolUse", "a", f"{os.getpid()}\t%3\t/sockets/default,12,0")
    await noted.source.read()
    ((_, source, where),) = noted.steps("remember")
    assert source is Source.HOOK
    assert where == {"pane": "%3", "tmux_socket": "/sockets/default", "client": find_client_key(os.getpid())}
    assert noted.steps("feed") == [("feed", "a", Source.HOOK, find_client_key(os.getpid()))]


FORM = {"mcp_server_name": "m", "message": "which?"}


@pytest.mark.parametrize(
    ("name", "sources", "source"),
    [
        ("Elicitation", ("hook", "mod"), Source.MOD),
        ("Elicitation", ("hook",), Source.HOOK),
        ("PreToolUse", ("hook", "mod"), Source.HOOK),
    ],
)
async def test_in_a_session_with_the_mod_hooks_report_forms_for_it(
    spool: Spool, name: str, sources: tuple[str, ...], source: Source
) -> None:
    noted = Noted(spool)
    noted.sources = sources
    put(spool, 1, name, "a", cwd="/", transcript_path="/t.jsonl", **FORM)
    await noted.source.read()
    assert [step[2] for step in noted.steps("feed")] == [source]


async def test_a_hook_after_a_call_does_not_wait_and_its_files_stay_for_as_long_as_the_next_one_does(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = Noted(spool)
    path = put(spool, 1, "PostToolUse", "a")
    written = path.stat().st_mtime_ns / 1e9
    await noted.source.read()
    assert len(noted.steps("reply")) == 2  # before it is fed, and after
    (waits,) = noted.waits
    answers = []
    for later in (-1.0, 0.0, 0.1, NEXT_HOOK_WAITS_SECONDS + 0.01, 10.0):
        now = SimpleNamespace(time=lambda at=written + later: at)
        monkeypatch.setattr(hook_source, "time", now)
        answers.append(waits())
    assert answers == [False, True, True, False, False]


async def test_a_request_waits_until_the_event_of_a_released_hook_is_recorded(spool: Spool) -> None:
    noted = Noted(spool)
    put(spool, 1, "PostToolUse", "a")
    async with noted.source.pipeline.lock:
        reading = asyncio.create_task(noted.source.read())
        while noted.source._recorded.is_set():
            await asyncio.sleep(0)
        await noted.source.wait_until_recorded(0.0)  # not longer than it is told to
        assert noted.steps("feed") == []
        waiting = asyncio.create_task(noted.source.wait_until_recorded(60.0))
        await asyncio.sleep(0.01)
        assert not waiting.done()
    await waiting
    assert len(noted.steps("feed")) == 1
    await reading
    async with asyncio.timeout(30):
        await noted.source.wait_until_recorded(60.0)  # nothing to wait for


async def test_a_lost_wakeup_delays_an_event_a_little_and_the_end_of_the_repository_stops_the_watcher(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_source, "POLL_SECONDS", 0.0)
    noted = Noted(spool)
    put(spool, 1, "PreToolUse", "a")
    lives = iter([True, True, False])
    stopped: list[int] = []

    async def exists() -> bool:
        return next(lives)

    async with asyncio.timeout(30):
        await noted.source.run(exists, lambda: stopped.append(len(noted.done)))
    assert len(noted.steps("feed")) == 1
    assert len(stopped) == 1


async def test_a_wakeup_is_used_up_by_the_reading_it_starts(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_source, "POLL_SECONDS", 600.0)
    noted = Noted(spool)
    asked: list[bool] = []

    async def exists() -> bool:
        asked.append(noted.source._woken.is_set())
        return True

    running = asyncio.create_task(noted.source.run(exists, lambda: None))
    await asyncio.sleep(0.01)
    assert asked == []
    noted.source._woken.set()
    await asyncio.sleep(0.02)
    assert asked == [False]
    running.cancel()
    await asyncio.wait([running])


async def test_a_spool_that_was_removed_is_recreated_and_listened_to(spool: Spool) -> None:
    noted = Noted(spool)
    noted.source.listen()
    noted.source._repair_spool()
    before = (spool._directory / "poke").stat().st_ino
    noted.source._repair_spool()
    assert (spool._directory / "poke").stat().st_ino == before  # an intact one is left alone
    shutil.rmtree(spool._directory)
    noted.source._repair_spool()
    poke = os.open(spool._directory / "poke", os.O_WRONLY | os.O_NONBLOCK)
    os.write(poke, b"\n")
    os.close(poke)
    async with asyncio.timeout(30):
        await noted.source._woken.wait()
    asyncio.get_running_loop().remove_reader(spool.fileno())


async def test_two_readings_at_once_feed_each_event_once(spool: Spool) -> None:
    noted = Noted(spool)
    put(spool, 1, "PreToolUse", "a")
    await asyncio.gather(noted.source.read(), noted.source.read())
    assert len(noted.steps("feed")) == 1
