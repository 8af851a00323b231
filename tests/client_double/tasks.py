"""Background tasks: sub-agents and commands that run beside the turn.

A sub-agent runs in the background unless its call says otherwise. When a task of the background
ends, the model is told with a message of the client's own.
"""

import os
import threading
import time
from collections.abc import Callable

from tests.client_double.output import Output
from tests.client_double.session import MODEL, Session
from tests.client_double.shell import Shell
from tests.client_double.values import Agent, Call, Json, Outcome


class Tasks:
    def __init__(self, session: Session, output: Output, shell: Shell) -> None:
        self._session = session
        self._front = output
        self._shell = shell
        self._running: dict[str, Json] = {}
        self._idle = threading.Condition()
        # Set by the conversation, which plays agents and takes the messages at the end of tasks.
        self.play_agent: Callable[[Agent, str], str] = lambda agent, prompt: ""
        self.notify: Callable[[str, Json], None] = lambda text, origin: None

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def run_agent(self, call: Call) -> Outcome:
        prompt = str(call.input.get("prompt", ""))
        background = call.input.get("run_in_background") is not False
        # On a screen, agents always run in the background.
        background = background or self._session.interactive
        kind = str(call.input.get("subagent_type", "general-purpose"))
        description = str(call.input.get("description", ""))
        agent = Agent(f"a{os.urandom(8).hex()}", kind, description, call.id, background)
        task: Json = {"task_type": "local_agent", "subagent_type": kind, "description": description}
        run_id = self._start(agent.id, task, call, background, prompt=prompt)
        if not background:
            started = time.monotonic()
            words = self.play_agent(agent, prompt)
            self._end(agent.id, run_id, call, words)
            return _reported(agent, prompt, words, started)
        threading.Thread(target=self._play, args=(agent, prompt, run_id, call), daemon=True).start()
        return self._launched(agent, prompt)

    def run_command(self, call: Call) -> Outcome:
        task_id = f"b{os.urandom(4).hex()}"
        description = str(call.input.get("description", ""))
        task: Json = {"task_type": "local_bash", "description": description}
        run_id = self._start(task_id, task, call, background=True)

        def ended(code: int) -> None:
            status = "completed" if code == 0 else "failed"
            words = f'Background command "{description}" {status} (exit code {code})'
            self._end(task_id, run_id, call, words)
            self._tell(task_id, run_id, call, words)

        return self._shell.start(call.input, task_id, ended)

    def _play(self, agent: Agent, prompt: str, run_id: str, call: Call) -> None:
        words = self.play_agent(agent, prompt)
        self._end(agent.id, run_id, call, words)
        self._tell(agent.id, run_id, call, f'Agent "{agent.description}" finished')

    def _start(self, task_id: str, task: Json, call: Call, background: bool, **more: str) -> str:
        run_id = os.urandom(4).hex()
        named: Json = {"task_id": task_id, "run_id": run_id}
        if background:
            self._running[task_id] = {**named, **task}
            self._front.task("background_tasks_changed", {"tasks": list(self._running.values())})
        depth: Json = {"spawn_depth": 1} if task["task_type"] == "local_agent" else {}
        kind: Json = {key: task[key] for key in ("description", "subagent_type") if key in task}
        told: Json = {**named, "tool_use_id": call.id, **kind, "is_backgrounded": background, **depth}
        self._front.task("task_started", {**told, "task_type": task["task_type"], **more})
        return run_id

    def _end(self, task_id: str, run_id: str, call: Call, words: str) -> None:
        named = {"task_id": task_id, "run_id": run_id}
        patch = {"status": "completed", "end_time": round(time.time() * 1000)}
        self._front.task("task_updated", {**named, "patch": patch})
        told = {
            "status": "completed",
            "output_file": str(self._session.task_output(task_id)),
            "summary": words,
        }
        self._front.task("task_notification", {**named, "tool_use_id": call.id, **told})

    def _tell(self, task_id: str, run_id: str, call: Call, words: str) -> None:
        origin = {"kind": "task-notification", "producer": "session-task", "runId": run_id}
        text = (
            f"<task-notification>\n<task-id>{task_id}</task-id>\n<tool-use-id>{call.id}</tool-use-id>\n"
            f"<status>completed</status>\n<summary>{words}</summary>\n</task-notification>"
        )
        others = [task for name, task in self._running.items() if name != task_id]
        self._front.task("background_tasks_changed", {"tasks": others})
        # Notify first: the client does not end while a task runs or a message waits.
        self.notify(text, origin)
        del self._running[task_id]

    def _launched(self, agent: Agent, prompt: str) -> Outcome:
        output = str(self._session.task_output(agent.id))
        text = f"Async agent launched successfully.\nagentId: {agent.id}\noutput_file: {output}"
        result: Json = {
            "isAsync": True,
            "status": "async_launched",
            "agentId": agent.id,
            "description": agent.description,
            "resolvedModel": MODEL,
            "prompt": prompt,
            "outputFile": output,
            "canReadOutputFile": True,
            "canContinueAgent": True,
        }
        return Outcome([{"type": "text", "text": text}], result)


def _reported(agent: Agent, prompt: str, words: str, started: float) -> Outcome:
    result: Json = {
        "status": "completed",
        "prompt": prompt,
        "agentId": agent.id,
        "agentType": agent.kind,
        "content": [{"type": "text", "text": words}],
        "resolvedModel": MODEL,
        "totalDurationMs": round((time.monotonic() - started) * 1000),
        "totalTokens": 15,
        "totalToolUseCount": 1,
    }
    return Outcome([{"type": "text", "text": words}], result)
