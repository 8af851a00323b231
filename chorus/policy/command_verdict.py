"""Judge a shell text by the rules of the policy.

Deny and ask rules apply to everything that the text may run; allow rules apply to literal commands only.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator

from chorus.model.tools import SHELL_TOOL
from chorus.policy.arguments import Effect
from chorus.policy.context import Finding, PolicyContext, describe_rule, find_restriction, tool_matches
from chorus.policy.literal import LiteralScript, NotLiteral, parse_literal
from chorus.policy.patterns import PatternMatch
from chorus.policy.programs import CHANGES_DIRECTORY, RUNNERS, SHELL_ONLY, find_arguments, is_listed
from chorus.policy.rules import Rule
from chorus.policy.shell import Command, Word
from chorus.policy.wrappers import parse_unwrapped, program_name, unwrap

_BASH = (SHELL_TOOL,)
# Files that keep nothing of what is written to them.
_DISCARDED = {"/dev/null", "/dev/stdout", "/dev/stderr"}
# The separators allowed in a script that begins with `cd`, `|` only after a later command. After any other
# separator, a command may run in the old directory.
_AFTER_DIRECTORY_CHANGE = {"&&", "|"}
_PART_MARK = re.compile(r"[=:@,]")
# Flags after one dash: the last flag may have a path as its value. Nobody bundles more flags.
_BUNDLE = re.compile(r"-[A-Za-z0-9]{1,9}")


def judge_shell(context: PolicyContext, text: str) -> Iterator[Finding]:
    try:
        script = parse_literal(text)
    except NotLiteral as problem:
        yield Finding("ask", text, str(problem))
        yield from _judge_tree(context, text)
    else:
        yield from _LiteralJudge(context, script).judge()


def _judge_tree(context: PolicyContext, text: str) -> Iterator[Finding]:
    """Yield the findings of deny and ask rules for a script that cannot be allowed."""
    script = parse_unwrapped(text)
    for command in script.commands:
        restriction = _restriction_of(context, [command])
        if restriction is not None:
            yield restriction
    words = dict.fromkeys(word for command in script.commands for word in command[1:])
    yield from _restrictions_of_words(context, (*words, *script.reads), "")
    for word in script.writes:
        if word is not None and word not in _DISCARDED and (path := context.resolve(word)) is not None:
            restriction = find_restriction(context, word, path, ("Write", *_BASH))
            if restriction is not None:
                yield restriction


def _restriction_of(context: PolicyContext, commands: Iterable[Command]) -> Finding | None:
    """Return the strictest finding of the deny and ask rules that match a command; None if none matches.

    A deny rule may match without certainty. Its finding is then to ask the user.
    """
    found = (
        Finding(
            rule.decision if match is PatternMatch.CERTAIN else "ask", _describe(command), describe_rule(rule)
        )
        for command in commands
        for rule in (*context.rules("deny"), *context.rules("ask"))
        if (match := _match_command(rule, command)) is not PatternMatch.NO
    )
    return max(found, key=lambda finding: finding.strictness, default=None)


def _match_command(rule: Rule, command: Command) -> PatternMatch:
    if rule.command is not None:
        return rule.command.restricts(command)
    return PatternMatch.CERTAIN if rule.path is None and tool_matches(rule, _BASH) else PatternMatch.NO


def _restrictions_of_words(
    context: PolicyContext, words: Iterable[Word], directory: str, *, reads_below: bool = False
) -> Iterator[Finding]:
    """Yield the findings of path rules for words that could be a path relative to `directory`."""
    for word in words if context.guards_paths(_BASH) else ():
        for named in possible_paths(word or ""):
            path = context.resolve(posixpath.join(directory, named))
            if path is None:
                yield Finding("ask", named, "this path cannot be resolved")
            elif restriction := find_restriction(
                context, named, path, _BASH, directory=directory, reads_below=reads_below
            ):
                yield restriction


def possible_paths(text: str) -> list[str]:
    """Return the paths that may be in a word: the word itself, and its parts between `=:@,`.

    If the word is a flag, return only the parts that may be the flag's value.
    """
    first, *found = _PART_MARK.split(text)
    if not text.startswith("-"):
        found += [first, text]
    elif (flags := _BUNDLE.match(text)) is not None:
        found += [text[end:] for end in range(2, flags.end() + 1)]
    return list(dict.fromkeys(filter(None, found)))


def _describe(command: Command) -> str:
    return " ".join("…" if word is None else word for word in command)


class _LiteralJudge:
    def __init__(self, context: PolicyContext, script: LiteralScript) -> None:
        self._context = context
        self._script = script
        program, argument, *_ = (*script.commands[0], "")
        # As named after `cd`. "" means the directory in which the shell starts.
        self._directory = argument if program == CHANGES_DIRECTORY else ""

    def judge(self) -> Iterator[Finding]:
        for index, command in enumerate(self._script.commands):
            yield self._judge_command(command)
            if command[0] == CHANGES_DIRECTORY:
                yield from self._judge_directory_change(index, command)
            else:
                yield from self._judge_paths(command)
                if program_name(command[0]) == "git":
                    yield from self._judge_repository(command)

    def _judge_command(self, command: tuple[str, ...]) -> Finding:
        """Judge a command by the deny and ask rules; if none matches, by the allow rules.

        The deny and ask rules are also matched against commands inside the command, such as `rm` in `env rm`.
        """
        restriction = _restriction_of(self._context, unwrap(command).commands)
        if restriction is not None:
            return restriction
        about, problem = _describe(command), "no rule allows this command"
        if command[0] in SHELL_ONLY:
            return Finding("ask", about, f"you are always asked about `{command[0]}`")
        for rule in self._context.rules("allow"):
            if rule.command is not None and rule.command.allows(command):
                other = _unlisted_argument(rule, command)
                if other is None:
                    return Finding("allow", about, describe_rule(rule))
                problem = other
        return Finding("ask", about, problem)

    def _judge_paths(self, command: tuple[str, ...]) -> Iterator[Finding]:
        """Yield findings about the files that the command may read, write or run."""
        listed = find_arguments(command)
        arguments = () if listed is None else command[len(listed[0].split()) :]
        reads_below = True
        here: tuple[str, ...] = ()
        if listed is not None:
            operands = listed[1].operands(arguments)
            reads_below = listed[1].reads_files_below(arguments) or self._compares_outside(
                command[0], operands
            )
            if listed[1].reads_below(arguments) or _expands_names(command[0], operands):
                here = (".",)
            if listed[1].follows_links and self._context.guards_paths(_BASH):
                yield from self._judge_links(operands)
        words = (*here, *(word for inner in unwrap(command).commands for word in inner[1:]))
        yield from _restrictions_of_words(self._context, words, self._directory, reads_below=reads_below)
        if _only_reads(command):
            return
        for word in command[1:]:
            for named in possible_paths(word):
                protected = self._context.protected_name(posixpath.join(self._directory, named))
                if protected is not None:
                    yield Finding(
                        "ask",
                        named,
                        f"changing `{protected}` can affect which commands run or need permission later",
                    )
        if listed is not None and listed[1].effect is Effect.INSIDE:
            for word in arguments:
                if not word.startswith("-"):
                    yield from self._judge_place(command[0], word)

    def _judge_place(self, program: str, word: str) -> Iterator[Finding]:
        """Ask the user about a file outside the work tree.

        For git, also ask about a file of another repository inside the work tree.
        """
        # pytest: what follows `::` is a test in the file.
        for named in dict.fromkeys((word, word.partition("::")[0])):
            path = self._context.resolve(posixpath.join(self._directory, named))
            if path is None or not self._context.is_inside(path):
                yield Finding("ask", word, "it is not in the work tree")
            elif program_name(program) == "git" and self._context.find_git_root(path) != self._context.root:
                # Once added, `git status` runs git in it, with its own settings.
                yield Finding("ask", word, "it belongs to another repository inside this one")

    def _judge_links(self, operands: Iterable[str]) -> Iterator[Finding]:
        for named in operands:
            path = self._context.resolve(posixpath.join(self._directory, named))
            if path is None or self._context.is_directory(path):
                yield Finding(
                    "ask", named, "a link in this directory may lead to a file that a deny or ask rule names"
                )

    def _compares_outside(self, program: str, operands: Iterable[str]) -> bool:
        """True for git with a path outside the work tree: `git diff` then compares files on disk."""
        paths = (self._context.resolve(posixpath.join(self._directory, named)) for named in operands)
        return program_name(program) == "git" and not all(map(self._context.is_inside, paths))

    def _judge_directory_change(self, index: int, command: tuple[str, ...]) -> Iterator[Finding]:
        """Ask the user about `cd`, except at the start of a script and into a safe directory."""
        about, parts = _describe(command), self._directory.split("/")
        if index:
            yield Finding("ask", about, "`cd` can be allowed only as the first command")
        elif len(command) != 2 or ".." in parts[parts.count("..") :]:
            yield Finding(
                "ask", about, "`cd` can be allowed only with one path, which has `..` only at its beginning"
            )
        elif not self._context.is_inside(self._context.resolve(self._directory)):
            yield Finding("ask", about, "it leads out of the work tree")
        elif (protected := self._context.protected_name(self._directory)) is not None:
            yield Finding(
                "ask", about, f"changing `{protected}` can affect which commands run or need permission later"
            )
        elif self._repository() != self._context.root:
            yield Finding("ask", about, "this directory belongs to another repository inside this one")
        elif self._script.separators[:1] == ("|",) or not _AFTER_DIRECTORY_CHANGE.issuperset(
            self._script.separators
        ):
            yield Finding(
                "ask",
                about,
                "after `cd DIRECTORY`, only `&&` can be allowed; `|` is allowed between later commands",
            )

    def _judge_repository(self, command: tuple[str, ...]) -> Iterator[Finding]:
        """Ask the user about a git command that would not use the repository of the work tree.

        Below the root of the work tree, also ask unless the whole script only reads. The reason: git takes
        settings, and programs that the settings name, from the repository that it finds.
        """
        here = self._context.resolve(self._directory or ".")
        if here is None or self._repository() != self._context.root:
            yield Finding(
                "ask", _describe(command), "here, git would not use the repository of this work tree"
            )
        elif here != self._context.root and not all(map(_only_reads, self._script.commands)):
            yield Finding(
                "ask",
                _describe(command),
                "if one of the commands writes, git can be allowed only in the root of the work tree",
            )

    def _repository(self) -> str | None:
        here = self._context.resolve(self._directory or ".")
        return None if here is None else self._context.find_git_root(here)


# Words that git reads as a pattern of file names: with `*`, `?` or `[`, or such as `:/`, `:(glob)` and `:`.
_PATHSPEC = re.compile(r"(?s).*[*?[]|:(?![\w.-])")


def _expands_names(program: str, operands: Iterable[str]) -> bool:
    """True if the program is git and one of its operands is a pattern of file names."""
    return program_name(program) == "git" and any(map(_PATHSPEC.match, operands))


def _unlisted_argument(rule: Rule, command: tuple[str, ...]) -> str | None:
    """Explain why a rule that matches the command does not allow it; None if the rule allows it."""
    pattern = rule.command
    if pattern is None or pattern.is_exact:
        return None
    listed = find_arguments(command)
    if listed is None and program_name(command[0]) in RUNNERS:
        return _only_without_star(command[0])
    if rule.any_arguments:
        return None
    if listed is None:
        return f"Chorus does not know which arguments of `{' '.join(command[:2])}` are harmless"
    name, arguments = listed
    names = tuple(name.split())
    if arguments.must_be_named and not pattern.names(names):
        return f"`{name}` writes files: only a rule that names `{name}` can allow it"
    unlisted = arguments.find_unlisted(command[len(names) :])
    if unlisted is None:
        return None
    return f"`{unlisted}` is not on the list of harmless arguments of `{name}`"


def explain_no_effect(rule: Rule) -> str | None:
    """Explain why an allow rule can allow no command at all; None if it can allow some."""
    pattern = rule.command
    if rule.decision != "allow" or pattern is None or pattern.is_exact or is_listed(pattern.words):
        return None
    if pattern.words and program_name(pattern.words[0]) in RUNNERS:
        return _only_without_star(pattern.words[0])
    if rule.any_arguments:
        return None
    return f"Chorus does not know which arguments of `{' '.join(pattern.words)}` are harmless"


def _only_without_star(program: str) -> str:
    return f"`{program}` runs other programs: only a rule without `*` can allow it"


def _only_reads(command: tuple[str, ...]) -> bool:
    listed = find_arguments(command)
    if listed is None or listed[1].effect is not Effect.READS:
        return False
    return listed[1].find_unlisted(command[len(listed[0].split()) :]) is None
