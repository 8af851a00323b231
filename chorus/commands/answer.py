"""`chorus answer`: answer the agent's questions, with choices or in your own words."""

import argparse

from chorus.commands.access.answers import add_prompt_arguments, give_answer
from chorus.errors import ExitCode, UsageError
from chorus.model.api.json_api import PromptJson
from chorus.model.api.requests import AnswerChoice, QuestionArgument

EXAMPLES = (
    ("chorus answer ID 2", "choose the second option"),
    ("chorus answer ID Red Blue", "choose two options by label"),
    ("chorus answer ID --text 'neither'", "answer in your own words"),
    ("chorus answer ID --to Colour Red --say Size '12 cm'", "answer two questions"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    add_prompt_arguments(parser)
    parser.add_argument(
        "choices",
        nargs="*",
        default=[],
        metavar="CHOICE",
        help="for a single question: one or more labels, or their numbers",
    )
    parser.add_argument("--text", metavar="TEXT", help="for a single question: an answer in your own words")
    parser.add_argument(
        "--to",
        nargs="+",
        action="append",
        default=[],
        metavar=("QUESTION", "CHOICE"),
        help="for several questions: one or more choices for QUESTION (its text or heading)",
    )
    parser.add_argument(
        "--say",
        nargs=2,
        action="append",
        default=[],
        metavar=("QUESTION", "TEXT"),
        help="for several questions: an answer to QUESTION in your own words",
    )


def run(args: argparse.Namespace) -> ExitCode:
    if bool(args.choices) + bool(args.text) + bool(args.to or args.say) != 1:
        raise UsageError(
            "give choices, --text, or one --to or --say for each question",
            hint="Run `chorus prompts` to see the question and its choices.",
        )

    def decide(prompt: PromptJson) -> AnswerChoice:
        return {"decision": "answers", "answers": build_answers(prompt, args)}

    def ready(prompt: PromptJson) -> bool:
        """Return True if all questions are known, or if only the question on the screen is answered."""
        return bool(prompt.get("input")) or not (args.to or args.say)

    return give_answer(args, decide, ready=ready)


def build_answers(prompt: PromptJson, args: argparse.Namespace) -> list[QuestionArgument]:
    """Return the answers to the known questions, in their order, then the answers to other questions."""
    if prompt["kind"] != "question":
        raise UsageError(
            f"{prompt['title']} is not a question", hint="Use `chorus approve` or `chorus deny`."
        )
    questions = list_questions(prompt)
    if not args.to and not args.say:
        if len(questions) != 1:
            raise UsageError(
                f"there are {len(questions)} questions: {', '.join(heading for heading, _, _ in questions)}",
                hint="Answer each with --to QUESTION CHOICE or --say QUESTION TEXT.",
            )
        return [_answer(questions[0][1], questions[0][2], args.choices, args.text)]
    given = {words[0]: (words[1:], None) for words in args.to} | {name: ([], text) for name, text in args.say}
    asked = (prompt.get("input") or {}).get("questions") or ()
    optional = {one["question"] for one in asked if one.get("optional")}
    answers = []
    for heading, question, labels in questions:
        name = question if question in given else heading
        if name not in given:
            if question in optional:
                continue
            raise UsageError(
                f"no answer to {heading}: {question}", hint="Answer every question that is not optional."
            )
        choices, text = given.pop(name)
        answers.append(_answer(question, labels, choices, text))
    # The session may not have reported all questions yet: the user names the others.
    return answers + [_answer(name, [], choices, text) for name, (choices, text) in given.items()]


def list_questions(prompt: PromptJson) -> list[tuple[str, str, list[str]]]:
    """Return the heading, text and labels of every known question."""
    questions = (prompt.get("input") or {}).get("questions")
    if not questions:
        labels = [option["label"] for option in prompt["options"]]
        return [(prompt["title"], prompt["question"], labels)]
    return [
        (
            question.get("header", ""),
            question["question"],
            [option["label"] for option in question["options"]],
        )
        for question in questions
    ]


def _answer(question: str, labels: list[str], choices: list[str], text: str | None) -> QuestionArgument:
    """Make the answer to one question. Each choice is a label or, if no label matches, a position."""
    named = [
        labels[int(choice) - 1]
        if choice.isdigit() and choice not in labels and 0 < int(choice) <= len(labels)
        else choice
        for choice in choices
    ]
    return {"question": question, "labels": named, "text": text}
