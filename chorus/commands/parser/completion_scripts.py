"""Completion scripts for bash, zsh and fish, rendered from the commands' reference pages."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from chorus.commands.parser.reference import CommandArgument, CommandOption, CommandPage
from chorus.model.lane_name import LANE_REFS

LANES = f"git for-each-ref --format='%(refname:lstrip=2)' {' '.join(LANE_REFS)} 2>/dev/null"
# The newest actions are the most likely to be named.
ACTIONS = "chorus log -n 100 2>/dev/null | sed -n 's/^ *\\([0-9][0-9]*\\) .*/\\1/p'"
FILES = {"FILE", "FILE[:LINE]", "PATH"}
# Placeholders for words that are looked up when Tab is pressed.
AT_LANES, AT_ACTIONS, AT_FILES = "@lanes", "@actions", "@files"
LOOKUPS = {AT_LANES: LANES, AT_ACTIONS: ACTIONS}


def render_bash(pages: Sequence[CommandPage]) -> str:
    return f"""# bash completion for chorus
_chorus() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} page= words= options= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [ "${{COMP_WORDS[i]}}" = -- ] && return
        case ${{page:+$page }}${{COMP_WORDS[i]}} in
            {"|".join(map(_quoted, _names(pages)))}) page=${{page:+$page }}${{COMP_WORDS[i]}} ;;
        esac
    done
    case $page in
{_cases(pages, "words={words} options={options}")}
    esac
    case $page:$before in
{_values(pages, "words={words} options=")}
    esac
    [[ $word == -* || -z $words ]] && words=$options
    case $words in
        {AT_LANES}) words=$({LANES}) ;;
        {AT_ACTIONS}) words=$({ACTIONS}) ;;
        {AT_FILES}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -F _chorus chorus
"""


def render_zsh(pages: Sequence[CommandPage]) -> str:
    return f"""#compdef chorus
_chorus() {{
    local word=$words[CURRENT] before=$words[CURRENT-1] page= offered= options= i
    for ((i = 2; i < CURRENT; i++)); do
        [[ $words[i] == -- ]] && return
        case ${{page:+$page }}$words[i] in
            ({"|".join(map(_quoted, _names(pages)))}) page=${{page:+$page }}$words[i] ;;
        esac
    done
    case $page in
{_cases(pages, "offered={words} options={options}", opening="(")}
    esac
    case $page:$before in
{_values(pages, "offered={words} options=", opening="(")}
    esac
    [[ $word == -* || -z $offered ]] && offered=$options
    case $offered in
        ({AT_LANES}) offered=$({LANES}) ;;
        ({AT_ACTIONS}) offered=$({ACTIONS}) ;;
        ({AT_FILES}) _files; return ;;
    esac
    compadd -- ${{=offered}}
}}
if [[ $funcstack[1] == _chorus ]]; then _chorus "$@"; else compdef _chorus chorus; fi
"""


def render_fish(pages: Sequence[CommandPage]) -> str:
    names = " ".join(map(_quoted, _names(pages)))
    head = f"""# fish completion for chorus
function __chorus_at --description 'whether the command line is at this command'
    set -l page
    for word in (commandline -opc)[2..]
        test "$word" = --; and return 1
        set -l longer (string trim "$page $word")
        contains -- "$longer" {names}; and set page $longer
    end
    test "$page" = "$argv"
end
complete -c chorus -f
"""
    return head + "\n".join(_fish_lines(pages)) + "\n"


SHELLS: dict[str, Callable[[Sequence[CommandPage]], str]] = {
    "bash": render_bash,
    "zsh": render_zsh,
    "fish": render_fish,
}


def _all(pages: Iterable[CommandPage]) -> Iterator[CommandPage]:
    for page in pages:
        yield page
        yield from _all(page.subcommands)


def _names(pages: Sequence[CommandPage]) -> list[str]:
    return [page.name for page in _all(pages)]


def _words(page: CommandPage) -> str:
    """Return the words that may follow a command, other than options."""
    if page.subcommands:
        return " ".join(part.name.split()[-1] for part in page.subcommands)
    return next(filter(None, map(_offered, page.arguments)), "")


def _offered(thing: CommandArgument | CommandOption) -> str:
    name = thing.name if isinstance(thing, CommandArgument) else thing.value
    if name in FILES:
        return AT_FILES
    if name == "ACTION":
        return AT_ACTIONS
    is_lane = name == "LANE" or (isinstance(thing, CommandOption) and "--lane" in thing.flags)
    return AT_LANES if is_lane else " ".join(thing.choices)


def _flags(page: CommandPage) -> list[str]:
    return [flag for option in page.options for flag in option.flags] + ["--help"]


def _cases(pages: Sequence[CommandPage], form: str, *, opening: str = "") -> str:
    names = _quoted(" ".join(page.name for page in pages))
    top = form.format(words=names, options=_quoted("--help --version"))
    lines = [f"        {opening}'') {top} ;;"]
    for page in _all(pages):
        filled = form.format(words=_quoted(_words(page)), options=_quoted(" ".join(_flags(page))))
        lines.append(f"        {opening}{_quoted(page.name)}) {filled} ;;")
    return "\n".join(lines)


def _values(pages: Sequence[CommandPage], form: str, *, opening: str = "") -> str:
    """Render a branch of the shell's `case` for each option that takes a value.

    `form`: the command in a branch, with `{words}` for the values. `opening`: text before each pattern.
    """
    lines = []
    for page in _all(pages):
        for option in (option for option in page.options if option.value is not None):
            cases = "|".join(_quoted(f"{page.name}:{flag}") for flag in option.flags)
            lines.append(f"        {opening}{cases}) {form.format(words=_quoted(_offered(option)))} ;;")
    return "\n".join(lines)


def _fish_lines(pages: Sequence[CommandPage]) -> Iterator[str]:
    for page in pages:
        yield f"complete -c chorus -n '__chorus_at' -a {page.name} -d {_fish(page.summary)}"
    for page in _all(pages):
        here = f"complete -c chorus -n '__chorus_at {page.name}'"
        for part in page.subcommands:
            yield f"{here} -a {part.name.split()[-1]} -d {_fish(part.summary)}"
        for words in filter(None, map(_offered, page.arguments)):
            yield f"{here} {_fish_offer(words)}"
        for option in page.options:
            flags = " ".join(f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in option.flags)
            value = "" if option.value is None else " -x" if not _offered(option) else " -r"
            offer = f" {_fish_offer(_offered(option))}" if option.value and _offered(option) else ""
            yield f"{here} {flags}{value}{offer} -d {_fish(option.help)}"


def _fish_offer(words: str) -> str:
    if words == AT_FILES:
        return "-F"
    return f"-a {_fish(f'({LOOKUPS[words]})' if words in LOOKUPS else words)}"


def _quoted(text: str) -> str:
    return f"'{text}'"


def _fish(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
