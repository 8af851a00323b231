"""The reference of all commands as data, read from their parsers: for completion and for the docs.

The reference does not depend on the version of Python, unlike argparse's own help output.
"""

import argparse
from dataclasses import dataclass, replace

from chorus.commands.parser.catalog import COMMANDS, load


@dataclass(frozen=True, slots=True)
class CommandOption:
    flags: tuple[str, ...]
    value: str | None  # the placeholder of its value; None for a switch
    help: str
    choices: tuple[str, ...] = ()
    group: str = ""  # the title above it in the help, if it has one of its own


@dataclass(frozen=True, slots=True)
class CommandArgument:
    name: str
    help: str
    choices: tuple[str, ...] = ()
    required: bool = True
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class CommandPage:
    """The reference page of a command, or of a subcommand such as `hooks install`."""

    name: str
    summary: str
    options: tuple[CommandOption, ...]
    arguments: tuple[CommandArgument, ...]
    subcommands: tuple["CommandPage", ...] = ()
    about: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    passes_on: bool = False

    @property
    def usage(self) -> str:
        parts = ["chorus", self.name]
        parts += ["[options]"] if self.options else []
        parts += ["|".join(page.name.split()[-1] for page in self.subcommands)] if self.subcommands else []
        parts += [_render_usage(argument) for argument in self.arguments]
        parts += ["[-- ARGS]"] if self.passes_on else []
        return " ".join(parts)


def read_pages() -> list[CommandPage]:
    return [read_page(name) for name in COMMANDS]


def read_page(name: str) -> CommandPage:
    command, parser = load(name)
    return replace(
        _page(name, COMMANDS[name], parser),
        about=getattr(command, "ABOUT", "").replace("\n", " "),
        examples=tuple(getattr(command, "EXAMPLES", ())),
        passes_on=getattr(command, "PASSES_ON", False),
    )


def _page(name: str, summary: str, parser: argparse.ArgumentParser) -> CommandPage:
    options: list[CommandOption] = []
    arguments: list[CommandArgument] = []
    subcommands: list[CommandPage] = []
    _, _, *groups = parser._action_groups  # the first two are argparse's own
    titles = {id(action): group.title or "" for group in groups for action in group._group_actions}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            subcommands += _subcommands(name, action)
        elif isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            options.append(replace(_option(action, parser), group=titles.get(id(action), "")))
        else:
            arguments.append(_argument(action, parser))
    return CommandPage(name, summary, tuple(options), tuple(arguments), tuple(subcommands))


def _subcommands(
    name: str, action: "argparse._SubParsersAction[argparse.ArgumentParser]"
) -> list[CommandPage]:
    """Return the public subcommands: those with a summary."""
    summaries = {choice.dest: choice.help for choice in action._choices_actions}
    found = []
    for subcommand, parser in action.choices.items():
        summary = summaries.get(subcommand) or parser.description
        if summary:
            found.append(_page(f"{name} {subcommand}", summary.rstrip("."), parser))
    return found


def _option(action: argparse.Action, parser: argparse.ArgumentParser) -> CommandOption:
    value = None if action.nargs == 0 else _placeholder(action)
    return CommandOption(tuple(action.option_strings), value, _help(action, parser), _choices(action))


def _argument(action: argparse.Action, parser: argparse.ArgumentParser) -> CommandArgument:
    return CommandArgument(
        _placeholder(action),
        _help(action, parser),
        _choices(action),
        required=action.nargs not in ("?", "*"),
        repeatable=action.nargs in ("*", "+"),
    )


def _placeholder(action: argparse.Action) -> str:
    match action.metavar:
        case str() as name:
            return name
        case tuple() as names:
            return " ".join(names)
        case _:
            return "|".join(_choices(action)) or action.dest.upper()


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(str(choice) for choice in action.choices or ())


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return (action.help or "") % {**vars(action), "prog": parser.prog}


def _render_usage(argument: CommandArgument) -> str:
    name = f"{argument.name} ..." if argument.repeatable else argument.name
    return name if argument.required else f"[{name}]"
