"""docs/commands.md and docs/chorus.1, made from the commands themselves.

`python -m tests.docs.generated` writes them; a test compares them with what it would write.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from chorus.commands.parser.reference import Page, read_pages
from chorus.errors import ExitCode

DOCS = Path(__file__).parents[2] / "docs"
MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.BUG: "a bug: please report what was printed",
    ExitCode.USAGE: "the command line makes no sense",
    ExitCode.NOT_FOUND: "there is nothing to act on",
    ExitCode.SYSTEM_ERROR: "git, tmux or the disk refused",
    ExitCode.CONFLICT: "a conflict; nothing was changed",
    ExitCode.REFUSED: "refused for safety; nothing was sent",
    ExitCode.INTERRUPTED: "interrupted",
}
ABOUT = (
    "Sits next to a Claude Code session in tmux: each change the agent makes is one commit on a lane branch, "
    "prompts are answered from a side panel, and any single action is taken back later."
)


def render_markdown(pages: Sequence[Page]) -> str:
    lines = [
        "# Commands",
        "",
        "Made from the code by `make docs`. ACTION is an action's number in `chorus log`, its `tool_use` id,",
        "or a lane commit. What reads takes `--json`.",
        "",
        *(f"- [`chorus {page.name}`](#chorus-{page.name}): {page.summary}" for page in pages),
    ]
    for page in pages:
        lines += ["", *_section(page, "##")]
    lines += ["", "## Exit codes", "", "| code | means |", "|---|---|"]
    lines += [f"| {code.value} | {meaning} |" for code, meaning in MEANINGS.items()]
    return "\n".join(lines) + "\n"


def _section(page: Page, mark: str) -> Iterator[str]:
    yield from (f"{mark} chorus {page.name}", "", f"{page.summary[0].upper()}{page.summary[1:]}.", "")
    yield f"    {page.usage}"
    rows = [(f"`{_cell(argument.name)}`", argument.help) for argument in page.arguments if argument.help]
    for option in page.options:
        flags = ", ".join(
            f"`{flag}{f' {_cell(option.value)}' if option.value else ''}`" for flag in option.flags
        )
        rows.append((flags, option.help))
    if rows:
        yield from ("", "| | |", "|---|---|", *(f"| {name} | {_cell(text)} |" for name, text in rows))
    if page.passes_on:
        yield from ("", "What stands after `--` is given to the client as it is.")
    for part in page.parts:
        yield ""
        yield from _section(part, mark + "#")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def render_man(pages: Sequence[Page]) -> str:
    lines = [
        '.TH CHORUS 1 "" "Chorus" "User Commands"',
        ".SH NAME",
        r"chorus \- one commit per tool action of a Claude Code session",
        ".SH SYNOPSIS",
        ".B chorus",
        "[\\-\\-version] [\\-\\-help] COMMAND ...",
        ".SH DESCRIPTION",
        _roff(ABOUT),
        ".SH COMMANDS",
    ]
    for page in pages:
        lines += _man_section(page)
        for part in page.parts:
            lines += _man_section(part)
    lines.append(".SH EXIT STATUS")
    for code, meaning in MEANINGS.items():
        lines += [".TP", f"{code.value}", _roff(meaning)]
    lines += [".SH SEE ALSO", ".BR git (1),", ".BR tmux (1)"]
    return "\n".join(lines) + "\n"


def _man_section(page: Page) -> Iterator[str]:
    yield from (f".SS {_roff(page.usage)}", _roff(f"{page.summary[0].upper()}{page.summary[1:]}."))
    for argument in page.arguments:
        if argument.help:
            yield from (".TP", f"\\fI{_roff(argument.name)}\\fR", _roff(argument.help))
    for option in page.options:
        value = f" \\fI{_roff(option.value)}\\fR" if option.value else ""
        flags = ", ".join(f"\\fB{_roff(flag)}\\fR{value}" for flag in option.flags)
        yield from (".TP", flags, _roff(option.help))


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    # A line that begins with a dot or an apostrophe would be a request.
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


DOCUMENTS = {"commands.md": render_markdown, "chorus.1": render_man}


def main() -> None:
    pages = read_pages()
    for name, render in DOCUMENTS.items():
        (DOCS / name).write_text(render(pages), encoding="utf-8")


if __name__ == "__main__":
    main()
