"""An http hook: the JSON is posted, and the body of the response is its output."""

import http.client
from urllib.parse import urlsplit

from tests.client_double.settings import Hook

FAILED = 400


def post(hook: Hook, data: str) -> tuple[str, str | None]:
    """The body of the response, and the error if there was one."""
    address = urlsplit(hook.target)
    connection = http.client.HTTPConnection(address.netloc, timeout=hook.timeout_seconds)
    headers = {"Content-Type": "application/json", **dict(hook.headers)}
    try:
        connection.request("POST", address.path or "/", data.encode(), headers)
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace")
    except ConnectionRefusedError:
        return "", f"connect ECONNREFUSED {address.netloc}"
    except (OSError, http.client.HTTPException) as error:
        return "", str(error)
    finally:
        connection.close()
    return body, None if answer.status < FAILED else f"HTTP {answer.status}"
