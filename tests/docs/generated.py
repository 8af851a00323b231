"""Generate docs/commands.md, docs/chorus.1, docs/schema.json and the file map of docs/architecture.md.

`python -m tests.docs.generated` writes them; a test checks that they are current.
"""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from chorus.commands.parser.catalog import GROUPS
from chorus.commands.parser.reference import CommandPage, read_pages
from chorus.errors import ExitCode
from chorus.model.api.schema import render_schema

DOCS = Path(__file__).parents[2] / "docs"
MEANINGS = {
    ExitCode.OK: "success",
    ExitCode.BUG: "a bug; please report the output",
    ExitCode.USAGE: "wrong usage",
    ExitCode.NOT_FOUND: "not found: there is nothing to act on",
    ExitCode.SYSTEM_ERROR: "git, tmux, the watcher, a file or the system failed, or the config is invalid",
    ExitCode.CONFLICT: "a conflict; nothing was changed",
    ExitCode.REFUSED: "refused for safety; the message says if anything was sent",
    ExitCode.INTERRUPTED: "interrupted",
}
ABOUT = (
    "Sits next to a Claude Code session in tmux: each change the agent makes is one commit on the "
    "session's own branch, the lane; prompts are answered from a side panel, "
    "and any single action can be reverted later."
)


def render_markdown(pages: Sequence[CommandPage]) -> str:
    lines = [
        "# Commands",
        "",
        "Generated from the code by `make docs`. ACTION is an action's number in `chorus log`, its tool_use",
        "id, or a lane commit. Every reading command takes `--json`: see [json.md](json.md).",
    ]
    summaries = {page.name: page.summary for page in pages}
    for title, names in GROUPS.items():
        lines += ["", f"{title[0].upper()}{title[1:]}:", ""]
        lines += [f"- [`chorus {name}`](#chorus-{name}): {summaries[name]}" for name in names]
    for page in pages:
        lines += ["", *_section(page, "##")]
    lines += ["", "## Exit codes", "", "| code | means |", "|---|---|"]
    lines += [f"| {code.value} | {meaning} |" for code, meaning in MEANINGS.items()]
    return "\n".join(lines) + "\n"


def _section(page: CommandPage, mark: str) -> Iterator[str]:
    yield from (f"{mark} chorus {page.name}", "", f"{page.summary[0].upper()}{page.summary[1:]}.", "")
    if page.about:
        yield from (page.about, "")
    yield f"    {page.usage}"
    rows = [(f"`{_cell(argument.name)}`", argument.help) for argument in page.arguments if argument.help]
    above = ""
    for option in page.options:
        if option.group != above:
            above = option.group
            rows.append((f"*{above}:*", ""))
        flags = ", ".join(
            f"`{flag}{f' {_cell(option.value)}' if option.value else ''}`" for flag in option.flags
        )
        rows.append((flags, option.help))
    if rows:
        yield from ("", "| | |", "|---|---|", *(f"| {name} | {_cell(text)} |" for name, text in rows))
    if page.passes_on:
        yield from ("", "Words after `--` are passed to the client.")
    if page.examples:
        yield from ("", "| example | |", "|---|---|")
        yield from (f"| `{_cell(line)}` | {_cell(meaning)} |" for line, meaning in page.examples)
    for subcommand in page.subcommands:
        yield ""
        yield from _section(subcommand, mark + "#")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# The rest of the manual page: what users type most, and what is where.
MAN_EXAMPLES = (
    ("chorus claude", "Start Claude Code in tmux, watched, with the panel next to it."),
    ("chorus log --open", "List what is not reviewed yet."),
    ("chorus revert 12", "Revert action 12; later work in the same file stays."),
    ("chorus note 12:40 'what if it is None?'", "Write a note to the agent on a line of action 12."),
    ("chorus notes send", "Send all drafts, grouped by session."),
    ("chorus inbox --web", "Answer the prompts of all repositories in a browser; prints a link."),
    ("chorus land LANE --edit", "Commit a lane to the current branch, and edit the messages first."),
    (
        'chorus pr LANE | gh pr create --title "$(chorus pr LANE --title)" --body-file -',
        "Open a pull request of a landed lane.",
    ),
)
MAN_FILES = (
    (
        ".git/chorus",
        "Everything recorded: timeline, marks, notes, lanes' objects, the watcher's socket and log.",
    ),
    ("refs/heads/chorus/", "The lanes: plain branches."),
    (
        "~/.config/chorus/config.toml",
        "Your configuration, including the policy (in $XDG_CONFIG_HOME, if set). See docs/config.md.",
    ),
    (
        "~/.local/state/chorus",
        "Which repositories have a watcher; what was answered in the browser (in $XDG_STATE_HOME, if set).",
    ),
    (".chorus.toml", "A repository's own rules, which can only make yours stricter."),
)
MAN_ENVIRONMENT = (
    (
        "CHORUS_THEME",
        "dark or light: the panel's colours. COLORFGBG is used without it; NO_COLOR turns colours off.",
    ),
    (
        "VISUAL, EDITOR",
        "The editor the panel opens files in. Messages are edited in git's editor (GIT_EDITOR).",
    ),
    ("TMUX, TMUX_PANE, TMUX_TMPDIR", "Which tmux server and pane this is, as tmux sets them."),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME", "Where the configuration and the state files are."),
    ("LANG, LC_ALL, LC_CTYPE", "Whether the panel may draw with Unicode."),
)


