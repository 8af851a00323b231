"""Imports point one way, and each outside library has one door. See docs/architecture.md."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.agents import AGENTS

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "chorus").rglob("*.py"))

# A room may import the rooms named here, itself, and `text`. `""` is the package's own __init__.
MAY_IMPORT = {
    "": set(),
    "__main__": {"cli"},
    "cli": {"", "commands", "errors", "output"},
    "commands": {
        "", "demo", "panel", "inbox", "web", "watcher", "config", "review", "history", "policy", "agents",
        "store", "tmux", "system", "wire", "model", "errors", "output",
    },
    "demo": {"", "tmux", "system", "wire", "model", "errors", "output"},
    "panel": {"", "inbox", "system", "wire", "model", "errors", "output"},
    "inbox": {"", "system", "wire", "model", "errors"},
    "web": {"inbox", "panel", "system", "wire", "model", "errors", "output"},
    "watcher": {
        "", "review", "history", "changes", "policy", "config", "agents", "store", "tmux", "system", "wire",
        "model", "errors",
    },
    "review": {"history", "changes", "config", "store", "system", "model", "errors"},
    "history": {"", "changes", "store", "system", "model", "errors"},
    "config": {"policy", "system", "errors"},
    "agents": {"", "system", "model", "errors"},
    "changes": {"model"},
    "policy": {"model", "errors"},
    "store": {"system", "model", "errors"},
    "tmux": {"system", "model", "errors"},
    "system": {"model", "errors"},
    "wire": {"", "system", "model", "errors"},
    "model": {"errors"},
    "output": {"text"},
    "text": set(),
    "errors": set(),
}  # fmt: skip
# Outside library -> the only room that may import it.
DOORS = {
    "git": "store",
    "gitdb": "store",
    "libtmux": "tmux",
    "watchdog": "system",
    "psutil": "system",
    "textual": "panel",
    "rich": "panel",
    "starlette": "web",
    "uvicorn": "web",
    "segno": "web",
}
# Pure code takes data and gives data: no clock, disk, process or thread. Whole rooms, and parts of `agents`.
CLAUDE_CODE = "agents/claude_code"
PURE = (
    "model", "text", "changes", "policy",
    *(f"{CLAUDE_CODE}/{part}" for part in (
        "terminal", "events", "pairing", "dialogs", "replies", "change_reports.py", "settings/json_text.py",
        "settings/hook_entries.py",
    )),
)  # fmt: skip
PURE_LIBRARIES = {
    "typing_extensions",
    "pydantic",
    "pydantic_core",
    "orjson",
    "tree_sitter",
    "tree_sitter_bash",
}
FORBIDDEN_IN_PURE = {
    "asyncio", "concurrent", "ctypes", "fcntl", "glob", "io", "locale", "logging", "mmap", "multiprocessing",
    "os", "pathlib", "platform", "random", "secrets", "select", "selectors", "shutil", "signal", "socket",
    "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib",
}  # fmt: skip
FORBIDDEN_NAMES = {"utils", "util", "helpers", "services", "manager", "common", "misc"}


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "chorus").with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


def is_pure(path: Path) -> bool:
    relative = path.relative_to(ROOT / "chorus")
    return any(relative.is_relative_to(part) for part in PURE)


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=module, level=0, names=names) if module:
                if module == "chorus":
                    yield from (f"chorus.{n.name}" if n.name in MAY_IMPORT else "chorus" for n in names)
                else:
                    yield module
            case ast.ImportFrom(level=level) if level:
                raise AssertionError(f"{path}: relative import; say `from chorus.…`")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(path)
    for module in imports_of(path):
        top, *rest = module.split(".")
        if top == "chorus":
            target = rest[0] if rest else ""
            assert target in {room, "text"} or target in MAY_IMPORT[room], (
                f"{room or 'chorus'} must not import {module}"
            )
        elif top in DOORS:
            assert DOORS[top] == room, f"only chorus/{DOORS[top]} may import {top}"
        elif is_pure(path) and top not in PURE_LIBRARIES:
            assert top in sys.stdlib_module_names, f"pure code must not import {top}"
            assert top not in FORBIDDEN_IN_PURE, f"this code must stay pure: {module}"


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if room_of(path) != "agents"],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_an_agent_is_used_through_its_interface_alone(path: Path) -> None:
    packages = tuple(f"chorus.agents.{name}" for name in AGENTS)
    assert not [module for module in imports_of(path) if module.startswith(packages)]


def test_other_rooms_use_an_agent_only_through_the_interface() -> None:
    packages = tuple(f"chorus.agents.{name}" for name in AGENTS)
    others = [path for path in SOURCES if room_of(path) != "agents"]
    assert not [path for path in others if any(m.startswith(packages) for m in imports_of(path))]


# What only some systems have. `system` alone knows which one this is.
SYSTEM_WORDS = re.compile(
    r"/proc\b|/sys/|sys\.platform|platform\.system|os\.uname|SO_PEERCRED|LOCAL_PEERCRED|sync_file_range|fsync\("
    r"|IN_MODIFY|inotify_|kqueue|[Ff][Ss][Ee]vents|eventfd|pbcopy|xclip|wl-copy"
    r"|pidfd|memfd|os\.sched_|os\.splice|posix_fadvise|O_TMPFILE|renameat2|prctl|sed -i "
)
# The first line of a bug report names the system, and so does `doctor`.
MAY_NAME_THE_SYSTEM = {"chorus/cli.py", "chorus/commands/doctor.py", "chorus/system/this_system.py"}


def test_only_the_system_room_knows_what_differs_by_system() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in SOURCES
        if room_of(path) != "system" and str(path.relative_to(ROOT)) not in MAY_NAME_THE_SYSTEM
        for match in SYSTEM_WORDS.finditer(_code_of(path))
    ]
    assert not found


def test_one_module_asks_which_system_this_is() -> None:
    asking = [path for path in SOURCES if "platform" in _code_of(path)]
    assert {str(path.relative_to(ROOT)) for path in asking} == MAY_NAME_THE_SYSTEM


def test_linux_and_macos_offer_the_same_functions() -> None:
    linux, macos = ROOT / "chorus/system/linux", ROOT / "chorus/system/macos"
    for path in sorted(macos.glob("*.py")):
        if path.stem != "__init__":
            assert _public_functions(path) <= _public_functions(linux / path.name), path.name


def _public_functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}


def _code_of(path: Path) -> str:
    """The source without comments and docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_text = bool(node.body) and isinstance(node.body[0], ast.Expr)
            if is_text and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def test_every_room_is_under_the_contract() -> None:
    assert {room_of(path) for path in SOURCES} <= set(MAY_IMPORT)


