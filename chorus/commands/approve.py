"""`chorus approve`: say yes to the prompt that waits, with the one key its label calls for."""

import argparse
import time
from collections.abc import Callable
from typing import Any

from chorus.commands.access.history import watcher
from chorus.commands.access.prompts import find_chosen_label, find_prompt, render_channel
from chorus.errors import ChorusError, ExitCode
from chorus.output import print_json, print_out
from chorus.text.sanitize import printable
from chorus.wire.client import Connection

# The client writes down what it asks a moment after it has drawn it, or much later on a busy machine.
HEARING_SECONDS = 5.0
# What was done, in a word.
DEEDS = {"allow": "approved", "allow-always": "approved", "deny": "denied"}
LOOK_SECONDS = 0.05


class AnswerRequired(ChorusError):
    """A yes is no answer to it."""

    exit_code = ExitCode.REFUSED
    hint = "Answer it with `chorus answer ID CHOICE`, or take an option with `--option KEY`."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="ID", help="which prompt, as `chorus prompts` names it")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--always", action="store_true", help="and change what is asked from now on, as the dialog offers"
    )
    how.add_argument("--option", metavar="KEY", help="take the option listed under this key")
    parser.add_argument("--fingerprint", metavar="HASH", help="refuse unless the prompt is this very one")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    decision = "allow-always" if args.always else "option" if args.option else "allow"

    def decide(prompt: dict[str, Any]) -> dict[str, Any]:
        if prompt["kind"] == "question" and not args.option:
            raise AnswerRequired(f"{prompt['title']} asks a question: {prompt['question']}")
        return {"decision": decision, "option": args.option}

    return give_answer(args, decide)


def give_answer(
    args: argparse.Namespace,
    decide: Callable[[dict[str, Any]], dict[str, Any]],
    *,
    known: Callable[[dict[str, Any]], bool] | None = None,
) -> ExitCode:
    """Answer the prompt as it is now, or the one the fingerprint names; `known`: once this is so."""
    with watcher() as connection:
        if known is None:
            prompt = find_prompt(connection.ask("prompts"), args.prompt)
        else:
            prompt = _hear_of(connection, args.prompt, known)
        fingerprint = args.fingerprint or prompt["fingerprint"]
        decided = decide(prompt)
        done = connection.ask("answer", prompt=prompt["id"], fingerprint=fingerprint, **decided)
    if args.json:
        print_json({**done, "prompt": prompt["id"]})
    else:
        print_out(printable(render_done(prompt, decided["decision"], done)))
    return ExitCode.OK


def render_done(prompt: dict[str, Any], decision: str, done: dict[str, Any]) -> str:
    """What was answered, how, and with which of the choices, in the dialog's own words."""
    way = f"with {done['key']}" if done["key"] else render_channel(done["how"])
    label = find_chosen_label(prompt, decision, done["key"]) if decision in (*DEEDS, "option") else None
    deed = DEEDS.get(decision, "answered")
    return f"{deed} {prompt['title']}: {prompt['question']} {way}" + (f": {label}" if label else "")


def _hear_of(connection: Connection, name: str, known: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The prompt with what the session tells of it besides its screen."""
    deadline = time.monotonic() + HEARING_SECONDS
    while True:
        connection.ask("sync")
        prompt = find_prompt(connection.ask("prompts"), name)
        if known(prompt) or time.monotonic() > deadline:
            return prompt
        time.sleep(LOOK_SECONDS)
