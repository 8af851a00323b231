"""`chorus inbox --web` as a process of its own, and requests to it that need no browser."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class ServedPage:
    process: subprocess.Popen[str]
    link: str

    @property
    def base(self) -> str:
        return self.link.partition("/#")[0]

    @property
    def token(self) -> str:
        return urlsplit(self.link).fragment

    def new_link(self) -> str:
        """Press Enter in the terminal."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def request(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        """Send a request as the page itself would; a header that is given replaces the page's own."""
        netloc = urlsplit(self.base).netloc
        connection = http.client.HTTPConnection(netloc, timeout=20)
        sent = {"Host": netloc, **({"Origin": self.base} if method == "POST" else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if value}
        data = None if body is None else json.dumps(body).encode()
        connection.putrequest(method, path, skip_host=True)
        if data is not None:
            sent["Content-Length"] = str(len(data))
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(data)
        response = connection.getresponse()
        reply = Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, b"")
        if reply.headers.get("content-type", "").startswith("text/event-stream"):
            body_bytes = response.readline()
        else:
            body_bytes = response.read()
        connection.close()
        return Reply(reply.status, reply.headers, body_bytes)

    def log_in(self, link: str | None = None) -> "LoggedIn":
        reply = self.request("POST", "/login", {"token": urlsplit(link or self.link).fragment})
        assert reply.status == 200, reply
        return LoggedIn(self, reply.headers["set-cookie"].partition(";")[0], reply.json()["key"])


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """A browser that was let in, without the browser."""

    page: ServedPage
    cookie: str
    key: str

    def request(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        return self.page.request(
            method, path, body, **{"Cookie": self.cookie, "Chorus_Key": self.key, **headers}
        )

    def state(self) -> Any:
        reply = self.request("GET", "/events")
        assert reply.status == 200, reply
        return json.loads(reply.body.removeprefix(b"data: "))

    def prompts(self) -> list[Any]:
        return [prompt for one in self.state()["repositories"] for prompt in one["prompts"]]


@contextmanager
def serve_page(*options: str, **variables: str) -> Iterator[ServedPage]:
    process = subprocess.Popen(
        [sys.executable, "-m", "chorus", "inbox", "--web", "--port", "0", *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield ServedPage(process, process.stdout.readline().strip())
    finally:
        process.terminate()
        process.communicate(timeout=20)