def test_no_module_is_named_after_nothing() -> None:
    assert not [path for path in SOURCES if path.stem in FORBIDDEN_NAMES]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_help_and_version_load_no_library(arguments: list[str]) -> None:
    code = (
        "import sys; from chorus.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        "heavy = {'git', 'libtmux', 'pydantic', 'watchdog', 'textual', 'orjson', 'asyncio', 'subprocess',"
        " 'argparse', 'json'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("commands", "kept_out"),
    [
        (["blame", "revert", "redo", "keep", "land", "drop"], ()),
        (["log", "show", "diff", "lanes", "status", "prompts", "inbox"], ("dataclasses",)),
    ],
)
def test_a_command_that_can_ask_a_watcher_loads_nothing_that_reads_history(
    commands: list[str], kept_out: tuple[str, ...]
) -> None:
    rooms = ("chorus.store", "chorus.history", "chorus.watcher", "pydantic", "orjson", "asyncio", *kept_out)
    code = (
        "import sys; from chorus.commands.parser.catalog import load\n"
        f"for name in {commands!r}: load(name)\n"
        # Python 3.14 itself loads dataclasses, to colour help.
        f"own = set() if '_colorize' not in sys.modules else {{'dataclasses'}}\n"
        f"sys.exit(' '.join(sorted(m for m in sys.modules if m not in own and m.startswith({rooms!r}))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["status --short", "prompts", "log", "show 1", "lanes", "diff 1"])
def test_a_command_that_only_asks_the_watcher_loads_little(command: str) -> None:
    """Each of these modules takes a third of the time that Python itself needs to start, or more."""
    heavy = ("argparse", "asyncio", "dataclasses", "pathlib", "pydantic", "shutil", "subprocess", "typing")
    name, *arguments = command.split()
    code = (
        "import sys; from chorus.commands.parser.catalog import load_command, parse\n"
        f"parse({name!r}, load_command({name!r}), {arguments!r})\n"
        f"sys.exit(' '.join(sorted({set(heavy)!r} & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_the_log_without_a_watcher_loads_only_what_it_reads() -> None:
    """Loading `store.refs`, and with it dataclasses, made `chorus log` a third slower."""
    heavy = {
        "dataclasses",
        "chorus.store.refs",
        "chorus.history.recorder",
        "chorus.model.api.json_api",
        "pydantic",
    }
    code = (
        "import sys, chorus.commands.access.direct\n"
        # Python 3.14 itself loads dataclasses, to colour help.
        "own = set() if '_colorize' not in sys.modules else {'dataclasses'}\n"
        f"sys.exit(' '.join(sorted({heavy!r} & set(sys.modules) - own)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
