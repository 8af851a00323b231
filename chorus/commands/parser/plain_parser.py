"""Parse the common forms of a command line without argparse, whose import takes as long as some commands.

Errors, `--help`, abbreviations, `--option=value` and subcommands are left to argparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

SWITCHES = {"store_true": True, "store_false": False}
# The keywords of `add_argument` that are understood here. Anything else is left to argparse.
UNDERSTOOD = {"action", "default", "type", "dest", "nargs", "choices", "help", "metavar"}


class NotPlain(Exception):
    """This parser or command line needs argparse."""


class PlainParser:
    prog = ""
    usage: str | None = None
    epilog: str | None = None

    def __init__(self) -> None:
        self._options: dict[str, _Argument] = {}
        self._arguments: list[_Argument] = []
        self._groups: list[list[_Argument]] = []

    def add_argument(self, *names: str, **described: object) -> _Argument:
        if not described.keys() <= UNDERSTOOD:
            raise NotPlain
        argument = _Argument(names, **described)  # type: ignore[arg-type]  # as argparse's own signature
        if names[0].startswith("-"):
            self._options.update(dict.fromkeys(names, argument))
        else:
            self._arguments.append(argument)
        return argument

    def add_argument_group(self, *_: str) -> PlainParser:
        return self

    def add_mutually_exclusive_group(self) -> _Exclusive:
        self._groups.append([])
        return _Exclusive(self, self._groups[-1])

    def add_subparsers(self, **_: object) -> SimpleNamespace:
        raise NotPlain

    def parse(self, words: Sequence[str]) -> Namespace | None:
        """Return the same result as argparse; None if only argparse can parse the words."""
        try:
            return self._parse(words)  # type: ignore[return-value]  # the same attributes
        except (NotPlain, StopIteration):
            return None

    def _parse(self, words: Sequence[str]) -> SimpleNamespace:
        found: dict[_Argument, object] = {}
        row: list[str] = []
        row_ended = False
        left = iter(words)
        for word in left:
            if not word.startswith("-"):
                if row_ended:
                    raise NotPlain
                row.append(word)
                continue
            row_ended = bool(row)
            option = self._options.get(word)
            if option is None:
                raise NotPlain
            found[option] = option.read(left, found.get(option, option.default))
        if any(len(found.keys() & set(group)) > 1 for group in self._groups):
            raise NotPlain
        found |= self._assign(row)
        known = {*self._options.values(), *self._arguments}
        return SimpleNamespace(
            **{one.dest: one.initial() for one in known} | {one.dest: value for one, value in found.items()}
        )

    def _assign(self, row: list[str]) -> dict[_Argument, object]:
        """Return the converted value of each argument. Raise NotPlain if the words do not fit.

        A last argument with `?` or `*` gets the words that are left, if any.
        """
        single = [one for one in self._arguments if one.nargs is None]
        many = self._arguments[len(single) :]
        if (
            any(one.nargs is None for one in many)
            or len(many) > 1
            or (many and many[0].nargs not in ("*", "?"))
        ):
            raise NotPlain
        if len(row) < len(single) or (len(row) > len(single) and not many):
            raise NotPlain
        assigned: dict[_Argument, object] = {
            one: one.convert(word) for one, word in zip(single, row, strict=False)
        }
        if many and len(row) > len(single):
            rest = [many[0].convert(word) for word in row[len(single) :]]
            if many[0].nargs == "?" and len(rest) > 1:
                raise NotPlain
            assigned[many[0]] = rest[0] if many[0].nargs == "?" else rest
        return assigned


class _Exclusive:
    def __init__(self, parser: PlainParser, members: list[_Argument]) -> None:
        self._parser, self._members = parser, members

    def add_argument(self, *names: str, **described: object) -> None:
        self._members.append(self._parser.add_argument(*names, **described))


class _Argument:
    def __init__(
        self,
        names: Sequence[str],
        *,
        action: str = "store",
        default: object = None,
        type: Callable[[str], object] = str,
        dest: str | None = None,
        nargs: str | None = None,
        choices: Sequence[str] | None = None,
        help: str = "",
        metavar: str | None = None,
    ) -> None:
        if action not in ("store", "append", *SWITCHES):
            raise NotPlain
        name = next((name for name in names if name.startswith("--")), names[0])
        self.dest = dest or name.lstrip("-").replace("-", "_")
        self.action, self.nargs, self._type, self._choices = action, nargs, type, choices
        self.default = not SWITCHES[action] if action in SWITCHES and default is None else default
        if names[0].startswith("-") and nargs is not None:
            raise NotPlain

    def initial(self) -> object:
        """Return the value for a command line without this argument."""
        if isinstance(self.default, str):
            return self.convert(self.default)
        return [] if self.nargs == "*" and self.default is None else self.default

    def read(self, words: Iterator[str], present: object) -> object:
        """Return the option's new value. `present`: its value so far."""
        if self.action in SWITCHES:
            return SWITCHES[self.action]
        word = next(words)
        if word.startswith("-"):
            raise NotPlain
        value = self.convert(word)
        return [*present, value] if self.action == "append" and isinstance(present, list) else value

    def convert(self, word: str) -> object:
        try:
            value = self._type(word)
        except Exception as error:
            raise NotPlain from error
        if self._choices is not None and value not in self._choices:
            raise NotPlain
        return value
