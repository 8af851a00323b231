"""Scenarios for end-to-end tests: a script each, and exactly what must be recorded.

The real client plays a scenario in each way a session can be watched, in its own directory inside the project
(`{p}`); `{go}` is a file beside the project that lets a background command continue.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.lab.script import Step, Text, ToolUse

APP = "def old():\n    pass\n"


@dataclass(frozen=True, slots=True)
class Say:
    """The user sends a message; its script is played to the end."""

    message: str
    script: Sequence[Sequence[Step]]


@dataclass(frozen=True, slots=True)
class UserWrites:
    """The user changes a file between two messages."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """The waiting background command continues, once the records so far are checked."""

    path: str


@dataclass(frozen=True, slots=True)
class Expected:
    """One log entry, and what its lane commit changes: path to new text (None: deleted)."""

    tool: str
    status: str
    after: Mapping[str, str | None] = field(default_factory=dict)
    by_sub_agent: bool = False
    why: str = ""  # what the summary says of a failure


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    steps: Sequence[Say | UserWrites | LetGo]
    expected: Sequence[Expected]
    files: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[str, Sequence[Sequence[Step]]] = field(default_factory=dict)  # of sub-agents, by message
    outside: Sequence[str] = ()  # paths whose change must be recorded as outside

    def __str__(self) -> str:
        return self.name


def edit(path: str, old: str, new: str) -> ToolUse:
    return ToolUse("Edit", {"file_path": f"{{p}}/{path}", "old_string": old, "new_string": new})


def write(path: str, content: str) -> ToolUse:
    return ToolUse("Write", {"file_path": f"{{p}}/{path}", "content": content})


def read(path: str) -> ToolUse:
    return ToolUse("Read", {"file_path": f"{{p}}/{path}"})


def bash(command: str, **more: Any) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "run it", **more})


def notebook(source: str) -> str:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "c1",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }
    meta = {"language_info": {"name": "python"}}
    return json.dumps({"cells": [cell], "metadata": meta, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def go_file(directory: Path) -> Path:
    return directory.parent.parent / f"go-{directory.name}"


def in_directory(value: Any, directory: Path) -> Any:
    """The same data with `{p}` replaced by the scenario's directory."""
    match value:
        case str():
            return value.replace("{p}", str(directory)).replace("{go}", str(go_file(directory)))
        case Mapping():
            return {name: in_directory(inner, directory) for name, inner in value.items()}
        case list() | tuple():
            return type(value)(in_directory(inner, directory) for inner in value)
        case ToolUse():
            return ToolUse(value.name, in_directory(value.input, directory), value.id)
        case _:
            return value


def placed(scenario: Scenario, number: int, project: Path) -> Scenario:
    """The scenario in its own directory."""
    name = f"s{number}"
    steps: list[Say | UserWrites | LetGo] = []
    for place, step in enumerate(scenario.steps):
        match step:
            case Say(message, script):
                turns = [[in_directory(one, project / name) for one in turn] for turn in script]
                last = turns[-1][-1]
                assert isinstance(last, Text)
                turns[-1][-1] = Text(f"{last.text} ({number}.{place})")
                steps.append(Say(f"{message} {number}.{place}", turns))
            case UserWrites(path, text):
                steps.append(UserWrites(f"{name}/{path}", text))
            case LetGo(path):
                steps.append(LetGo(in_directory(path, project / name)))
    expected = [
        replace(e, after={f"{name}/{path}": text for path, text in e.after.items()})
        for e in scenario.expected
    ]
    return replace(
        scenario,
        steps=steps,
        expected=expected,
        files={f"{name}/{path}": text for path, text in {"app.py": APP, **scenario.files}.items()},
        tasks={
            message: [[in_directory(one, project / name) for one in turn] for turn in script]
            for message, script in scenario.tasks.items()
        },
        outside=[f"{name}/{path}" for path in scenario.outside],
    )


