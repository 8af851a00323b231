"""The prompts that the page may answer: each has one offer, a random name that is used once.

A changed prompt gets a new offer, so an answer is always about the prompt as the page showed it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from chorus.model.api.json_api import PromptJson


@dataclass(frozen=True, slots=True)
class Offer:
    name: str
    repository: str  # its key
    prompt: PromptJson


class Offers:
    def __init__(self) -> None:
        self._offers: dict[tuple[str, str], Offer] = {}
        self._taken: set[str] = set()

    def update(self, pending: Mapping[str, list[PromptJson]]) -> None:
        """Make offers for exactly these pending prompts. A prompt that has not changed keeps its offer."""
        before, self._offers = self._offers, {}
        for repository, prompts in pending.items():
            for prompt in prompts:
                known = before.get((repository, prompt["id"]))
                if known is None or known.prompt != prompt:
                    known = Offer(secrets.token_urlsafe(16), repository, prompt)
                self._offers[repository, prompt["id"]] = known
        self._taken &= {offer.name for offer in self._offers.values()}

    def find(self, repository: str, prompt: str) -> str | None:
        """Return the name of a prompt's offer; None if the prompt has no offer, or its offer is taken."""
        offer = self._offers.get((repository, prompt))
        return offer.name if offer is not None and offer.name not in self._taken else None

    def take(self, name: str) -> Offer | None:
        """Use the offer with this name. Return None if it was used, or if its prompt has changed or gone."""
        offer = next((offer for offer in self._offers.values() if offer.name == name), None)
        if offer is None or name in self._taken:
            return None
        self._taken.add(name)
        return offer

    def renew(self, offer: Offer) -> None:
        """Make a new offer for a prompt whose answer was refused, unless the prompt has changed or gone."""
        place = (offer.repository, offer.prompt["id"])
        if self._offers.get(place) is offer:
            self._offers[place] = Offer(secrets.token_urlsafe(16), offer.repository, offer.prompt)
            self._taken.discard(offer.name)
