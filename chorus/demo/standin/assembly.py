"""Putting the parts of one client together around a front."""

import os
from dataclasses import dataclass
from pathlib import Path

from chorus.demo.script import Script, parse_script
from chorus.demo.standin.calls import Calls
from chorus.demo.standin.conversation import Conversation
from chorus.demo.standin.front import Front
from chorus.demo.standin.hooks import Hooks
from chorus.demo.standin.options import Options
from chorus.demo.standin.permissions import Permissions
from chorus.demo.standin.replies import Player
from chorus.demo.standin.session import Session
from chorus.demo.standin.settings import Settings
from chorus.demo.standin.shell import Shell
from chorus.demo.standin.tasks import Tasks
from chorus.demo.standin.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Client:
    conversation: Conversation
    hooks: Hooks
    shell: Shell
    tasks: Tasks


def open_session(options: Options, *, interactive: bool) -> tuple[Session, Script]:
    cwd = Path.cwd()
    script = read_script(options.script, cwd)
    # On a screen the client trusts itself unless told otherwise; headless it denies.
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


def assemble(options: Options, session: Session, script: Script, front: Front) -> Client:
    settings = Settings(session.config, session.cwd, options.settings)
    hooks = Hooks(session, settings)
    shell = Shell(session)
    tasks = Tasks(session, front, shell)
    permissions = Permissions(session, settings, options.allowed_tools)
    transcript = Transcript(session)
    calls = Calls(front, hooks, permissions, shell, tasks)
    player = Player(script, hooks, transcript, front, calls)
    conversation = Conversation(session, hooks, transcript, front, player)
    tasks.play_agent = conversation.play_agent
    return Client(conversation, hooks, shell, tasks)