SCENARIOS = [
    Scenario(
        "a new file",
        [Say("make it", [[Text("I add b.py."), write("b.py", "b = 1\n")], [Text("Made.")]])],
        [Expected("Write", "committed", {"b.py": "b = 1\n"})],
    ),
    Scenario(
        "an edit",
        [Say("rename", [[read("app.py")], [edit("app.py", "old", "new")], [Text("Renamed.")]])],
        [Expected("Edit", "committed", {"app.py": "def new():\n    pass\n"})],
    ),
    Scenario(
        "an edit that fails",
        [Say("fail", [[read("app.py")], [edit("app.py", "nowhere", "x")], [Text("Failed.")]])],
        [Expected("Edit", "failed", why="String to replace not found")],
    ),
    Scenario(
        "two edits of one file in one message",
        [
            Say(
                "both",
                [
                    [read("app.py")],
                    [edit("app.py", "old", "new"), edit("app.py", "pass", "return 1")],
                    [Text("Both.")],
                ],
            )
        ],
        [
            Expected("Edit", "committed", {"app.py": "def new():\n    pass\n"}),
            Expected("Edit", "committed", {"app.py": "def new():\n    return 1\n"}),
        ],
    ),
    Scenario(
        "edits of two files in one message",
        [
            Say(
                "two",
                [
                    [read("app.py"), read("b.py")],
                    [edit("app.py", "old", "new"), edit("b.py", "1", "2")],
                    [Text("Two.")],
                ],
            )
        ],
        [
            Expected("Edit", "committed", {"app.py": "def new():\n    pass\n"}),
            Expected("Edit", "committed", {"b.py": "b = 2\n"}),
        ],
        files={"b.py": "b = 1\n"},
    ),
    Scenario(
        "a file written over",
        [Say("over", [[read("app.py")], [write("app.py", "x = 1\n")], [Text("Over.")]])],
        [Expected("Write", "committed", {"app.py": "x = 1\n"})],
    ),
    Scenario(
        "a notebook's cell",
        [
            Say(
                "cell",
                [
                    [read("n.ipynb")],
                    [
                        ToolUse(
                            "NotebookEdit",
                            {"notebook_path": "{p}/n.ipynb", "cell_id": "c1", "new_source": "y = 2"},
                        )
                    ],
                    [Text("Cell.")],
                ],
            )
        ],
        [Expected("NotebookEdit", "committed", {"n.ipynb": notebook("y = 2")})],
        files={"n.ipynb": notebook("x = 1")},
    ),
    Scenario(
        "a command that edits in place",
        [Say("sed", [[bash("sed -i s/old/new/ {p}/app.py")], [Text("Sedded.")]])],
        [Expected("Bash", "committed", {"app.py": "def new():\n    pass\n"})],
    ),
    Scenario(
        "a command that makes and deletes files",
        [
            Say(
                "shuffle",
                [
                    [bash("cd {p}; echo 1 > one.txt; mkdir -p d && echo 2 > d/two.txt; rm gone.txt")],
                    [Text("Shuffled.")],
                ],
            )
        ],
        [Expected("Bash", "committed", {"one.txt": "1\n", "d/two.txt": "2\n", "gone.txt": None})],
        files={"gone.txt": "bye\n"},
    ),
    Scenario(
        "the user edits the same file between two edits of the agent",
        [
            Say("first", [[read("app.py")], [edit("app.py", "old", "new")], [Text("First.")]]),
            UserWrites("app.py", "def new():\n    pass\n\n\n# mine\n"),
            Say("second", [[read("app.py")], [edit("app.py", "def new", "def newer")], [Text("Second.")]]),
        ],
        [
            Expected("Edit", "committed", {"app.py": "def new():\n    pass\n"}),
            Expected("Edit", "committed", {"app.py": "def newer():\n    pass\n"}),
        ],
        outside=["app.py"],
    ),
    Scenario(
        "an edit that a rule denies",
        [Say("deny", [[read("denied.txt")], [edit("denied.txt", "no", "yes")], [Text("Denied.")]])],
        [Expected("Edit", "denied")],
        files={"denied.txt": "no\n"},
    ),
    Scenario(
        "a command in the background",
        [
            Say(
                "later",
                [
                    [
                        bash(
                            "until [ -e {go} ]; do sleep 0.05; done; echo later > {p}/late.txt",
                            run_in_background=True,
                        )
                    ],
                    [Text("Started.")],
                ],
            ),
            LetGo("{go}"),
        ],
        [Expected("Bash", "noop"), Expected("Bash", "committed", {"late.txt": "later\n"})],
    ),
    Scenario(
        "a command that takes so long that the client moves it to the background",
        [
            Say(
                "long",
                [
                    [
                        bash(
                            "echo soon > {p}/soon.txt; until [ -e {go} ]; do sleep 0.05; done;"
                            " echo later > {p}/late.txt",
                            timeout=1000,
                        )
                    ],
                    [Text("Moved.")],
                ],
            ),
            LetGo("{go}"),
        ],
        [
            Expected("Bash", "committed", {"soon.txt": "soon\n"}),
            Expected("Bash", "committed", {"late.txt": "later\n"}),
        ],
    ),
    Scenario(
        "a sub-agent in the background that edits",
        [
            Say(
                "delegate",
                [
                    [
                        ToolUse(
                            "Agent",
                            {
                                "description": "sub",
                                "prompt": "do the sub job",
                                "subagent_type": "general-purpose",
                            },
                        )
                    ],
                    [Text("Delegated.")],
                ],
            )
        ],
        [Expected("Edit", "committed", {"app.py": "def sub():\n    pass\n"}, by_sub_agent=True)],
        tasks={
            "do the sub job": [[read("app.py")], [edit("app.py", "old", "sub")], [Text("Sub done.")]],
        },
    ),
]
