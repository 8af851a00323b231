"""Give an answer to a prompt, and show the answers in the audit log."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chorus.commands.access.prompts import find_chosen_label, find_prompt, render_channel
from chorus.commands.access.watcher import open_watcher, open_watcher_of
from chorus.errors import ExitCode
from chorus.output import print_json, print_out
from chorus.wire.client import Connection
from chorus.wire.home import find_home

if TYPE_CHECKING:
    from chorus.model.api.json_api import AnswerJson, AuditEntryJson, PromptJson
    from chorus.model.api.requests import AnswerChoice

# The client writes a question to its transcript just after drawing it, or much later on a busy machine.
DETAILS_TIMEOUT_SECONDS = 5.0
POLL_SECONDS = 0.05
VERBS = {"allow": "approved", "allow-always": "approved", "deny": "denied"}
# The name of an answer in the audit log -> the meaning of its option.
MEANINGS = {"allow": "allow", "allow always": "allow-always", "deny": "deny"}


def add_prompt_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "prompt",
        metavar="ID",
        help="the prompt's id, from `chorus prompts`; REPOSITORY:ID for another repository",
    )
    parser.add_argument(
        "--fingerprint",
        metavar="HASH",
        help="answer only if the prompt still has this fingerprint (for scripts)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def give_answer(
    args: argparse.Namespace,
    decide: Callable[[PromptJson], AnswerChoice],
    *,
    ready: Callable[[PromptJson], bool] | None = None,
) -> ExitCode:
    """Answer the prompt, and print what was sent.

    If `ready` is given, wait until `ready(prompt)` is True, but at most DETAILS_TIMEOUT_SECONDS.
    """
    repository, _, name = args.prompt.rpartition(":")
    with open_watcher_of(repository) if repository else open_watcher() as connection:
        if ready is None:
            prompt = find_prompt(connection.ask("prompts"), name)
        else:
            prompt = _wait_for_details(connection, name, ready)
        fingerprint = args.fingerprint or prompt["fingerprint"]
        decided = decide(prompt)
        done = connection.ask("answer", prompt=prompt["id"], fingerprint=fingerprint, **decided)
    if args.json:
        print_json({**done, "prompt": prompt["id"]})
    else:
        print_out(render_answer(prompt, decided["decision"], done))
    return ExitCode.OK


def render_answer(prompt: PromptJson, decision: str, done: AnswerJson) -> str:
    means = f"with key {done['key']}" if done["key"] else render_channel(done["how"])
    label = find_chosen_label(prompt, decision, done["key"]) if decision in (*VERBS, "option") else None
    verb = VERBS.get(decision, "answered")
    return f"{verb} {prompt['title']}: {prompt['question']} {means}" + (f": {label}" if label else "")


def read_answers(limit: int | None) -> list[AuditEntryJson]:
    """Return the newest `limit` entries of the audit log, oldest first; all entries if `limit` is None."""
    from chorus.watcher.prompts.audit_log import AuditLog, audit_path  # noqa: PLC0415  only `log --prompts`

    entries: Any = AuditLog(audit_path(find_home(Path.cwd()))).read()
    return list(entries if limit is None else entries[-limit:])


def render_answers(entries: Sequence[AuditEntryJson]) -> Iterator[str]:
    for entry in entries:
        prompt = entry["prompt"]
        where = f"pane {prompt['pane']}" if prompt["pane"] else "no pane"
        head = f"{entry['time'][:19]}  {entry['answer']}  by {entry['by']}"
        yield f"{head}  ({_render_means(entry)}, {where})"
        about = prompt["body"].split("\n", 1)[0].strip()
        yield f"  {prompt['title']}: {prompt['question']}" + (f"  | {about}" if about else "")
        if entry["refused"]:
            yield f"  refused: {entry['refused']}"
        elif label := _chosen_label(entry):
            yield f"  > {label}"


def _render_means(entry: AuditEntryJson) -> str:
    if entry["how"] != "keys":
        return render_channel(entry["how"] or "")
    return f"keys {' '.join(entry['keys'])}" if entry["keys"] else "no key"


def _chosen_label(entry: AuditEntryJson) -> str | None:
    """Return the label of the chosen option; None if it is not known."""
    decision = entry["answer"].partition(":")[0]
    if decision in MEANINGS:
        key = entry["keys"][0] if entry["keys"] else None
        return find_chosen_label(entry["prompt"], MEANINGS[decision], key)
    key = decision.removeprefix("option ")
    return find_chosen_label(entry["prompt"], "", key) if key != decision else None


def _wait_for_details(connection: Connection, name: str, ready: Callable[[PromptJson], bool]) -> PromptJson:
    deadline = time.monotonic() + DETAILS_TIMEOUT_SECONDS
    while True:
        connection.ask("sync")
        prompt = find_prompt(connection.ask("prompts"), name)
        if ready(prompt) or time.monotonic() > deadline:
            return prompt
        time.sleep(POLL_SECONDS)
