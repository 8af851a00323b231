"""NotebookEdit: one cell of a notebook replaced, inserted or deleted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.client_double.change import Change
from tests.client_double.file_io import read_text
from tests.client_double.values import Json, Outcome, failure

DONE = {"insert": "Inserted", "delete": "Deleted", "replace": "Updated"}


def plan_cell(arguments: Mapping[str, Any], known: bool) -> Change | Outcome:
    path, cell_id = Path(arguments["notebook_path"]), arguments.get("cell_id")
    source, mode = str(arguments["new_source"]), str(arguments.get("edit_mode", "replace"))
    kind = str(arguments.get("cell_type", "code"))
    decoded = read_text(path)
    if decoded is None:
        return failure("Notebook file does not exist.")
    try:
        notebook = json.loads(decoded.text)
        old_source = _edit(notebook["cells"], cell_id, source, kind, mode)
    except (ValueError, KeyError, TypeError):
        return failure("Notebook is not valid JSON.")
    if old_source is None:
        return failure(f'Cell with ID "{cell_id}" not found in notebook.')
    after = json.dumps(notebook, indent=1, ensure_ascii=False)
    result = {
        "new_source": source,
        **({"old_source": old_source} if mode == "replace" else {}),
        "cell_type": kind,
        "language": notebook.get("metadata", {}).get("language_info", {}).get("name", "python"),
        "edit_mode": mode,
        "cell_id": cell_id,
        "error": "",
        "notebook_path": str(path),
        "original_file": decoded.text,
        "updated_file": after,
    }
    text = f"{DONE.get(mode, 'Updated')} cell {cell_id}" + ("" if mode == "delete" else f" with {source}")
    return Change(path, decoded.text, after, decoded.encode(after), text, result)


def _edit(cells: list[Json], cell_id: object, source: str, kind: str, mode: str) -> str | None:
    """Change the cells; give the cell's old text, or None when there is no such cell."""
    place = next((at for at, cell in enumerate(cells) if cell.get("id") == cell_id), None)
    if mode == "insert":
        fresh: Json = {"cell_type": kind, "id": "new", "metadata": {}, "source": source}
        cells.insert(0 if place is None else place + 1, fresh)
        return ""
    if place is None:
        return None
    old = "".join(cells[place]["source"])
    if mode == "delete":
        del cells[place]
    else:
        cells[place]["source"] = source
    return old
