"""What every command takes, as data: read off its parser, for completion and for the documents.

Gives the same on every version of Python: nothing here depends on how argparse lays out its help.
"""

import argparse
from dataclasses import dataclass

from chorus.commands.parser.catalog import COMMANDS, load


@dataclass(frozen=True, slots=True)
class Option:
    flags: tuple[str, ...]
    value: str | None  # what stands for its value; None for a switch
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    help: str
    choices: tuple[str, ...] = ()
    needed: bool = True
    many: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One command, or one of its parts (`hooks install`)."""

    name: str
    summary: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]
    parts: tuple["Page", ...] = ()
    passes_on: bool = False

    @property
    def usage(self) -> str:
        words = ["chorus", self.name]
        words += ["[options]"] if self.options else []
        words += ["|".join(part.name.split()[-1] for part in self.parts)] if self.parts else []
        words += [_usage_of(argument) for argument in self.arguments]
        words += ["[-- ARGS]"] if self.passes_on else []
        return " ".join(words)


def read_pages() -> list[Page]:
    """Every command, in the order of `chorus --help`."""
    return [read_page(name) for name in COMMANDS]


def read_page(name: str) -> Page:
    command, parser = load(name)
    return _page(name, COMMANDS[name], parser, passes_on=getattr(command, "PASSES_ON", False))


def _page(name: str, summary: str, parser: argparse.ArgumentParser, *, passes_on: bool = False) -> Page:
    options: list[Option] = []
    arguments: list[Argument] = []
    parts: list[Page] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parts += _parts(name, action)
        elif isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            options.append(_option(action, parser))
        else:
            arguments.append(_argument(action, parser))
    return Page(name, summary, tuple(options), tuple(arguments), tuple(parts), passes_on)


def _parts(name: str, action: "argparse._SubParsersAction[argparse.ArgumentParser]") -> list[Page]:
    """What people may call: a part without a word about it is for programs."""
    summaries = {choice.dest: choice.help for choice in action._choices_actions}
    found = []
    for part, parser in action.choices.items():
        summary = summaries.get(part) or parser.description
        if summary:
            found.append(_page(f"{name} {part}", summary.rstrip("."), parser))
    return found


def _option(action: argparse.Action, parser: argparse.ArgumentParser) -> Option:
    value = None if action.nargs == 0 else _value(action)
    return Option(tuple(action.option_strings), value, _help(action, parser), _choices(action))


def _argument(action: argparse.Action, parser: argparse.ArgumentParser) -> Argument:
    return Argument(
        _value(action),
        _help(action, parser),
        _choices(action),
        needed=action.nargs not in ("?", "*"),
        many=action.nargs in ("*", "+"),
    )


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return "|".join(_choices(action)) or action.dest.upper()


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(str(choice) for choice in action.choices or ())


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return (action.help or "") % {**vars(action), "prog": parser.prog}


def _usage_of(argument: Argument) -> str:
    name = f"{argument.name} ..." if argument.many else argument.name
    return name if argument.needed else f"[{name}]"
