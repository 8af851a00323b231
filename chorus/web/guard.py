"""The checks every request must pass before anything else looks at it, and the headers of every response.

The Host header must name a host of the page, so that another site cannot use DNS rebinding. Other origins and
long bodies are refused too.
"""

from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Enough for a message to the agent; nothing else that the page sends is long.
MAX_BODY_BYTES = 64 * 1024

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}

# Called with the reason of a refusal and the address that the request came from.
Refused = Callable[[str, str], None]


class Guard:
    def __init__(self, app: ASGIApp, hosts: Iterable[str], refused: Refused) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        if reason := self._reason(Headers(scope=scope), scope["method"]):
            self._refused(reason, address_of(scope))
            await PlainTextResponse(f"{reason}\n", status_code=403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _reason(self, headers: Headers, method: str) -> str | None:
        """Return the reason for refusing a request, or None to let it pass."""
        host = headers.get("host", "")
        if host_name(host) not in self._hosts:
            # A command with this host, which any site chooses, would be unsafe to copy.
            return (
                f"the page is not served under the host {host[:100]!r}; "
                "if that is your tunnel, start the inbox with `--url https://HOST`"
            )
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return f"the request comes from another origin: {origin[:100]!r}"
        if method != "GET" and origin is None:
            return "the request names no origin"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            # A link on another site may open the page: the page's own files hold no data.
            opens = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
            if not opens:
                return "the request comes from another site"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES or "transfer-encoding" in headers:
            return "the request is too long, or does not give its length"
        return None


def host_name(host: str) -> str | None:
    """Return the host in a Host header without the port, which a tunnel may change. None if it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def address_of(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
        await send(message)

    return send_with_headers
