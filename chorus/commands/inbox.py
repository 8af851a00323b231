"""`chorus inbox`: the prompts, sessions and open reviews of all repositories of this user."""

from __future__ import annotations

import os
from collections.abc import Iterator

from chorus.commands.access.short_status import render_short
from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.output import print_err, print_json, print_out

TYPE_CHECKING = False  # `--short` is run often: no typing, no argparse
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from chorus.model.api.json_api import InboxJson, InboxRepositoryJson, LogEntryJson, PromptJson

ABOUT = """\
Lists every repository in which one of your watchers runs or ran. Never starts a
watcher, and works from any directory."""
EXAMPLES = (
    ("chorus inbox", "open a live view in which you can answer prompts; ? shows its keys"),
    ("chorus inbox --plain", "list what is waiting for you in every repository"),
    ("chorus inbox --web", "serve it as a web page, also for a phone through your own tunnel"),
    ("chorus inbox --short", "for tmux: set -g status-right '#(chorus inbox --short)'"),
)
# How many lines of a prompt's command or change are printed; `chorus prompts` prints all.
MAX_BODY_LINES = 20
# How many open actions of a repository are printed; `chorus log --open` prints all.
MAX_ACTIONS = 5

MAX_PORT = 65535
# What the optional extra `web` installs.
WEB_LIBRARIES = ("starlette", "uvicorn", "segno")


class MissingExtra(ChorusError):
    hint = "Install it: pip install 'chorus[web]', or pipx install --force 'chorus[web]'."


def configure(parser: ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    parser.add_argument(
        "--theme", choices=("auto", "dark", "light"), default="auto", help="colour theme (default: auto)"
    )
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    form.add_argument("--plain", action="store_true", help="print the inbox once, as plain lines")
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--short",
        action="store_true",
        help="print a few characters for tmux's status line, or nothing if there is nothing to do",
    )
    form.add_argument("--web", action="store_true", help="serve the inbox as a web page on this machine")
    web = parser.add_argument_group("options for --web")
    web.add_argument(
        "--port", type=_parse_port, metavar="N", help="listen on this port (default: 7717, or any free one)"
    )
    web.add_argument(
        "--read-only", action="store_true", help="the page cannot answer prompts or change anything"
    )
    web.add_argument(
        "--url", metavar="URL", help="the address of your own tunnel, to use in the links: https://HOST"
    )
    web.add_argument(
        "--bind", default="127.0.0.1", metavar="ADDRESS", help="listen at this address (default: 127.0.0.1)"
    )


def run(args: Namespace) -> ExitCode:
    if args.web:
        return _run_web(args)
    if args.port is not None or args.read_only or args.url or args.bind != "127.0.0.1":
        raise UsageError("--port, --read-only, --url and --bind need --web")
    if args.short:
        from chorus.inbox.counts import read_counts  # noqa: PLC0415  after the parser

        if short := render_short(*read_counts()):
            print_out(short)
        return ExitCode.OK
    if not args.plain and not args.json:
        from chorus.commands.panel import is_terminal  # noqa: PLC0415  not for a status line

        if is_terminal():
            return _run_live(args)
    from chorus.inbox.snapshot import read_inbox  # noqa: PLC0415  not for a status line

    inbox = read_inbox()
    if args.json:
        print_json(inbox)
    elif inbox["repositories"]:
        print_out(*render(inbox))
    else:
        print_err("chorus: no watcher has run in any of your repositories")
        print_err("hint: Start a session with `chorus claude`, or watch a running one with `chorus attach`.")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def _parse_port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > MAX_PORT:
        from argparse import ArgumentTypeError  # noqa: PLC0415  only for an error

        raise ArgumentTypeError(f"{text!r} is not a port number (at most {MAX_PORT})")
    return int(text)


