"""`claude -p`: no screen; events are printed, or only the last text.

Takes one message from the command line, or any number as JSON lines on stdin. Nothing waits for
a key here: without a prompt tool an unapproved call is denied at once.
"""

import json
import queue
import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.client_double.client import Client, assemble, open_session
from tests.client_double.control import Control
from tests.client_double.hooks import Reply
from tests.client_double.options import Options
from tests.client_double.output import Answer, Question, TurnEnd
from tests.client_double.permissions import Concern
from tests.client_double.screen.keys import KeyRecord
from tests.client_double.script import Show
from tests.client_double.session import Registration, Session
from tests.client_double.stream import Events, render
from tests.client_double.values import Json, Message

NEEDS_VERBOSE = "Error: When using --print, --output-format=stream-json requires --verbose"
NEEDS_INPUT = "Error: Input must be provided either through stdin or as a prompt argument when using --print"
POLL_SECONDS = 0.02


class StreamFront:
    def __init__(self, session: Session, options: Options) -> None:
        self._streams = options.output_format == "stream-json"
        self._asks = options.prompt_tool == "stdio"
        # With one message, its result waits until nothing runs in the background.
        self._holds = options.input_format == "text"
        self._events = Events(session, can_ask=self._asks)
        self._lock = threading.Lock()
        self._held: list[Json] = []
        self._keys = KeyRecord(options.record_keys)
        self._hook_id = ""
        self.control = Control(session, self.write)
        self.words = ""
        self.failed = False

    def write(self, event: Json) -> None:
        if self._streams:
            with self._lock:
                sys.stdout.write(render(event) + "\n")
                sys.stdout.flush()

    def session_starts(self, source: str) -> None:
        self._hook_id = str(uuid.uuid4())

    def session_started(self, source: str, replies: Sequence[Reply]) -> None:
        name = f"SessionStart:{source}"
        for reply in replies:
            hook_id = str(uuid.uuid4())
            self.write(self._events.hook_started(hook_id, name, "SessionStart"))
            self.write(self._events.hook_response(hook_id, name, "SessionStart", reply))

    def turn_began(self, message: Message, origin: Json | None) -> None:
        self.write(self._events.init())

    def model_said(self, message: Message) -> None:
        agent, kind = message.agent, message.content[0]["type"]
        if agent is None or agent.background or kind == "tool_use":
            self.write(self._events.assistant(message))

    def user_said(self, message: Message) -> None:
        self.write(self._events.user(message))

    def agent_began(self, message: Message) -> None:
        if message.agent is not None and not message.agent.background:
            told = replace(message, content=[{"type": "text", "text": message.content}])
            self.write(self._events.user(told))

    def call_ended(self, message: Message) -> None:
        self.write(self._events.user(message))

    def ask(self, question: Question, hooks: Callable[[], Answer | None]) -> Answer:
        if not self._asks:
            return hooks() or self._deny(question)
        request_id = self.control.ask(question)

        def run_hooks() -> None:
            answer = hooks()
            if answer is not None and question.settle(answer):
                self.control.cancel(request_id)

        threading.Thread(target=run_hooks, daemon=True).start()
        question.answered.wait()
        assert question.answer is not None
        return question.answer

    def _deny(self, question: Question) -> Answer:
        call, reason = question.call, question.verdict.reason or "This tool requires approval"
        fields = {"tool_name": call.tool, "tool_use_id": call.id}
        if question.verdict.concern is Concern.UNKNOWN:
            fields |= {"decision_reason_type": "other", "decision_reason": reason}
        fields |= {"agent_id": call.agent.id} if call.agent else {}
        fields["message"] = reason
        self.write(self._events.system("permission_denied", fields))
        return Answer(False, message=reason, by_default=True)

    def hook_failed(self, event: str, subject: str, problem: str) -> None:
        pass  # not shown without a screen

    def show(self, dialog: Show) -> None:
        """Ask as older clients do: print an event, and read a line from the terminal."""
        self.write({"type": "permission_request", "prompt": " ".join(filter(None, dialog.lines))})
        if sys.stdin.isatty():
            self._keys.add(sys.stdin.readline().encode(), dialog.lines[0])

    def emit(self, event: Json) -> None:
        self.write(event)

    def task(self, subtype: str, fields: Json) -> None:
        self.write(self._events.system(subtype, fields))

    def turn_ended(self, end: TurnEnd) -> None:
        self.words, self.failed = end.text, end.interrupted
        event = self._events.result(end)
        if self._holds:
            self._held.append(event)
        else:
            self.write(event)

    def close(self) -> None:
        for event in self._held:
            self.write(event)
        if not self._streams:
            sys.stdout.write(self.words + "\n")


def run(options: Options) -> int:
    if options.output_format == "stream-json" and not options.verbose:
        sys.stderr.write(NEEDS_VERBOSE + "\n")
        return 1
    typed = options.input_format == "stream-json"
    message = options.message or ("" if typed or sys.stdin.isatty() else sys.stdin.read().strip())
    if not message and (not typed or sys.stdin.isatty()):
        sys.stderr.write(NEEDS_INPUT + "\n")
        return 1
    session, script = open_session(options, interactive=False)
    if options.session_id and session.transcript.exists() and not options.resume:
        sys.stderr.write(f"Error: Session ID {options.session_id} is already in use.\n")
        return 1
    output = StreamFront(session, options)
    client = assemble(options, session, script, output)
    client.hooks.callback = output.control.run_callbacks
    registration = Registration(session)
    registration.write(session, "busy")
    try:
        client.conversation.begin("resume" if options.resume else "startup")
        _converse(client, output, message)
        client.conversation.end("other")
    finally:
        registration.remove()
        client.shell.stop()
    output.close()
    return 1 if output.failed else 0


def _converse(client: Client, output: StreamFront, message: str) -> None:
    """Take messages as they come until there are no more and nothing runs in the background."""
    waiting: queue.Queue[tuple[str, Json | None] | None] = queue.Queue()
    client.tasks.notify = lambda text, origin: waiting.put((text, origin))
    output.control.interrupt = client.conversation.interrupt.set
    if message:
        waiting.put((message, None))
        waiting.put(None)
    else:
        threading.Thread(target=_read_lines, args=(output.control, waiting), daemon=True).start()
    ended = False
    while not ended or client.tasks.busy or not waiting.empty():
        try:
            item = waiting.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        if item is None:
            ended = True
        else:
            client.conversation.say(*item)


def _read_lines(control: Control, waiting: "queue.Queue[tuple[str, Json | None] | None]") -> None:
    for line in sys.stdin:
        value = json.loads(line)
        if value.get("type") == "user":
            waiting.put((_words(value["message"]["content"]), None))
        elif value.get("type") in ("control_request", "control_response"):
            control.take(value)
    control.close()
    waiting.put(None)


def _words(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content)
    return str(content)
