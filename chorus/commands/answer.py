"""`chorus answer`: answer what the model asks, with choices or with words of your own."""

import argparse
from typing import Any

from chorus.commands.approve import give_answer
from chorus.errors import ExitCode, UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="ID", help="which prompt, as `chorus prompts` names it")
    parser.add_argument(
        "choices",
        nargs="*",
        default=[],
        metavar="CHOICE",
        help="to the one question: a label or its number; or several",
    )
    parser.add_argument("--text", metavar="WORDS", help="to the one question: words of your own")
    parser.add_argument(
        "--to",
        nargs="+",
        action="append",
        default=[],
        metavar=("QUESTION", "CHOICE"),
        help="of several questions: the choices for this one, named by its text or its heading",
    )
    parser.add_argument(
        "--say",
        nargs=2,
        action="append",
        default=[],
        metavar=("QUESTION", "WORDS"),
        help="of several questions: words of your own for this one",
    )
    parser.add_argument("--fingerprint", metavar="HASH", help="refuse unless the prompt is this very one")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    if bool(args.choices) + bool(args.text) + bool(args.to or args.say) != 1:
        raise UsageError(
            "say one thing: choices, --text, or one --to or --say for each question",
            hint="`chorus prompts` shows the question and its choices.",
        )

    def decide(prompt: dict[str, Any]) -> dict[str, Any]:
        return {"decision": "answers", "answers": render_replies(prompt, args)}

    def known(prompt: dict[str, Any]) -> bool:
        """The screen shows the first of several questions only; the session tells of the others."""
        return bool(prompt.get("input")) or not (args.to or args.say)

    return give_answer(args, decide, known=known)


def render_replies(prompt: dict[str, Any], args: argparse.Namespace) -> list[dict[str, Any]]:
    """The replies in the order of the questions, each with the question's own text."""
    if prompt["kind"] != "question":
        raise UsageError(f"{prompt['title']} asks no question", hint="Use `chorus approve` or `chorus deny`.")
    asked = read_asked(prompt)
    if not args.to and not args.say:
        if len(asked) != 1:
            raise UsageError(
                f"{len(asked)} questions are asked: {', '.join(name for name, _, _ in asked)}",
                hint="Answer each with --to QUESTION CHOICE or --say QUESTION WORDS.",
            )
        return [_reply(asked[0][1], asked[0][2], args.choices, args.text)]
    given = {words[0]: (words[1:], None) for words in args.to} | {
        name: ([], words) for name, words in args.say
    }
    replies = []
    for heading, question, labels in asked:
        name = question if question in given else heading
        if name not in given:
            raise UsageError(f"no reply to {heading}: {question}", hint="Every question needs a reply.")
        choices, words = given.pop(name)
        replies.append(_reply(question, labels, choices, words))
    # What the session has not told of the others, only the person knows.
    return replies + [_reply(name, [], choices, words) for name, (choices, words) in given.items()]


def read_asked(prompt: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    """Heading, text and labels of every question that is known."""
    questions = (prompt.get("input") or {}).get("questions")
    if not questions:
        labels = [option["label"] for option in prompt["options"]]
        return [(prompt["title"], prompt["question"], labels)]
    return [
        (one.get("header", ""), one["question"], [option["label"] for option in one["options"]])
        for one in questions
    ]


def _reply(question: str, labels: list[str], choices: list[str], words: str | None) -> dict[str, Any]:
    """A number stands for the label at that place, unless it is a label itself."""
    named = [
        labels[int(choice) - 1]
        if choice.isdigit() and choice not in labels and 0 < int(choice) <= len(labels)
        else choice
        for choice in choices
    ]
    return {"question": question, "labels": named, "text": words}
