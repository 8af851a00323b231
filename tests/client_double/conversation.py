"""A conversation: one turn per user message, from its hooks to the end of the turn."""

import time
import uuid

from tests.client_double.hooks import Hooks
from tests.client_double.output import Output, TurnEnd
from tests.client_double.replies import ReplyPlayer, Turn
from tests.client_double.script import THE_END
from tests.client_double.session import MODEL, Session
from tests.client_double.transcript import Transcript
from tests.client_double.values import Agent, Json, Message

INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_CALL = "[Request interrupted by user for tool use]"
NOTHING_ELSE: Json = {"background_tasks": [], "session_crons": []}


class Conversation:
    def __init__(
        self, session: Session, hooks: Hooks, transcript: Transcript, output: Output, player: ReplyPlayer
    ) -> None:
        self.session = session
        self.interrupt = player.interrupt
        self._hooks = hooks
        self._transcript = transcript
        self._front = output
        self._player = player
        self._turn = Turn()

    def begin(self, source: str) -> None:
        fields: Json = {"source": source}
        if self.session.interactive and source == "startup":
            fields["model"] = MODEL
        self._front.session_starts(source)
        replies = self._hooks.run("SessionStart", fields, subject=source)
        self._front.session_started(source, replies)
        if self.session.interactive:
            self._transcript.mode()

    def end(self, reason: str) -> None:
        self._hooks.run("SessionEnd", {"reason": reason}, subject=reason)
        self._transcript.flush()

    def clear(self) -> None:
        """`/clear`: continue as another session."""
        self.end("clear")
        self.session.id = str(uuid.uuid4())
        self.session.prompt_id = None
        self.begin("clear")

    def say(self, text: str, origin: Json | None = None) -> None:
        """Play the turn of a user message."""
        self.interrupt.clear()
        self.session.prompt_id = str(uuid.uuid4())
        started = time.monotonic()
        message = Message(text)
        self._front.turn_began(message, origin)
        replies = self._hooks.run("UserPromptSubmit", {"prompt": text})
        turn = self._turn = Turn()
        if not any(reply.blocks for reply in replies):
            self._transcript.prompt(message)
            self._player.play(turn, text)
            if turn.interrupted:
                self._player.tell(INTERRUPTED_CALL if turn.denials else INTERRUPTED)
            else:
                self._stop(turn)
            self._transcript.last_prompt(text)
        seconds = time.monotonic() - started
        if self.session.interactive:
            self._transcript.system("turn_duration", durationMs=round(seconds * 1000), isMeta=False)
        end = TurnEnd(turn.text, seconds, turn.replies, turn.results, turn.denials, turn.interrupted, origin)
        self._front.turn_ended(end)

    def play_agent(self, agent: Agent, prompt: str) -> str:
        """Play a whole sub-agent; return its last text."""
        self._hooks.run("SubagentStart", {}, subject=agent.kind, agent=agent)
        self._transcript.started(agent)
        message = Message(prompt, agent=agent)
        self._transcript.told(message)
        self._front.agent_began(message)
        # Denials of a sub-agent count in the turn that started it.
        turn = Turn(agent, denials=self._turn.denials)
        self._player.play(turn, prompt)
        path = self.session.agent_transcript(agent.id)
        fields: Json = {"stop_hook_active": False, "agent_transcript_path": str(path)}
        fields |= {"last_assistant_message": turn.text, **NOTHING_ELSE}
        self._hooks.run("SubagentStop", fields, subject=agent.kind, agent=agent)
        return turn.text

    def _stop(self, turn: Turn) -> None:
        fields = {"stop_hook_active": False, "last_assistant_message": turn.text, **NOTHING_ELSE}
        if any(reply.blocks for reply in self._hooks.run("Stop", fields)):
            # A hook blocks the end of the turn: the model is asked once more.
            self._player.reply(turn, THE_END)
