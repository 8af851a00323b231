"""An answer to a headless client that does not read its input is not given, and can be given again."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.answer import Allow
from chorus.model.ids import PaneId, SessionId, ToolUseId
from chorus.model.outcomes import PromptOpened
from chorus.tmux.address import Address
from chorus.watcher.panes import headless_runs
from chorus.watcher.panes.headless_runs import HeadlessRuns
from chorus.watcher.prompts.answer_keys import PromptRefused
from chorus.watcher.prompts.reply_channels import ControlChannel
from chorus.watcher.prompts.requested_prompts import ControlRequests, RequestedPrompts

# More than a pipe holds.
CONTENT = "x" * 200_000


def test_an_answer_that_a_stopped_client_does_not_read_can_be_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headless_runs, "WRITE_TIMEOUT_SECONDS", 0.1)
    pipe = tmp_path / "run.in"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    runs, requests = HeadlessRuns(), ControlRequests(tmp_path / "asked.json")
    run = runs.add("run", pipe, Address(tmp_path / "tmux"), PaneId("%0"))
    tool_input = {"file_path": "a.txt", "content": CONTENT}
    request = PromptOpened(
        SessionId("s"), ToolUseId("t1"), "Write", tool_input, None, request="r1", text=None, suggestions=()
    )
    requests.add(request, "run-1")
    channel = ControlChannel(AGENT.prompts, runs, run, "r1", requests)
    prompts = RequestedPrompts(AGENT.prompts)
    prompt = prompts.add(request, None, channel, policy_pending=False)

    async def answer_twice() -> str:
        with pytest.raises(PromptRefused, match="does not read its input; nothing was sent") as refused:
            await prompt.answer(Allow(), AGENT.prompts)
        assert "kill -CONT" in (refused.value.hint or "")
        assert requests.of_run("run-1") == [request]
        assert list(prompts.all) == [prompt.name]
        reading = asyncio.create_task(read_line(reader))  # the client goes on
        assert await prompt.answer(Allow(), AGENT.prompts) == ()
        return await reading

    reply = json.loads(asyncio.run(answer_twice()))
    assert reply["response"]["request_id"] == "r1"
    assert reply["response"]["response"]["updatedInput"]["content"] == CONTENT
    with pytest.raises(PromptRefused, match="already answered"):
        asyncio.run(prompt.answer(Allow(), AGENT.prompts))
    assert requests.of_run("run-1") == []
    os.close(reader)


async def read_line(pipe: int) -> str:
    """Read the first line that was not given up halfway."""
    text = b""
    while not (whole := [line for line in text.splitlines(True) if line.endswith(b"}\n")]):
        try:
            text += os.read(pipe, 2**20)
        except BlockingIOError:
            await asyncio.sleep(0)
    return whole[0].decode()
