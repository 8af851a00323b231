"""An offer is used once, and ends with the prompt as it was shown."""

from typing import Any

from chorus.web.offers import Offers
from tests.panel.story import prompt


def test_an_offer_is_used_once_and_ends_with_its_prompt() -> None:
    offers, p1 = Offers(), prompt("p1")
    pending: dict[str, list[Any]] = {"shop": [p1], "web": [p1]}
    offers.update(pending)
    shop, web = offers.find("shop", "p1"), offers.find("web", "p1")
    assert shop is not None
    assert web is not None
    assert shop != web
    offers.update(pending)
    assert offers.find("shop", "p1") == shop

    taken = offers.take(shop)
    assert taken is not None
    assert taken.repository == "shop"
    assert offers.take(shop) is None
    assert offers.find("shop", "p1") is None  # nobody else is offered what is being answered

    changed: dict[str, list[Any]] = {"shop": [p1], "web": [{**p1, "body": "rm -rf /"}]}
    offers.update(changed)
    assert offers.take(web) is None  # what was shown is not what is asked now
    offers.update({"shop": []})
    assert offers.find("shop", "p1") is None


def test_a_refused_answer_can_be_given_again_while_the_prompt_is_pending() -> None:
    offers = Offers()
    pending: dict[str, list[Any]] = {"shop": [prompt("p1")]}
    offers.update(pending)
    name = offers.find("shop", "p1")
    assert name is not None
    taken = offers.take(name)
    assert taken is not None
    offers.renew(taken)
    again = offers.find("shop", "p1")
    assert again not in (None, name)
    assert offers.take(name) is None
    offers.update({})
    offers.renew(taken)
    assert offers.find("shop", "p1") is None
