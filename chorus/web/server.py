"""The page's server: it serves the page's files and live state, and passes the page's requests on.

Every request, except for the page's files and the login, must come from a browser that was let in by a link.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.inbox.live_inbox import LiveInbox
from chorus.inbox.repositories import mapping
from chorus.model.api.json_api import ActionJson
from chorus.web.access_log import AccessLog
from chorus.web.answers import RELOAD_HINT, parse_page_answer
from chorus.web.guard import Guard, address_of
from chorus.web.links import BROWSER_SECONDS, Links
from chorus.web.offers import Offers
from chorus.web.shown import shown_patch, shown_repositories
from chorus.wire.protocol import ProtocolError

PAGE = Path(__file__).parent / "page"
FILES = {"/": "index.html", "/page.js": "page.js", "/page.css": "page.css", "/icon.svg": "icon.svg"}
MEDIA_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
# Changes within this time are sent as one event.
GATHER_SECONDS = 0.02
# If nothing changes for this long, a stream sends a comment, to show that it is alive.
SILENCE_SECONDS = 15.0
KEY_HEADER = "chorus-key"
# What the page can do with an action -> the request to the watcher.
REVIEWS = {"keep": "keep", "reopen": "keep", "revert": "revert", "redo": "redo"}

Handler = Callable[[Request, int], Awaitable[Response]]  # with the number of the browser


class PageServer:
    """Serves the page. `announce`: shows a line to the user who started the server."""

    def __init__(
        self,
        links: Links,
        log: AccessLog,
        *,
        hosts: Iterable[str],
        cookie: str,
        read_only: bool,
        announce: Callable[[str], None],
    ) -> None:
        self._links = links
        self._log = log
        self._cookie = cookie
        self._read_only = read_only
        self._announce = announce
        self._inbox = LiveInbox(self._changed)
        self._offers = Offers()
        self._changes: set[asyncio.Event] = set()
        self.app = Guard(self._make_app(), hosts, self._refused)

    def stop(self) -> None:
        """End every stream, so that the server can end."""
        self._stopped = True
        self._changed()

    _stopped = False

    def _make_app(self) -> Starlette:
        files = [Route(path, _file_endpoint(PAGE / name)) for path, name in FILES.items()]
        routes = [
            Route("/login", self._login, methods=["POST"]),
            Route("/events", self._checked(self._events)),
            Route("/action", self._checked(self._action)),
            Route("/answer", self._checked(self._answer), methods=["POST"]),
            Route("/review", self._checked(self._review), methods=["POST"]),
            Route("/logout", self._checked(self._logout), methods=["POST"]),
        ]
        return Starlette(routes=[*files, *routes], lifespan=self._follow)

    @asynccontextmanager
    async def _follow(self, _: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(self._inbox.run())
        yield
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following

    def _changed(self) -> None:
        for event in self._changes:
            event.set()

    def _refused(self, reason: str, address: str) -> None:
        self._log.write("refused", browser=None, address=address, reason=reason)
        self._announce(f"refused a request from {address}: {reason}")

    def _checked(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Wrap a handler: refuse browsers that were not let in by a link, and turn errors into responses."""

        async def endpoint(request: Request) -> Response:
            browser = self._links.find(self._cookie_of(request), request.headers.get(KEY_HEADER, ""))
            if browser is None:
                self._log.write("refused", browser=None, address=address_of(request.scope), reason="no link")
                return _error(
                    "this browser has no access",
                    401,
                    "Press Enter where `chorus inbox --web` runs for a new link.",
                )
            try:
                return await handler(request, browser)
            except ChorusError as error:
                status = 400 if error.exit_code == ExitCode.USAGE else 409
                return _error(str(error), status, error.hint)

        return endpoint

    async def _login(self, request: Request) -> Response:
        token = (await _read_json(request)).get("token")
        address = address_of(request.scope)
        browser = self._links.use(token) if isinstance(token, str) else None
        if browser is None:
            self._log.write("refused", browser=None, address=address, reason="wrong link")
            self._announce(f"refused a link from {address}: it is invalid, expired or already used")
            return _error(
                "this link is invalid, expired or already used",
                403,
                "Press Enter where `chorus inbox --web` runs for a new link.",
            )
        self._log.write("opened", browser=browser.number, address=address)
        self._announce(f"browser {browser.number} opened the page from {address}")
        response = JSONResponse({"key": browser.key})
        response.set_cookie(
            self._cookie,
            browser.cookie,
            max_age=int(BROWSER_SECONDS),
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https:"),
        )
        return response

    async def _logout(self, request: Request, browser: int) -> Response:
        self._links.forget(self._cookie_of(request), request.headers.get(KEY_HEADER, ""))
        self._log.write("closed", browser=browser, address=address_of(request.scope))
        self._changed()
        response = JSONResponse({})
        response.delete_cookie(self._cookie)
        return response

    async def _events(self, request: Request, browser: int) -> Response:
        cookie, key = self._cookie_of(request), request.headers.get(KEY_HEADER, "")

        async def stream() -> AsyncIterator[str]:
            event, last = asyncio.Event(), ""
            self._changes.add(event)
            try:
                while not self._stopped and self._links.find(cookie, key) == browser:
                    event.clear()
                    state = self._render_state()
                    yield f"data: {state}\n\n" if state != last else ": alive\n\n"
                    last = state
                    with suppress(TimeoutError):
                        async with asyncio.timeout(SILENCE_SECONDS):
                            await event.wait()
                        await asyncio.sleep(GATHER_SECONDS)
            finally:
                self._changes.discard(event)

        return StreamingResponse(stream(), media_type="text/event-stream")

    def _render_state(self) -> str:
        repositories = self._inbox.repositories()
        self._offers.update({key: one["prompts"] for key, one in repositories.items()})
        shown = shown_repositories(repositories, self._offers, read_only=self._read_only)
        return json.dumps(
            {"repositories": shown, "readOnly": self._read_only, "problem": self._inbox.problem},
            separators=(",", ":"),
        )

    async def _answer(self, request: Request, browser: int) -> Response:
        sent = await self._read_change(request)
        name = sent.get("offer")
        address = address_of(request.scope)
        self._render_state()  # removes the offers of prompts that are gone
        offer = self._offers.take(name) if isinstance(name, str) else None
        if offer is None:
            self._log.write("refused", browser=browser, address=address, reason="no such prompt")
            return _error("this prompt was answered, changed or withdrawn; nothing was sent", 409)
        about = {"repository": self._path_of(offer.repository), "prompt": offer.prompt["title"]}
        about["answer"] = str(sent.get("decision"))
        try:
            arguments = parse_page_answer(offer.prompt, sent, by=f"web, browser {browser}")
            done = mapping(await self._inbox.request(offer.repository, "answer", arguments))
        except ChorusError as error:
            self._offers.renew(offer)
            self._changed()
            self._log.write("answer", browser=browser, address=address, **about, refused=str(error))
            raise
        self._log.write("answer", browser=browser, address=address, **about, how=done.get("how"))
        self._changed()
        return JSONResponse({"how": done.get("how")})

    async def _action(self, request: Request, browser: int) -> Response:
        """Return the patch of the action that the request names."""
        key, action = request.query_params.get("repository", ""), request.query_params.get("id", "")
        found = mapping(await self._inbox.request(key, "show", {"action": action, "cwd": self._path_of(key)}))
        if not isinstance(found.get("patch"), str):
            raise ProtocolError("the watcher sent no patch")
        return JSONResponse({"lines": shown_patch(cast(ActionJson, found))})

    async def _review(self, request: Request, browser: int) -> Response:
        """Keep, reopen, revert or redo the action that the request names."""
        sent = await self._read_change(request)
        do, key, action = sent.get("do"), sent.get("repository"), sent.get("id")
        if do not in REVIEWS or not isinstance(key, str) or not isinstance(action, str):
            raise UsageError("the page sent an invalid request", hint=RELOAD_HINT)
        arguments: dict[str, object] = {"actions": [action], "cwd": self._path_of(key)}
        if do == "reopen":
            arguments["undo"] = True
        about = {"repository": self._path_of(key), "action": action}
        address = address_of(request.scope)
        try:
            await self._inbox.request(key, REVIEWS[do], arguments)
        except ChorusError as error:
            self._log.write(do, browser=browser, address=address, **about, refused=str(error))
            raise
        self._log.write(do, browser=browser, address=address, **about)
        return JSONResponse({})

    async def _read_change(self, request: Request) -> dict[str, Any]:
        if self._read_only:
            raise UsageError("this page is read-only", hint="Start the inbox without --read-only.")
        return await _read_json(request)

    def _path_of(self, key: str) -> str | None:
        repository = self._inbox.repositories().get(key)
        return repository["path"] if repository else None

    def _cookie_of(self, request: Request) -> str:
        return request.cookies.get(self._cookie, "")


def _file_endpoint(path: Path) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(_: Request) -> Response:
        return FileResponse(path, media_type=MEDIA_TYPES[path.suffix])

    return endpoint


async def _read_json(request: Request) -> dict[str, Any]:
    try:
        return mapping(json.loads(await request.body()))
    except (ValueError, RecursionError):
        return {}


def _error(message: str, status: int, hint: str | None = None) -> Response:
    return JSONResponse({"error": message, "hint": hint}, status_code=status)
