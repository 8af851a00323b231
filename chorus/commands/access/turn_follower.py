"""Wait for the turn that answers a message, and show its text and calls as they come."""

from collections.abc import Iterable
from datetime import UTC, datetime

from chorus.errors import ChorusError
from chorus.model.api.json_api import CallEvent, EventJson, PromptJson, RunEndedEvent, TextEvent, TurnJson
from chorus.model.session import RETRYING
from chorus.model.turn import CLIENT_ENDED
from chorus.output import harmless, print_err, print_json, print_out, print_progress, print_text
from chorus.wire.client import WatcherNotRunning

CALL_SIGNS = {"succeeded": "✓", "failed": "✗", "denied": "✗", "unfinished": "✗"}


class NoAnswer(ChorusError):
    """The session ended before it answered."""


class LiveOutput:
    """Prints the agent's text and calls as they come, or each event as a line of JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._in_line = False  # the last text did not end its line
        self._running: dict[str, str] = {}
        self.wrote = False

    def show(self, event: TextEvent | CallEvent) -> None:
        if self._as_json:
            print_json(event, in_one_line=True)
            return
        print_progress("")
        if event["event"] == "text":
            print_text(event["text"])
            self.wrote = True
            self._in_line = not event["text"].endswith("\n") if event["text"] else self._in_line
        elif event["status"] == "running":
            self._running[event["id"]] = event["text"]
        else:
            self._running.pop(event["id"], None)
            self._print_call(event)
        if not self._in_line:
            print_progress(f"… {next(reversed(self._running.values()), 'working')}")

    def finish(self) -> None:
        print_progress("")
        if self._in_line:
            print_out("")
            self._in_line = False

    def _print_call(self, event: CallEvent) -> None:
        self.finish()
        status, why = event["status"], event["failure"]
        because = "" if status == "succeeded" else f"  {status}" + (f": {why}" if why else "")
        line = f"{CALL_SIGNS.get(status, '·')} {event['text']}{because}"
        print_text(f"{harmless(line)}\n")


class TurnFollower:
    """Finds the turn that answers a message, and follows it until it ends.

    `session`: the session to which the message was sent, if known.
    """

    def __init__(
        self, run: str, message: str, live: LiveOutput | None, *, session: str | None = None
    ) -> None:
        self._run = run
        self._message = message
        self._live = live
        self._session: str | None = None
        self._sent_to = session
        self._read_at = ""  # when the agent had read the message
        self._left: TurnJson | None = None  # the turn, if its client ended
        self._prompts: set[str] = set()  # the prompts that were shown
        self._early: list[TextEvent | CallEvent] = []  # events from before the session was known

    def wait(self, events: Iterable[EventJson]) -> TurnJson:
        try:
            for event in events:
                turn = self._take(event)
                if turn is not None:
                    return turn
        finally:
            if self._live is not None:
                self._live.finish()
        raise WatcherNotRunning(
            "the watcher ended before the turn was over",
            hint="Run `chorus attach` to start a new one, then `chorus log --turns` to see the turn.",
        )

    def _take(self, event: EventJson) -> TurnJson | None:
        if event["event"] == "turn":
            found = self._take_turn(event["turn"])
            self._show_early(event["turn"]["turn"])
            return found
        if event["event"] == "text" or event["event"] == "call":
            self._show(event)
        elif event["event"] == "prompt":
            self.show_prompt(event["prompt"])
        elif event["event"] == "session":
            session, error = event["session"], event["session"].get("error") or ""
            if session["id"] == self._session and error.startswith(RETRYING):
                print_progress(f"… {error}")
        elif event["event"] == "run-ended" and event["run"] == self._run:
            return self._end(event)
        return None

    def _take_turn(self, turn: TurnJson) -> TurnJson | None:
        """Return the turn if it is over and has answered the message, else None."""
        # The turn's result, which has the reason, comes after the hooks have reported the turn's end.
        if self._message in turn["messages"]:
            self._session, self._read_at = turn["session"], self._read_at or datetime.now(UTC).isoformat()
            if turn["reason"] == CLIENT_ENDED:
                self._left = turn
                return None
            return turn if turn["reason"] else None
        # The client may answer a queued message in the turn of another message.
        if turn["session"] == self._session and turn["reason"] and (turn["ended"] or "") > self._read_at:
            return turn
        return None

    def _show(self, event: TextEvent | CallEvent) -> None:
        if self._live is None:
            return
        if self._session is None:
            self._early.append(event)
        elif event["session"] == self._session:
            self._live.show(event)

    def show_prompt(self, prompt: PromptJson) -> None:
        """Say once that this session's prompt waits for an answer. Ignore prompts of other sessions."""
        name, session = prompt["id"], self._session or self._sent_to
        if name in self._prompts or session is None or prompt["session"] != session:
            return
        self._prompts.add(name)
        if self._live is not None:
            self._live.finish()
        print_progress("")
        how = f"`chorus approve {name}` or `chorus deny {name}`"
        if prompt["kind"] == "question":
            how = f"`chorus answer {name} …`"
        print_err(f"chorus: waiting for an answer to {name}, {prompt['title']}: {how}")

    def _show_early(self, turn: str) -> None:
        """Show this turn's events that came before the session was known, and discard all others."""
        if self._live is not None and self._session is not None:
            for event in self._early:
                if event["session"] == self._session and event["turn"] == turn:
                    self._live.show(event)
            self._early.clear()

    def _end(self, ended: RunEndedEvent) -> TurnJson:
        output = str(ended["output"]).strip() or "it printed nothing"
        why = f"{self._run} ended without an answer ({ended['how']}): {output}"
        if self._left is None:
            session = self._session or self._sent_to
            raise NoAnswer(
                why,
                hint="Run the same client by hand to see why it ends, or run `chorus doctor`."
                if session is None
                else f"Continue the session with `chorus run MESSAGE --resume {session}`.",
            )
        return {**self._left, "error": why}
