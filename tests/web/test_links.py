"""A link is used once and expires; a browser has access while it has both secrets."""

from chorus.web.links import BROWSER_SECONDS, LINK_SECONDS, Links


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_link_lets_one_browser_in() -> None:
    links = Links(Clock())
    token = links.make()
    first = links.use(token)
    assert first is not None
    assert links.use(token) is None
    assert links.find(first.cookie, first.key) == 1
    second = links.use(links.make())
    assert second is not None
    assert links.find(second.cookie, second.key) == 2
    assert links.find(first.cookie, second.key) is None
    assert links.find("", "") is None
    links.forget(first.cookie, first.key)
    assert links.find(first.cookie, first.key) is None


def test_links_and_browsers_expire() -> None:
    clock = Clock()
    links = Links(clock)
    late, used = links.make(), links.make()
    browser = links.use(used)
    assert browser is not None
    clock.now = LINK_SECONDS + 1
    assert links.use(late) is None
    assert links.find(browser.cookie, browser.key) == 1
    clock.now = BROWSER_SECONDS + 1
    assert links.find(browser.cookie, browser.key) is None


def test_unknown_and_odd_tokens_are_refused() -> None:
    links = Links(Clock())
    links.make()
    assert [links.use(token) for token in ("", "x", "\ud800", "0" * 10_000)] == [None] * 4
