"""`chorus inbox --web`: serve the page until interrupted, and print links that open it."""

import asyncio
import ipaddress
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import segno
import uvicorn

from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.output import Styled, print_err, print_out, style
from chorus.web.access_log import AccessLog, access_log_path
from chorus.web.guard import LOOPBACK
from chorus.web.links import LINK_SECONDS, Links
from chorus.web.server import PageServer

DEFAULT_PORT = 7717
# Streams end by themselves at once; nothing else takes long.
STOP_SECONDS = 2
# Black on white in every terminal, because a camera may not recognise inverted colours.
QR_COLOURS = "30;47"
QR_BORDER = 2


class CannotListen(ChorusError):
    hint = "Choose another port with --port, or another address with --bind."


@dataclass(frozen=True, slots=True)
class WebSettings:
    """How to serve the page. `port`: None for the default or any free port. `url`: a tunnel's address."""

    address: str = "127.0.0.1"
    port: int | None = None
    url: str | None = None
    read_only: bool = False


def run_web(settings: WebSettings) -> ExitCode:
    hosts = [*LOOPBACK, *_other_hosts(settings)]
    listener = _listen(settings)
    port = listener.getsockname()[1]
    links = Links(time.monotonic)
    server = PageServer(
        links,
        AccessLog(access_log_path()),
        hosts=hosts,
        cookie=f"chorus-{port}",
        read_only=settings.read_only,
        announce=lambda line: print_err(f"chorus: {line}"),
    )
    base = settings.url.rstrip("/") if settings.url else f"http://{_in_url(settings.address)}:{port}"
    if warning := warn_of_listeners(settings.address):
        print_err(f"chorus: warning: {warning}")
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(server, listener, lambda: print_link(f"{base}/#{links.make()}")))
    return ExitCode.OK


async def _serve(server: PageServer, listener: socket.socket, new_link: Callable[[], None]) -> None:
    config = uvicorn.Config(
        server.app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    web = _Web(config, server.stop)
    serving = asyncio.create_task(web.serve(sockets=[listener]))
    new_link()
    loop = asyncio.get_running_loop()

    def read_input() -> None:
        if sys.stdin.readline():
            new_link()
        else:
            loop.remove_reader(sys.stdin)

    with suppress(OSError, ValueError):  # input that cannot be waited for, such as a file
        loop.add_reader(sys.stdin, read_input)
    await serving


class _Web(uvicorn.Server):
    """A server that ends its streams before it waits for its connections to close."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def print_link(link: str) -> None:
    print_out(link)
    if sys.stdout.isatty():
        print_out(*render_qr(link))
        minutes = int(LINK_SECONDS / 60)
        print_err(
            f"The link works once, within {minutes} minutes. Press Enter for another link, Ctrl-C to stop."
        )
    sys.stdout.flush()


def render_qr(text: str) -> Iterator[Styled]:
    """Draw a QR code with half blocks, so that one row of the terminal shows two rows of the code."""
    rows = [
        [bool(cell) for cell in row] for row in segno.make_qr(text, error="l").matrix_iter(border=QR_BORDER)
    ]
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    for above, below in zip(rows[::2], rows[1::2], strict=True):
        line = "".join(" ▀▄█"[up + 2 * down] for up, down in zip(above, below, strict=True))
        yield style(line, code=QR_COLOURS)


def _other_hosts(settings: WebSettings) -> list[str]:
    if settings.url is not None:
        parts = urlsplit(settings.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            raise UsageError(
                f"--url {settings.url!r} is not the address of a host", hint="Write https://HOST[:PORT]."
            )
        return [parts.hostname, settings.address]
    with suppress(ValueError):
        if ipaddress.ip_address(settings.address).is_unspecified:
            raise UsageError(
                f"--bind {settings.address} listens on every address, so Chorus cannot build a link",
                hint="Bind one address, or add --url.",
            )
    return [settings.address]


def _listen(settings: WebSettings) -> socket.socket:
    ports = (DEFAULT_PORT, 0) if settings.port is None else (settings.port,)
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    error: OSError | None = None
    for port in ports:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.address, port))
            listener.listen()  # the link is printed before the server has started
        except (OSError, OverflowError) as failed:
            listener.close()
            error = failed if isinstance(failed, OSError) else OSError(str(failed))
        else:
            return listener
    assert error is not None
    place = settings.address if settings.port is None else f"{settings.address}, port {settings.port}"
    raise CannotListen(f"cannot listen at {place}: {error.strerror or error}")


def warn_of_listeners(address: str) -> str | None:
    """Return a warning if other machines can reach the address; None if only this machine can."""
    with suppress(ValueError):
        if address == "localhost" or ipaddress.ip_address(address).is_loopback:
            return None
    return (
        f"{address} can be reached by others, and the page is not encrypted: anyone who reads the traffic "
        "can answer your prompts. Use a tunnel instead; see docs/guide.md."
    )


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address
