"""The live inbox follows every watcher, and an answer reaches the one repository it is meant for."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chorus.errors import ChorusError
from chorus.inbox import live_repository
from chorus.inbox.live_inbox import LiveInbox
from chorus.wire.protocol import encode
from chorus.wire.registry import registry_directory
from tests.inbox.conftest import OddWatcher, registered_home
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import entry, prompt, session
from tests.waiting import DEADLINE_SECONDS

Scripted = Callable[[str], ScriptedWatcher]


class Followed:
    def __init__(self) -> None:
        self.inbox = LiveInbox(lambda: None)

    def __getitem__(self, name: str) -> dict[str, Any]:
        found: list[Any] = [one for one in self.inbox.repositories().values() if one["name"] == name]
        return found[0] if found else {}

    def key(self, name: str) -> str:
        return next(key for key, one in self.inbox.repositories().items() if one["name"] == name)

    async def until(self, holds: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"{what}: {self.inbox.repositories()}"
            await asyncio.sleep(0.005)


@pytest.fixture
async def followed(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Followed]:
    monkeypatch.setattr("chorus.inbox.live_inbox.LOOK_SECONDS", 0.02)
    monkeypatch.setattr(live_repository, "RETRY_SECONDS", 0.02)
    followed = Followed()
    running = asyncio.create_task(followed.inbox.run())
    yield followed
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_prompts_sessions_and_open_actions_are_followed(scripted: Scripted, followed: Followed) -> None:
    shop = scripted("shop")
    shop.prompts["p1"] = prompt("p1")
    shop.sessions["s1"] = session("s1", state="working")
    shop.entries = {1: entry(1), 2: entry(2, status="kept")}
    # Prompts are shown first, while the rest is still being asked for.
    await followed.until(lambda: followed["shop"].get("actions"), "the actions")
    assert [one["id"] for one in followed["shop"]["prompts"]] == ["p1"]
    assert [one["n"] for one in followed["shop"]["actions"]] == [1]

    shop.add_prompt(prompt("p2", session="s1"))
    await followed.until(lambda: len(followed["shop"]["prompts"]) == 2, "the second prompt")
    assert [one["state"] for one in followed["shop"]["sessions"]] == ["waiting"]
    shop.withdraw("p1")
    await followed.until(lambda: [one["id"] for one in followed["shop"]["prompts"]] == ["p2"], "one less")
    shop.add_action(entry(3))
    await followed.until(lambda: followed["shop"]["open"] == 2, "the new action")
    shop.sessions["s1"]["state"] = "gone"
    shop.publish("session", session=shop.sessions["s1"])
    await followed.until(lambda: followed["shop"]["sessions"] == [], "the session's end")


async def test_events_that_come_together_with_an_answer_are_newer_than_it(
    odd_watcher: Callable[..., OddWatcher], followed: Followed
) -> None:
    old = {"prompts": [prompt("p1")], "status": {"sessions": [session("s2", state="working")]}, "log": []}
    new: dict[str, list[dict[str, Any]]] = {
        "prompts": [{"event": "prompt", "prompt": prompt("p2")}, {"event": "prompt-gone", "id": "p1"}],
        "status": [{"event": "session", "session": session("s2", state="idle")}],
    }

    asked: list[str] = []

    def reply(request: dict[str, Any]) -> bytes:
        asked.append(request["do"])
        answer = {"id": request["id"], "answer": old.get(request["do"], {})}
        return b"".join(encode(message) for message in (answer, *new.get(request["do"], [])))

    odd_watcher("shop", reply)
    await followed.until(lambda: "log" in asked, "the request after the last of these answers")
    assert [one["id"] for one in followed["shop"]["prompts"]] == ["p2"]
    assert [one["state"] for one in followed["shop"]["sessions"]] == ["idle"]


async def test_an_answer_goes_to_the_repository_it_names(scripted: Scripted, followed: Followed) -> None:
    both = [scripted("one"), scripted("two")]
    for watcher in both:
        watcher.prompts["p1"] = prompt("p1")  # the same id: watchers number their own
    await followed.until(lambda: all(followed[name].get("prompts") for name in ("one", "two")), "both")
    fingerprint = followed["two"]["prompts"][0]["fingerprint"]

    arguments = {"prompt": "p1", "fingerprint": fingerprint, "decision": "allow", "by": "inbox"}
    await followed.inbox.request(followed.key("two"), "answer", arguments)

    await followed.until(lambda: followed["two"]["prompts"] == [], "the answer")
    assert followed["one"]["prompts"]
    assert [len(watcher.requests_for("answer")) for watcher in both] == [0, 1]
    with pytest.raises(ChorusError, match="not the one"):
        await followed.inbox.request(followed.key("two"), "answer", arguments)


async def test_a_watcher_whose_prompts_are_shown_is_not_called_stopped(
    scripted: Scripted, followed: Followed
) -> None:
    shop = scripted("shop")
    shop.delay_seconds["status"] = 0.2
    shop.prompts["p1"] = prompt("p1")
    await followed.until(lambda: followed["shop"].get("prompts"), "the prompt")
    assert followed["shop"]["state"] == "watched"


async def test_a_watcher_may_end_and_return_and_a_repository_come_and_go(
    scripted: Scripted, followed: Followed, tmp_path: Path
) -> None:
    shop = scripted("shop")
    shop.prompts["p1"] = prompt("p1")
    await followed.until(lambda: followed["shop"].get("prompts"), "the prompt")
    await followed.until(lambda: followed["shop"].get("state") == "watched", "the rest")
    shop.stop()
    await followed.until(lambda: followed["shop"].get("state") == "stopped", "the end")
    assert followed["shop"]["prompts"] == []
    with pytest.raises(ChorusError, match="no watcher"):
        await followed.inbox.request(followed.key("shop"), "prompts", {})
    shop.start()
    await followed.until(lambda: followed["shop"].get("prompts"), "its return")

    registered_home(tmp_path / "late")
    await followed.until(lambda: followed["late"], "a new repository")
    key = followed.key("late")
    shutil.rmtree(tmp_path / "late")
    await followed.until(lambda: not followed["late"], "its removal")
    with pytest.raises(ChorusError, match="no longer exists"):
        await followed.inbox.request(key, "prompts", {})


async def test_hung_and_newer_watchers_are_named_and_delay_nobody(
    scripted: Scripted,
    odd_watcher: Callable[..., OddWatcher],
    followed: Followed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_repository, "ANSWER_SECONDS", 0.1)
    odd_watcher("hung")
    odd_watcher("newer", lambda request: b'{"v": 2}\n')
    odd_watcher("garbage", lambda request: b"\xff\xfe\n")
    odd_watcher(
        "older",
        lambda request: encode({"id": request["id"], "answer": 1 if request["do"] == "status" else [3, {}]}),
    )
    scripted("shop")
    await followed.until(lambda: followed["shop"].get("state") == "watched", "the watcher that works")
    await followed.until(lambda: followed["hung"].get("state") == "unresponsive", "the hung one")
    await followed.until(lambda: "version 1" in str(followed["newer"].get("problem")), "the newer one")
    assert "Run `chorus stop`" in str(followed["newer"].get("problem"))
    await followed.until(lambda: followed["older"].get("state") == "watched", "the older one")
    await followed.until(lambda: "JSON" in str(followed["garbage"].get("problem")), "the third")
    assert (followed["older"]["prompts"], followed["older"]["actions"]) == ([], [])


async def test_a_registry_that_others_can_write_is_reported(followed: Followed, tmp_path: Path) -> None:
    home = registered_home(tmp_path / "shop")
    await followed.until(lambda: followed["shop"], "the repository")
    registry_directory().chmod(0o777)
    await followed.until(lambda: not followed["shop"], "nothing is shown")
    assert followed.inbox.problem is not None
    assert "another user" in followed.inbox.problem
    assert home.root.exists()


async def test_a_registry_that_others_can_write_is_announced_even_if_nothing_was_shown(
    tmp_path: Path,
) -> None:
    registered_home(tmp_path / "shop")
    registry_directory().chmod(0o777)
    announced = asyncio.Event()
    inbox = LiveInbox(announced.set)
    running = asyncio.create_task(inbox.run())
    async with asyncio.timeout(DEADLINE_SECONDS):
        await announced.wait()
    assert inbox.problem is not None
    running.cancel()
