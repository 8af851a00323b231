"""The page in a real browser: what is asked appears, and each press reaches its watcher once."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import entry, fill, prompt
from tests.waiting import wait_for
from tests.web.browser import (
    DESKTOP,
    PHONE,
    find,
    open_browser,
    screenshot,
    show_as,
    wait_gone,
    wait_until_pressable,
)
from tests.web.served_page import ServedPage

Scripted = Callable[[str], ScriptedWatcher]
Browser = webdriver.Chrome
HOSTILE = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>\x1b[2J\u202e"
QUESTIONS = {
    "questions": [
        {"question": "Which database?", "header": "DB", "options": [{"label": "SQLite"}, {"label": "Other"}]},
        {
            "question": "What else?",
            "multiSelect": True,
            "options": [{"label": "Search"}, {"label": "Export"}],
        },
    ]
}


@pytest.fixture(scope="module")
def shared_browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def browser(shared_browser: Browser) -> Iterator[Browser]:
    show_as(shared_browser, DESKTOP)
    yield shared_browser
    shared_browser.get("about:blank")


def open_page(browser: Browser, page: ServedPage, link: str | None = None) -> None:
    browser.get("about:blank")
    browser.get(link or page.link)
    find(browser, "#link", "live")


def press(browser: Browser, *keys: str) -> None:
    wait_until_pressable(browser)
    ActionChains(browser).send_keys(*keys).perform()


def test_prompts_appear_and_are_answered_once_by_press_and_by_key(
    browser: Browser, scripted: Scripted, page: ServedPage, request: pytest.FixtureRequest
) -> None:
    shop, other = scripted("shop"), scripted("other")
    open_page(browser, page)
    assert page.token not in browser.current_url
    find(browser, ".repository", "other")
    browser.execute_script(
        "new MutationObserver(() => { window.shownAt ||= Date.now(); })"
        ".observe(document.getElementById('prompts'), {childList: true});"
    )
    asked = time.time()
    shop.add_prompt(prompt("p1", body="rm -rf build"))
    assert "rm -rf build" in find(browser, ".card", "shop").text
    # A measurement for the report of a run (--junitxml), not a condition.
    taken = browser.execute_script("return window.shownAt") - asked * 1000
    request.node.user_properties.append(("prompt_shown_ms", round(taken)))
    assert browser.title == "(1) Chorus inbox"

    wait_until_pressable(browser)
    ActionChains(browser).double_click(find(browser, "button.allow", "Yes")).perform()
    wait_gone(browser, ".card")
    (answered,) = shop.requests_for("answer")
    assert (answered["option"], answered["by"]) == ("1", "web, browser 1")

    other.add_prompt(prompt("p1", body="make"))
    find(browser, ".card", "other")
    press(browser, "j", "D")
    find(browser, ".card textarea").send_keys("use ninja", Keys.ENTER)
    wait_gone(browser, ".card")
    (denied,) = other.requests_for("answer")
    assert (denied["decision"], denied["message"]) == ("deny", "use ninja")

    shop.add_prompt(prompt("p2"))
    find(browser, ".card", "shop")
    press(browser, "a")
    wait_gone(browser, ".card")
    assert len(shop.requests_for("answer")) == 2


def test_questions_are_answered_with_choices_and_own_words(
    browser: Browser, scripted: Scripted, page: ServedPage
) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1", kind="question", tool="AskUserQuestion", input=QUESTIONS, body=""))
    open_page(browser, page)
    find(browser, ".card", "Which database?")
    wait_until_pressable(browser)
    find(browser, "label", "SQLite").click()
    find(browser, "label", "Export").click()
    browser.find_elements("css selector", "fieldset input[type=text]")[1].send_keys("and import")
    find(browser, ".card .buttons button", "Answer").click()
    wait_gone(browser, ".card")
    (answered,) = shop.requests_for("answer")
    assert [(one["labels"], one["text"]) for one in answered["answers"]] == [
        (["SQLite"], None),
        (["Export"], "and import"),
    ]


def test_two_browsers_and_a_stale_approval(browser: Browser, scripted: Scripted, page: ServedPage) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1"))
    open_page(browser, page)
    with open_browser() as second:
        open_page(second, page, page.new_link())
        find(browser, ".card", "shop")
        find(second, ".card", "shop")
        wait_until_pressable(second)
        offer = browser.execute_script("return document.querySelector('.card').card.offer")
        find(second, "button.allow", "Yes").click()
        wait_gone(second, ".card")
        wait_gone(browser, ".card")
    status = browser.execute_async_script(
        "const done = arguments[1]; fetch('/answer', {method: 'POST', body: JSON.stringify("
        "{offer: arguments[0], decision: 'allow'}), headers: {'Chorus-Key': localStorage['chorus-key']}})"
        ".then((answer) => done(answer.status))",
        offer,
    )
    assert status == 409
    assert len(shop.requests_for("answer")) == 1


def test_a_press_right_after_the_page_moved_is_not_taken(
    browser: Browser, scripted: Scripted, page: ServedPage
) -> None:
    shop = scripted("shop")
    open_page(browser, page)
    shop.add_prompt(prompt("p1"))
    browser.execute_script(
        "new MutationObserver(() => document.querySelector('button.allow')?.click())"
        ".observe(document.getElementById('prompts'), {childList: true});"
    )
    shop.add_prompt(prompt("p2"))
    find(browser, "#toast", "has just changed")
    assert shop.requests_for("answer") == []


def test_a_long_command_is_approved_only_after_all_of_it_was_shown(
    browser: Browser, scripted: Scripted, page: ServedPage
) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1", body="\n".join(f"echo {n}" for n in range(200))))
    open_page(browser, page)
    find(browser, ".card", "echo 0")
    press(browser, "a")
    find(browser, "#toast", "Part of the prompt was hidden")
    assert shop.requests_for("answer") == []
    find(browser, "button.allow", "Yes")
    wait_for(
        lambda: browser.execute_script("return document.querySelector('.buttons').dataset.seen"),
        what="its end is shown",
    )
    press(browser, "a")
    wait_gone(browser, ".card")
    assert len(shop.requests_for("answer")) == 1


def test_wrong_and_used_links_open_nothing(browser: Browser, scripted: Scripted, page: ServedPage) -> None:
    scripted("shop")
    page.log_in()
    for link in (f"{page.base}/#wrong", page.link, page.base):
        browser.get("about:blank")
        browser.get(link)
        find(browser, "#link.lost")
        assert "shop" not in browser.page_source
        assert "enter where `chorus inbox --web` runs for a new" in find(browser, "#link.lost").text.lower()
        assert not find(browser, "main").is_displayed(), "nothing is claimed about what waits"


def test_a_new_link_opens_the_page_in_the_tab_of_a_used_one(
    browser: Browser, scripted: Scripted, page: ServedPage
) -> None:
    scripted("shop")
    browser.get(f"{page.base}/#used")
    assert "already used. Press" in find(browser, "#link.lost").text
    browser.get(page.link)
    find(browser, "main", "shop")


def test_hostile_text_is_only_text(browser: Browser, scripted: Scripted, page: ServedPage) -> None:
    shop = scripted("shop")
    option = {"key": "1", "label": HOSTILE, "meaning": "allow"}
    shop.add_prompt(prompt("p1", title=HOSTILE, question=HOSTILE, body=HOSTILE, options=[option]))
    shop.add_action(
        entry(1, summary=HOSTILE, paths=[HOSTILE], tool=HOSTILE),
        patch=f"diff --git a b\n@@ -1 +1 @@\n+{HOSTILE}\n",
    )
    open_page(browser, page)
    browser.execute_script(
        "window.blocked = 0;"
        "document.addEventListener('securitypolicyviolation', () => { window.blocked += 1; })"
    )
    assert "<script>window.hacked=1</script>␛[2J<U+202E>" in find(browser, ".card").text
    find(browser, ".action .row").click()
    assert "<script>" in find(browser, ".diff pre").text
    assert browser.execute_script("return window.hacked") is None
    assert browser.execute_script("return document.querySelectorAll('main img, main script').length") == 0
    assert browser.execute_script("return window.blocked") == 0


def test_the_page_fits_a_phone_and_a_desktop_in_light_and_dark(
    browser: Browser, scripted: Scripted, page: ServedPage, tmp_path: Path
) -> None:
    shop = scripted("shop")
    fill(shop)
    shop.add_prompt(prompt("p1", body="echo " + "x" * 400))
    shop.add_prompt(prompt("p2", kind="question", tool="AskUserQuestion", input=QUESTIONS, body=""))
    open_page(browser, page)
    find(browser, ".card", "Which database?")
    shades = []
    for name, size in (("phone", PHONE), ("desktop", DESKTOP)):
        for dark in (False, True):
            show_as(browser, size, dark=dark)
            width = browser.execute_script("return document.scrollingElement.scrollWidth")
            assert width <= size[0], name
            back = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            shades.append(sum(int(part) for part in back.strip("rgb()").split(",")))
            assert (
                screenshot(browser, tmp_path, f"{name}-{'dark' if dark else 'light'}").stat().st_size > 10_000
            )
        small = browser.execute_script(
            "return [...document.querySelectorAll('.card button')].filter((b) => b.offsetHeight < 44).length"
        )
        assert small == 0, "every button is large enough for a finger"
    press(browser, "?")
    find(browser, "dialog button", "Close").click()
    wait_gone(browser, "dialog[open]")
    light, dark_shade = 600, 150
    assert shades[0] == shades[2] > light
    assert shades[1] == shades[3] < dark_shade