def _run_live(args: Namespace) -> ExitCode:
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)  # the size of the terminal that started the tmux server, not of this pane
    from chorus.panel.inbox.app import Inbox, InboxSettings  # noqa: PLC0415  loads the toolkit
    from chorus.panel.style.labels import wants_ascii  # noqa: PLC0415  as above
    from chorus.panel.style.theme import count_colours, is_dark  # noqa: PLC0415  as above

    app = Inbox(
        InboxSettings(
            dark=is_dark(os.environ, args.theme),
            colours=count_colours(os.environ),
            ascii=args.ascii or wants_ascii(os.environ),
        )
    )
    app.run()
    return ExitCode.BUG if app.return_code else ExitCode.OK


def _run_web(args: Namespace) -> ExitCode:
    try:
        from chorus.web.run import WebSettings, run_web  # noqa: PLC0415  an optional extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in WEB_LIBRARIES:
            raise
        raise MissingExtra(f"--web needs {error.name}, which is not installed") from error
    return run_web(WebSettings(args.bind, args.port, args.url, args.read_only))


def render(inbox: InboxJson) -> Iterator[str]:
    repositories = inbox["repositories"]
    shown = [one for one in repositories if one["state"] != "stopped"]
    for repository in sorted(shown, key=lambda one: not one["prompts"]):
        yield from _render_repository(repository)
    stopped = [one["path"] for one in repositories if one["state"] == "stopped"]
    if stopped:
        yield f"no watcher: {', '.join(map(_short_path, stopped))}"
    counts = render_short(inbox["prompts"], inbox["open"])
    yield f"{counts or 'nothing to do'} in {len(shown)} of {len(repositories)} repositories"


def _render_repository(repository: InboxRepositoryJson) -> Iterator[str]:
    counts = render_short(len(repository["prompts"]), repository["open"])
    path = _short_path(repository["path"])
    yield f"{repository['name']}  {path}  {counts}".rstrip()
    if repository["problem"]:
        yield f"  problem: {repository['problem']}"
    for prompt in repository["prompts"]:
        yield from _render_prompt(prompt, repository["name"])
    for session in repository["sessions"]:
        where = f" in pane {session['pane']}" if session.get("pane") else ""
        yield f"  {session['state']:<8} {session['id'][:8]}{where}  {session.get('title') or ''}".rstrip()
    newest = repository["actions"][-MAX_ACTIONS:]
    for action in reversed(newest):
        yield _render_action(action)
    if (more := repository["open"] - len(newest)) > 0:
        yield f"  … {more} more open"
    yield ""


def _render_prompt(prompt: PromptJson, repository: str) -> Iterator[str]:
    yield f"  {prompt['id']}  {prompt['title']}: {prompt['question']}"
    rows = (prompt.get("body") or "").strip("\n").splitlines()
    yield from (f"    | {row}" for row in rows[:MAX_BODY_LINES])
    if len(rows) > MAX_BODY_LINES:
        yield f"    … {len(rows) - MAX_BODY_LINES} more lines"
    for option in prompt.get("options", []):
        yield f"    {option['key']:<5} {option['label']}  [{option['meaning']}]"
    if not prompt.get("options"):
        yield "    Chorus does not recognise this prompt; answer it in its pane"
        return
    from shlex import quote  # noqa: PLC0415  not for a status line

    name = quote(f"{repository}:{prompt['id']}")
    yield f"    answer it with `chorus approve {name}`, or `chorus deny` or `chorus answer`"


def _render_action(action: LogEntryJson) -> str:
    counts = " ".join(
        f"{sign}{n}" for sign, n in (("+", action.get("added")), ("-", action.get("removed"))) if n
    )
    paths = action.get("paths") or []
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    what = " ".join(part for part in (action.get("tool") or "", *paths[:1]) if part) + more
    about = " ".join(part for part in (str(action["n"]), what, counts) if part)
    return f"  open     {about}: {action['summary']}".rstrip()


def _short_path(path: str) -> str:
    """Quote a path for the shell, with `~` for the home directory."""
    from shlex import quote  # noqa: PLC0415  not for a status line

    home = os.path.expanduser("~")
    return f"~/{quote(path[len(home) + 1 :])}" if path.startswith(f"{home}/") else quote(path)
