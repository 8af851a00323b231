"""An MCP server with three tools: `add`, `city`, which asks the user for a city, and `trip`, for more."""

import json
import sys
from typing import Any

NUMBERS = {"a": {"type": "number"}, "b": {"type": "number"}}
TOOLS = [
    {"name": "add", "description": "Add", "inputSchema": {"type": "object", "properties": NUMBERS}},
    {"name": "city", "description": "Ask", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "trip", "description": "Ask", "inputSchema": {"type": "object", "properties": {}}},
]
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Which city?"}},
    "required": ["city"],
}

TRIP = {
    "type": "object",
    "properties": {
        **FORM["properties"],
        "count": {"type": "integer", "title": "How many", "minimum": 1, "maximum": 9},
        "size": {"type": "string", "enum": ["small", "large"], "title": "Size"},
        "sure": {"type": "boolean", "title": "Sure?"},
    },
    "required": ["city"],
}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(value)}], "isError": False}


def main() -> None:
    call: object = None
    for line in sys.stdin:
        match json.loads(line):
            case {"method": "initialize", "id": identity, "params": {"protocolVersion": version}}:
                about = {"name": "asking", "version": "1"}
                capabilities: dict[str, Any] = {"tools": {}}
                result = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": about}
                send(id=identity, result=result)
            case {"method": "tools/list", "id": identity}:
                send(id=identity, result={"tools": TOOLS})
            case {"method": "tools/call", "id": identity, "params": {"name": "add", "arguments": given}}:
                send(id=identity, result=text(given["a"] + given["b"]))
            case {"method": "tools/call", "id": identity, "params": {"name": name}}:
                call = identity
                form = TRIP if name == "trip" else FORM
                params = {"message": "I need a city.", "requestedSchema": form}
                send(id="form", method="elicitation/create", params=params)
            case {"id": "form", **reply}:
                send(id=call, result=text(json.dumps(reply.get("result"))))


if __name__ == "__main__":
    main()
