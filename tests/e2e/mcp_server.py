"""An MCP server for the client: `keep` writes a file, `confirm` asks the user. Speaks JSON-RPC on stdio."""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "keep",
    "description": "Keep a text in a file",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}},
}
CONFIRM = {
    "name": "confirm",
    "description": "Ask the user",
    "inputSchema": {"type": "object", "properties": {}},
}
FORM = {"message": "Shall it be so?", "requestedSchema": {"type": "object", "properties": {}}}


def ask_user() -> str:
    """Ask with a form; return what the user did with it."""
    send({"id": "form", "method": "elicitation/create", "params": FORM})
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
            return {"tools": [TOOL, CONFIRM]}
        case "tools/call" if given["name"] == "confirm":
            return {"content": [{"type": "text", "text": f"the user did: {ask_user()}"}]}
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
