"""Assemble the parts of a client around an output."""

import os
from dataclasses import dataclass
from pathlib import Path

from tests.client_double.calls import Calls
from tests.client_double.conversation import Conversation
from tests.client_double.hooks import Hooks
from tests.client_double.options import Options
from tests.client_double.output import Output
from tests.client_double.permissions import Permissions
from tests.client_double.replies import ReplyPlayer
from tests.client_double.script import Script, parse_script
from tests.client_double.session import Session
from tests.client_double.settings import Settings
from tests.client_double.shell import Shell
from tests.client_double.tasks import Tasks
from tests.client_double.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Client:
    conversation: Conversation
    hooks: Hooks
    shell: Shell
    tasks: Tasks


def open_session(options: Options, *, interactive: bool) -> tuple[Session, Script]:
    cwd = Path.cwd()
    script = read_script(options.script, cwd)
    # The default mode is auto on a screen; headless, what needs a permission is denied.
    mode = options.mode or ("auto" if interactive else "default")
    home = Path(os.environ.get("HOME", "/"))
    session = Session(cwd, home, script.version, interactive, mode)
    known = options.resume or options.session_id
    if known is not None:
        session.id = known
    return session, script


def read_script(source: str, cwd: Path) -> Script:
    if not source:
        return Script()
    text = source if source.lstrip().startswith("{") else Path(source).read_text(encoding="utf-8")
    return parse_script(text, cwd=str(cwd))


def assemble(options: Options, session: Session, script: Script, output: Output) -> Client:
    settings = Settings(session.config, session.cwd, options.settings)
    hooks = Hooks(session, settings)
    shell = Shell(session)
    tasks = Tasks(session, output, shell)
    permissions = Permissions(session, settings, options.allowed_tools)
    transcript = Transcript(session)
    calls = Calls(output, hooks, permissions, shell, tasks)
    player = ReplyPlayer(script, hooks, transcript, output, calls)
    conversation = Conversation(session, hooks, transcript, output, player)
    tasks.play_agent = conversation.play_agent
    return Client(conversation, hooks, shell, tasks)
