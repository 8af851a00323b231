"""An MCP server for the client. Speaks JSON-RPC on stdio.

`keep` writes a file; `confirm` asks the user with two buttons, `name` with a field, `visit` to open a page.
"""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "keep",
    "description": "Keep a text in a file",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}},
}
FORMS: dict[str, dict[str, Any]] = {
    "confirm": {"message": "Shall it be so?", "requestedSchema": {"type": "object", "properties": {}}},
    "name": {
        "message": "What is its name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    },
    "visit": {
        "mode": "url",
        "message": "Please sign in.",
        "url": "http://127.0.0.1:9/sign-in",
        "elicitationId": "1",
    },
}
ASKING = [
    {"name": name, "description": "Ask the user", "inputSchema": {"type": "object", "properties": {}}}
    for name in FORMS
]


def ask_user(form: dict[str, Any]) -> str:
    """Ask with a form; return what the user did with it."""
    send({"id": "form", "method": "elicitation/create", "params": form})
    for line in sys.stdin:
        reply = json.loads(line)
        if reply.get("id") == "form":
            return str(reply["result"]["action"])
    return "nothing"


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(method: str, given: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            about = {"name": "notes", "version": "1"}
            capabilities: dict[str, Any] = {"tools": {}}
            version = given["protocolVersion"]
            return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": about}
        case "tools/list":
            return {"tools": [TOOL, *ASKING]}
        case "tools/call" if given["name"] in FORMS:
            return {"content": [{"type": "text", "text": f"the user did: {ask_user(FORMS[given['name']])}"}]}
        case "tools/call":
            Path(given["arguments"]["path"]).write_text(given["arguments"]["text"], encoding="utf-8")
            return {"content": [{"type": "text", "text": "kept"}]}
        case _:
            return {}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params", {}))
            send({"id": request["id"], "result": result})


if __name__ == "__main__":
    main()
