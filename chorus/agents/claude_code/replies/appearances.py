"""One pane's prompts over time: each appearance of a prompt is answered once.

Receives what the pane shows, and decisions. Gives each appearance of a prompt a serial number, and a
relay to the first decision about it; every later decision about it is refused, also when the same
question has come back since. Never sends anything.
"""

from dataclasses import dataclass, replace

from chorus.agents.claude_code.replies.key_relay import Observation, Refuse, Relay
from chorus.model.answer import Decision
from chorus.model.prompt import Nothing, Prompt


@dataclass(frozen=True, slots=True)
class Appearance:
    """A prompt from the moment it is first seen until it is gone."""

    serial: int
    prompt: Prompt
    process: str
    claimed: bool = False


class Desk:
    def __init__(self) -> None:
        self.current: Appearance | None = None
        self._serial = 0

    def see(self, seen: Observation) -> Appearance | None:
        """Take one look; give the prompt that waits now.

        In copy mode the screen shows the past, and a screen that cannot be read may be a dialog half
        drawn: neither ends an appearance.
        """
        if seen.dead:
            self.current = None
        elif not (seen.in_mode or seen.scrolled):
            if isinstance(seen.found, Prompt):
                self._stand(seen.found, seen.process)
            elif isinstance(seen.found, Nothing):
                self.current = None
        return self.current

    def accept(self, decision: Decision, serial: int) -> Relay | Refuse:
        """Claim the appearance for this decision, or say why it is too late."""
        current = self.current
        if current is None:
            return Refuse("the prompt is gone")
        if current.serial != serial or current.prompt.fingerprint != decision.prompt.fingerprint:
            return Refuse(f"another prompt is shown: {current.prompt.title}: {current.prompt.question}")
        if current.claimed:
            return Refuse("this prompt is already answered")
        self.current = replace(current, claimed=True)
        return Relay(decision)

    def release(self, relay: Relay, serial: int) -> None:
        """A relay ended. If it sent nothing, the prompt may be answered again."""
        if relay.sent == 0 and self.current is not None and self.current.serial == serial:
            self.current = replace(self.current, claimed=False)

    def renew(self) -> None:
        """What stands here is a new appearance: the old one's call has ended, and the same is asked again."""
        if self.current is not None:
            self._serial += 1
            self.current = replace(self.current, serial=self._serial, claimed=False)

    def settle(self) -> None:
        """The prompt that stands here was answered another way: no key may follow."""
        if self.current is not None:
            self.current = replace(self.current, claimed=True)

    def _stand(self, prompt: Prompt, process: str) -> None:
        current = self.current
        if (
            current is not None
            and current.process == process
            and current.prompt.fingerprint == prompt.fingerprint
        ):
            self.current = replace(current, prompt=prompt)
            return
        self._serial += 1
        self.current = Appearance(self._serial, prompt, process)
