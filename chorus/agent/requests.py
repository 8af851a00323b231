"""What can be asked of the agent, and the answers.

Each request is a method named after it; its arguments are the message's own fields. Unknown requests
and wrong arguments are refused with a sentence, never with a crash.
"""

import inspect
import os
from typing import TYPE_CHECKING, Any

from chorus import __version__
from chorus.errors import UsageError
from chorus.lanes.listing import entry_json, find_entry, lanes_json, show_json
from chorus.wire.protocol import VERSION, Request

if TYPE_CHECKING:
    from chorus.agent.agent import Agent
    from chorus.agent.tree import Tree


class Requests:
    def __init__(self, agent: "Agent") -> None:
        self._agent = agent

    async def handle(self, request: Request) -> Any:  # noqa: ANN401  each request has its own answer
        handler = getattr(self, f"do_{request.do.replace('-', '_')}", None)
        if handler is None:
            raise UsageError(f"the agent knows no request {request.do!r}")
        try:
            inspect.signature(handler).bind(**request.arguments)
        except TypeError as error:
            raise UsageError(f"{request.do}: {error}") from None
        return await handler(**request.arguments)

    async def do_hello(self) -> dict[str, Any]:
        return {
            "chorus": __version__,
            "pid": os.getpid(),
            "protocol": VERSION,
            "repository": str(self._agent.home.common_dir),
        }

    async def do_status(self) -> dict[str, Any]:
        agent = self._agent
        lanes = [lane for tree in agent.trees.values() for lane in lanes_json(tree.recorder)]
        problems = [
            *agent.problems.values(),
            *(t.watch.problem for t in agent.trees.values() if t.watch.problem),
        ]
        return {
            "ok": not problems,
            **await self.do_hello(),
            "since": agent.since,
            "work_trees": [str(root) for root in agent.trees],
            "sessions": await self.do_sessions(),
            "lanes": len(lanes),
            "open": sum(lane["open"] for lane in lanes),
            "prompts": 0,
            "problems": problems,
        }

    async def do_stop(self) -> dict[str, Any]:
        self._agent.stop()
        return {}

    async def do_subscribe(self) -> dict[str, Any]:
        return {}

    async def do_sync(self) -> dict[str, Any]:
        await self._agent.catch_up()
        return {}

    async def do_hook(self, message: dict[str, Any]) -> dict[str, Any]:
        await self._agent.hear_hook(message, waited=True)
        return {}

    async def do_sessions(self) -> list[dict[str, Any]]:
        return [session.as_json() for session in self._agent.intake.roster.sessions.values()]

    async def do_lanes(self, cwd: str) -> list[dict[str, Any]]:
        return lanes_json(self._tree(cwd).recorder)

    async def do_log(self, cwd: str) -> list[dict[str, Any]]:
        return [entry_json(entry) for entry in self._tree(cwd).recorder.entries()]

    async def do_show(self, cwd: str, action: str | int) -> dict[str, Any]:
        recorder = self._tree(cwd).recorder
        return show_json(recorder, find_entry(recorder.entries(), str(action)))

    def _tree(self, cwd: str) -> "Tree":
        tree = self._agent.find_tree(cwd)
        if tree is None:
            raise UsageError(f"{cwd} is in no work tree of {self._agent.home.common_dir}")
        return tree
