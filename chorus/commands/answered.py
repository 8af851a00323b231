"""What was answered to prompts, by whom or by which rule, with which keys: `chorus log --prompts`."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chorus.commands.access.prompts import find_chosen_label, render_channel
from chorus.commands.terminal.pager import page
from chorus.errors import ExitCode
from chorus.output import print_err, print_json
from chorus.text.sanitize import printable
from chorus.watcher.prompts.audit_log import AuditLog, audit_path
from chorus.wire.home import find_home

# What an answer is called in the audit, and what an option that means it is called in a prompt.
MEANINGS = {"allow": "allow", "allow always": "allow-always", "deny": "deny"}


def list_answered(args: argparse.Namespace) -> ExitCode:
    """Read off the disk: it needs no watcher."""
    entries: list[Any] = AuditLog(audit_path(find_home(Path.cwd()))).read()
    if args.limit is not None:
        entries = entries[-args.limit :] if args.limit > 0 else []
    if args.json:
        print_json(entries)
    elif entries:
        page(render_answers(entries), "log")
    else:
        print_err("chorus: no prompt has been answered from here")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def render_answers(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        prompt = entry["prompt"]
        where = f"pane {prompt['pane']}" if prompt["pane"] else "no pane"
        yield printable(
            f"{entry['time'][:19]}  {entry['answer']}  by {entry['by']}  ({_way(entry)}, {where})"
        )
        about = prompt["body"].split("\n", 1)[0].strip()
        yield printable(f"  {prompt['title']}: {prompt['question']}" + (f"  | {about}" if about else ""))
        if entry["refused"]:
            yield printable(f"  refused: {entry['refused']}")
        elif label := _choice(entry):
            yield printable(f"  > {label}")


def _way(entry: dict[str, Any]) -> str:
    if entry["how"] != "keys":
        return render_channel(entry["how"])
    return f"keys {' '.join(entry['keys'])}" if entry["keys"] else "no key"


def _choice(entry: dict[str, Any]) -> str | None:
    """Which option was taken, in the dialog's words; what was replied to questions stands there already."""
    said = entry["answer"].partition(":")[0]
    if said in MEANINGS:
        return find_chosen_label(entry["prompt"], MEANINGS[said], entry["keys"][0] if entry["keys"] else None)
    key = said.removeprefix("option ")
    return find_chosen_label(entry["prompt"], "", key) if key != said else None
