"""An MCP server for the client: one tool, `keep`, that writes a file. Speaks JSON-RPC on stdio."""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "keep",
    "description": "Keep a text in a file",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}},
}


def answer(method: str, given: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            about = {"name": "notes", "version": "1"}
            capabilities: dict[str, Any] = {"tools": {}}
            version = given["protocolVersion"]
            return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": about}
        case "tools/list":
            return {"tools": [TOOL]}
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
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
