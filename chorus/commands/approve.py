"""`chorus approve`: approve a pending prompt, or choose one of its options."""

import argparse

from chorus.commands.access.answers import add_prompt_arguments, give_answer
from chorus.errors import ChorusError, ExitCode
from chorus.model.api.json_api import PromptJson
from chorus.model.api.requests import AnswerChoice, Decision

ABOUT = """\
Nothing is sent if the prompt has changed or was answered in the meantime."""
EXAMPLES = (
    ("chorus approve ID", "approve once"),
    ("chorus approve ID --always", "choose the dialog's \"don't ask again\" option"),
    ("chorus approve ID --option 2", "choose the option with key 2"),
)


class AnswerRequired(ChorusError):
    """The prompt asks a question, which cannot be approved."""

    exit_code = ExitCode.REFUSED
    hint = "Answer it with `chorus answer ID CHOICE`, or choose an option with `--option KEY`."


def configure(parser: argparse.ArgumentParser) -> None:
    add_prompt_arguments(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--always", action="store_true", help="choose the dialog's \"don't ask again\" option")
    how.add_argument("--option", metavar="KEY", help="choose the option with this key")


def run(args: argparse.Namespace) -> ExitCode:
    decision: Decision = "allow-always" if args.always else "option" if args.option else "allow"

    def decide(prompt: PromptJson) -> AnswerChoice:
        if prompt["kind"] == "question" and not args.option:
            raise AnswerRequired(f"{prompt['title']} asks a question: {prompt['question']}")
        return {"decision": decision, "option": args.option}

    return give_answer(args, decide)
