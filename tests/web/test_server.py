"""The page's server lets in who has a link, answers once, and passes nothing on that was not shown."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chorus.errors import ExitCode
from chorus.web.access_log import access_log_path
from chorus.web.run import render_qr, warn_of_listeners
from tests.panel.scripted_watcher import Refusal, ScriptedWatcher
from tests.panel.story import entry, prompt
from tests.waiting import wait_for
from tests.web.served_page import ROOT, LoggedIn, ServedPage, serve_page

Scripted = Callable[[str], ScriptedWatcher]
HOSTILE = "\x1b]0;x\x07<script>alert(1)</script>\u202e\u200bgnp.exe"


def logged() -> list[dict[str, Any]]:
    return [json.loads(line) for line in access_log_path().read_text().splitlines()]


def wait_for_prompts(browser: LoggedIn, count: int = 1) -> list[Any]:
    found = wait_for(lambda: [p] if len(p := browser.prompts()) == count else None, what=f"{count} prompts")
    return found[0]


def test_a_link_opens_the_page_once(page: ServedPage) -> None:
    assert page.base.startswith("http://127.0.0.1:")
    browser = page.log_in()
    assert browser.state()["repositories"] == []
    assert page.request("POST", "/login", {"token": page.token}).status == 403
    assert page.request("POST", "/login", {"token": "guess"}).status == 403
    assert page.request("POST", "/login", {"token": ["x"]}).status == 403
    assert page.log_in(page.new_link()).state() == browser.state()
    assert [one["what"] for one in logged()] == ["opened", "refused", "refused", "refused", "opened"]
    assert stat.S_IMODE(access_log_path().stat().st_mode) == 0o600


def test_nothing_is_shown_without_both_secrets(page: ServedPage) -> None:
    browser = page.log_in()
    for path in ("/events", "/action?repository=x&id=1"):
        for missing in ({"Cookie": ""}, {"Chorus_Key": ""}, {"Chorus_Key": "guess"}):
            assert browser.request("GET", path, **missing).status == 401
    assert browser.request("POST", "/answer", {"offer": "x"}, Cookie="").status == 401
    assert browser.request("POST", "/logout", {}).status == 200
    assert browser.request("GET", "/events").status == 401


def test_a_request_of_another_origin_is_refused(page: ServedPage) -> None:
    browser = page.log_in()
    cases: list[tuple[dict[str, str], str]] = [
        ({"Host": "evil.example"}, "not served under the host 'evil.example'; if that is your tunnel, start"),
        ({"Host": "127.0.0.1.evil.example"}, "not served under the host"),
        ({"Host": "[::bad"}, "not served under the host"),
        ({"Origin": "http://evil.example"}, "another origin"),
        ({"Origin": "http://127.0.0.1:1"}, "another origin"),
        ({"Origin": "null"}, "another origin"),
        ({"Origin": ""}, "names no origin"),
        ({"Sec_Fetch_Site": "cross-site"}, "another site"),
        ({"Sec_Fetch_Site": "same-site"}, "another site"),
        ({"Content_Type": "text/plain", "Transfer_Encoding": "chunked"}, "too long"),
    ]
    for headers, reason in cases:
        body = None if "Transfer_Encoding" in headers else {"offer": "x"}
        reply = browser.request("POST", "/answer", body, **headers)
        assert (reply.status, reason in reply.body.decode()) == (403, True), headers
        assert reason in logged()[-1]["reason"]


def test_reading_from_another_site_is_refused_but_following_a_link_opens_the_page(page: ServedPage) -> None:
    other = {"Sec_Fetch_Site": "cross-site"}
    assert page.log_in().request("GET", "/events", **other).status == 403
    assert page.request("GET", "/", **other, Sec_Fetch_Mode="navigate").status == 200
    assert page.request("GET", "/", Host="localhost:9").status == 200  # through a tunnel from another port
    assert page.request("POST", "/login", {"token": "x" * 70_000}).status == 403


def test_every_response_forbids_foreign_scripts_frames_and_caches(page: ServedPage) -> None:
    for path, status in (("/", 200), ("/page.js", 200), ("/events", 401), ("/nothing", 404)):
        reply = page.request("GET", path)
        assert reply.status == status
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self';" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "server" not in reply.headers
    cookie = page.request("POST", "/login", {"token": page.token}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    markup = page.request("GET", "/").body.decode()
    assert "<script>" not in markup
    assert "style=" not in markup


def test_an_answer_reaches_its_repository_once(scripted: Scripted, page: ServedPage) -> None:
    shop, other = scripted("shop"), scripted("other")
    for watcher in (shop, other):
        watcher.add_prompt(prompt("p1"))
    browsers = [page.log_in(), page.log_in(page.new_link())]
    wait_for_prompts(browsers[0], 2)
    offer = next(
        one["prompts"][0]["offer"] for one in browsers[1].state()["repositories"] if one["name"] == "shop"
    )

    replies = [
        browser.request("POST", "/answer", {"offer": offer, "decision": "allow"}) for browser in browsers
    ]

    assert [reply.status for reply in replies] == [200, 409]
    assert "nothing was sent" in replies[1].json()["error"]
    (answered,) = shop.requests_for("answer")
    assert (answered["prompt"], answered["decision"], answered["by"]) == ("p1", "allow", "web, browser 1")
    assert other.requests_for("answer") == []
    (line,) = [one for one in logged() if one["what"] == "answer"]
    assert (line["browser"], line["answer"], Path(line["repository"]).name) == (1, "allow", "shop")
    assert len(wait_for_prompts(browsers[1])) == 1


def test_an_approval_ends_with_its_prompt(scripted: Scripted, page: ServedPage) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1", body="ls"))
    browser = page.log_in()
    (shown,) = wait_for_prompts(browser)
    shop.add_prompt(prompt("p1", body="rm -rf ~"))
    wait_for(lambda: browser.prompts()[0]["lines"] == [[" ", "rm -rf ~"]], what="the other command")
    assert browser.request("POST", "/answer", {"offer": shown["offer"], "decision": "allow"}).status == 409
    (newer,) = browser.prompts()
    shop.withdraw("p1")
    wait_for(lambda: browser.prompts() == [], what="the end")
    assert browser.request("POST", "/answer", {"offer": newer["offer"], "decision": "allow"}).status == 409
    assert shop.requests_for("answer") == []


def test_an_answer_the_watcher_refuses_is_reported_and_can_be_given_again(
    scripted: Scripted, page: ServedPage
) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1"))
    shop.refuse["answer"] = Refusal("the dialog has gone", ExitCode.REFUSED, "Look at the pane.")
    browser = page.log_in()
    (shown,) = wait_for_prompts(browser)
    reply = browser.request("POST", "/answer", {"offer": shown["offer"], "decision": "deny"})
    assert (reply.status, reply.json()) == (
        409,
        {"error": "the dialog has gone", "hint": "Look at the pane."},
    )
    del shop.refuse["answer"]
    (again,) = browser.prompts()
    assert again["offer"] not in (None, shown["offer"])
    message = {"offer": again["offer"], "decision": "deny", "message": " not so "}
    assert browser.request("POST", "/answer", message).status == 200
    assert shop.requests_for("answer")[-1]["message"] == "not so"


def test_an_answer_to_a_prompt_that_was_not_shown_whole_or_does_not_fit_it_is_not_sent(
    scripted: Scripted, page: ServedPage
) -> None:
    shop = scripted("shop")
    browser = page.log_in()
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"kind": "unknown", "options": []}, {"decision": "allow"}, "does not recognise"),
        ({"kind": "unknown"}, {"decision": "deny"}, "does not recognise"),
        ({"cut": True}, {"decision": "allow"}, "not on the pane's screen"),
        ({"cut": True}, {"decision": "option", "option": 0}, "not on the pane's screen"),
        ({"body": "x\n" * 3000}, {"decision": "allow-always"}, "too long"),
        ({"body": f"ls {'x' * 3000}; rm -rf ~"}, {"decision": "allow"}, "too long"),
        ({"body": f"ls {chr(9) * 1000}; rm -rf ~"}, {"decision": "allow"}, "too long"),
        ({"question": f"Do you want to {'x' * 3000}?"}, {"decision": "allow"}, "too long"),
        ({}, {"decision": "option", "option": 9}, "no such option"),
        ({}, {"decision": "option", "option": "1"}, "no such option"),
        ({}, {"decision": "option", "option": True}, "no such option"),
        ({}, {"decision": "own"}, "invalid answer"),
        ({}, {"decision": "deny", "message": 3}, "invalid answer"),
        ({}, {"decision": "answers", "answers": []}, "each question"),
    ]
    for number, (fields, sent, why) in enumerate(cases):
        shop.add_prompt(prompt(f"p{number}", **fields))
        (shown,) = wait_for_prompts(browser)
        reply = browser.request("POST", "/answer", {"offer": shown["offer"], **sent})
        assert (reply.status in (400, 409), why in reply.json()["error"]) == (True, True), (fields, sent)
        if "no such option" in why:
            assert reply.json()["hint"] == "Reload the page."
        shop.withdraw(f"p{number}")
        wait_for_prompts(browser, 0)
    assert shop.requests_for("answer") == []


def test_a_command_read_from_the_screen_comes_before_the_words_about_it(
    scripted: Scripted, page: ServedPage, tmp_path: Path
) -> None:
    shop = scripted("shop")
    text = "Build it\n───\nmake\n───"
    shop.add_prompt(prompt("p1", body=text, input=None))
    shop.add_prompt(prompt("p2", body="", input={"command": text}))  # its own text is not taken apart
    shop.add_prompt(
        prompt("p3", kind="edit", tool="Edit", input=None, body="───\n 1 -a\n 1 +- b\n 2  -c\n───")
    )
    body = f" {tmp_path}/shop/a.py\n╌\n-╌\n+b\n  ╌\n╌"
    shop.add_prompt(prompt("p4", kind="edit", tool="Edit", input={"file_path": "a.py"}, body=body))
    described = "╌\n make &&\n   ls\n╌\n description: Build it\n   ╌"
    shop.add_prompt(prompt("p5", body=described, input={"command": "make"}))
    browser = page.log_in()
    drawn, named, edit, framed, bash = (one["lines"] for one in wait_for_prompts(browser, 5))
    assert bash == [[" ", "make &&"], [" ", "  ls"], ["=", "description: Build it"], ["=", "  ╌"]]
    assert framed == [[" ", "a.py"], ["-", "-╌"], ["+", "+b"], [" ", "  ╌"]]
    assert drawn == [[" ", "make"], ["=", "Build it"]]
    assert [line for _, line in named] == text.split("\n")
    assert [kind for kind, _ in edit] == ["-", "+", " "]


def test_a_prompt_too_long_to_show_can_be_denied(scripted: Scripted, page: ServedPage) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1", body="x\n" * 3000))
    browser = page.log_in()
    (shown,) = wait_for_prompts(browser)
    assert browser.request("POST", "/answer", {"offer": shown["offer"], "decision": "deny"}).status == 200
    assert len(shop.requests_for("answer")) == 1


def test_questions_are_answered_in_their_own_words(scripted: Scripted, page: ServedPage) -> None:
    shop = scripted("shop")
    questions = [
        {"question": "Which one?\u202e", "header": "One", "options": [{"label": "A\x1b"}, {"label": "B"}]},
        {"question": "What else?", "multiSelect": True, "options": [{"label": "C"}, {"label": "D"}]},
    ]
    shop.add_prompt(prompt("p1", kind="question", input={"questions": questions}))
    browser = page.log_in()
    (shown,) = wait_for_prompts(browser)
    assert [one["several"] for one in shown["questions"]] == [False, True]
    assert shown["questions"][0]["choices"][0]["label"] == "A␛"
    incomplete = {"offer": shown["offer"], "decision": "answers", "answers": [{"choices": [0]}, {}]}
    assert browser.request("POST", "/answer", incomplete).status == 400
    (shown,) = browser.prompts()
    answers = [{"choices": [0]}, {"choices": [1, 0], "text": " E "}]
    sent = {"offer": shown["offer"], "decision": "answers", "answers": answers}
    assert browser.request("POST", "/answer", sent).status == 200
    assert shop.requests_for("answer")[0]["answers"] == [
        {"question": "Which one?\u202e", "labels": ["A\x1b"], "text": None},
        {"question": "What else?", "labels": ["D", "C"], "text": "E"},
    ]


def test_hostile_text_is_made_visible_before_it_is_sent(scripted: Scripted, page: ServedPage) -> None:
    shop = scripted("shop")
    option = {"key": "1", "label": HOSTILE, "meaning": "allow"}
    shop.add_prompt(prompt("p1", title=HOSTILE, question=HOSTILE, body=HOSTILE, options=[option]))
    shop.add_action(
        entry(1, summary=HOSTILE, paths=[HOSTILE]), patch=f"diff --git a b\n@@ -1 +1 @@\n+{HOSTILE}\n"
    )
    browser = page.log_in()
    wait_for_prompts(browser)
    wait_for(lambda: browser.state()["repositories"][0]["actions"], what="the action")
    key = browser.state()["repositories"][0]["key"]
    patch = browser.request("GET", f"/action?repository={key}&id={entry(1)['id']}").json()["lines"]
    assert [kind for kind, _ in patch] == ["=", "@", "+"]
    shown = json.dumps(browser.state()["repositories"], ensure_ascii=False) + str(patch)
    assert not any(char in shown for char in "\x1b\x07\u202e\u200b")
    assert "␛]0;x␇<script>" in shown


def test_review_from_the_page_and_its_log(scripted: Scripted, page: ServedPage) -> None:
    shop = scripted("shop")
    shop.add_action(entry(1))
    browser = page.log_in()
    wait_for(
        lambda: [a for one in browser.state()["repositories"] for a in one["actions"]], what="the action"
    )
    key, name = browser.state()["repositories"][0]["key"], entry(1)["id"]
    shop.refuse["revert"] = Refusal("later actions touch the same lines: 2", ExitCode.CONFLICT)
    about = {"repository": key, "id": name}
    shop.patches[1] = None  # type: ignore[assignment]  # as a watcher of another version might answer
    reply = browser.request("GET", f"/action?repository={key}&id={name}").json()
    assert reply["error"] == "the watcher sent no patch"
    assert reply["hint"].startswith("Run `chorus stop` and try again")
    assert browser.request("POST", "/review", {"do": "revert", **about}).status == 409
    assert browser.request("POST", "/review", {"do": "land", **about}).status == 400
    assert browser.request("POST", "/review", {"do": "keep", "repository": "x", "id": name}).status == 409
    assert shop.requests_for("revert") == [{"actions": [name]}]
    assert [one.get("refused") for one in logged() if one["what"] == "revert"] == [
        "later actions touch the same lines: 2"
    ]


def test_a_read_only_page_shows_everything_and_changes_nothing(scripted: Scripted) -> None:
    shop = scripted("shop")
    shop.add_prompt(prompt("p1"))
    with serve_page("--read-only") as page:
        browser = page.log_in()
        (shown,) = wait_for_prompts(browser)
        assert shown["offer"] is None
        assert browser.state()["readOnly"]
        key = browser.state()["repositories"][0]["key"]
        for path, body in (
            ("/answer", {"offer": "x", "decision": "allow"}),
            ("/review", {"do": "keep", "repository": key, "id": "a"}),
        ):
            assert "read-only" in browser.request("POST", path, body).json()["error"]
    assert shop.requests_for("answer") == []


def test_a_tunnels_address_is_in_the_link() -> None:
    with serve_page("--url", "https://desk.example") as page:
        assert page.link.startswith("https://desk.example/#")


def chorus(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chorus", "inbox", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_wrong_options_are_errors_with_a_way_out(page: ServedPage, tmp_path: Path) -> None:
    taken = page.base.rpartition(":")[2]
    for words, why in (
        (["--web", "--port", taken], "Choose another port"),
        (["--web", "--port", "99999"], "is not a port number"),
        (["--web", "--bind", "0.0.0.0"], "add --url"),
        (["--web", "--url", "desk"], "Write https://"),
        (["--read-only"], "need --web"),
    ):
        done = chorus(*words)
        assert (done.returncode in (2, 4), why in done.stderr) == (True, True), done
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError('no uvicorn', name='uvicorn')\n")
    done = chorus("--web", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode == ExitCode.SYSTEM_ERROR
    assert "pip install 'chorus[web]'" in done.stderr


def test_an_address_that_others_can_reach_is_warned_of() -> None:
    assert [warn_of_listeners(name) for name in ("127.0.0.1", "::1", "localhost")] == [None] * 3
    for address in ("0.0.0.0", "192.168.1.2", "desk.example"):
        assert "not encrypted" in str(warn_of_listeners(address))


def test_a_qr_code_is_drawn_black_on_white() -> None:
    rows = list(render_qr("http://127.0.0.1:7717/#" + "x" * 43))
    assert len({len(row) for row in rows}) == 1
    assert all(row.startswith("\x1b[30;47m ") and row.endswith("\x1b[0m") for row in rows)