def render_man(pages: Sequence[CommandPage]) -> str:
    lines = [
        '.TH CHORUS 1 "" "Chorus" "User Commands"',
        ".SH NAME",
        r"chorus \- one commit per action of a Claude Code session",
        ".SH SYNOPSIS",
        ".B chorus",
        "[\\-\\-version] [\\-\\-help] COMMAND ...",
        ".SH DESCRIPTION",
        _roff(ABOUT),
        ".SH COMMANDS",
    ]
    for page in pages:
        lines += _man_section(page)
        for subcommand in page.subcommands:
            lines += _man_section(subcommand)
    lines.append(".SH EXIT STATUS")
    for code, meaning in MEANINGS.items():
        lines += [".TP", f"{code.value}", _roff(meaning)]
    sections = {"EXAMPLES": MAN_EXAMPLES, "FILES": MAN_FILES, "ENVIRONMENT": MAN_ENVIRONMENT}
    for heading, rows in sections.items():
        lines.append(f".SH {heading}")
        for name, meaning in rows:
            lines += [".TP", f"\\fB{_roff(name)}\\fR", _roff(meaning)]
    lines += [".SH SEE ALSO", ".BR git (1),", ".BR tmux (1)"]
    return "\n".join(lines) + "\n"


def _man_section(page: CommandPage) -> Iterator[str]:
    summary = f"{page.summary[0].upper()}{page.summary[1:]}. {page.about}".rstrip()
    yield from (f".SS {_roff(page.usage)}", _roff(summary))
    for argument in page.arguments:
        if argument.help:
            yield from (".TP", f"\\fI{_roff(argument.name)}\\fR", _roff(argument.help))
    above = ""
    for option in page.options:
        if option.group != above:
            above = option.group
            yield from (".PP", f"{_roff(above[:1].upper() + above[1:])}:")
        value = f" \\fI{_roff(option.value)}\\fR" if option.value else ""
        flags = ", ".join(f"\\fB{_roff(flag)}\\fR{value}" for flag in option.flags)
        yield from (".TP", flags, _roff(option.help))
    if page.examples:
        yield from (".PP", "Examples:")
        for line, meaning in page.examples:
            yield from (".TP", f"\\fB{_roff(line)}\\fR", _roff(meaning))


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    # A line that begins with a dot or an apostrophe would be a request.
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def render_json_schema(_: Sequence[CommandPage]) -> str:
    return json.dumps(render_schema(), indent=2) + "\n"


FILES_BEGIN, FILES_END = "<!-- files: begin -->", "<!-- files: end -->"


def render_architecture(_pages: Sequence[CommandPage]) -> str:
    """The page with its file map regenerated: each module with the first sentence of its docstring."""
    written = (DOCS / "architecture.md").read_text(encoding="utf-8")
    before, _, rest = written.partition(FILES_BEGIN)
    _, _, after = rest.partition(FILES_END)
    return f"{before}{FILES_BEGIN}\n{_render_file_map()}\n{FILES_END}{after}"


def _render_file_map() -> str:
    package = DOCS.parent / "chorus"
    lines: list[str] = []
    folder: Path | None = None
    for path in sorted(package.rglob("*.py"), key=lambda path: (path.parent, path.name)):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        if path.stem.startswith("__") or not docstring:
            continue
        if path.parent != folder:
            folder = path.parent
            lines += ["", f"**{folder.relative_to(DOCS.parent)}/**", ""]
        sentence = (
            " ".join(docstring.split("\n\n")[0].split()).partition(". ")[0].rstrip(".").replace("`", "")
        )
        lines.append(f"- `{path.name}`: {sentence}")
    return "\n".join(lines).strip("\n")


DOCUMENTS = {
    "architecture.md": render_architecture,
    "chorus.1": render_man,
    "commands.md": render_markdown,
    "schema.json": render_json_schema,
}


def main() -> None:
    pages = read_pages()
    for name, render in DOCUMENTS.items():
        (DOCS / name).write_text(render(pages), encoding="utf-8")


if __name__ == "__main__":
    main()
