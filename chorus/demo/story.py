"""The story of the demo: a small program, two messages of the user, and the model's replies."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from chorus.demo.script import Text, ToolUse

GREET = '''"""Say hello."""


def greet(name):
    return f"Hello, {name}."


if __name__ == "__main__":
    print(greet("world"))
'''
README = "# Greeter\n\nSays hello.\n"
OWN_README = README + "\nTo do: a picture.\n"
TESTS = """import unittest

from greet import greet


class Greeting(unittest.TestCase):
    def test_it_is_polite(self):
        self.assertEqual(greet("Ada"), "Hello, Ada.")

    def test_it_can_shout(self):
        self.assertEqual(greet("Ada", shout=True), "HELLO, ADA.")


unittest.main()
"""
SHOUT = """def greet(name, shout=False):
    greeting = f"Hello, {name}."
    return greeting.upper() if shout else greeting"""
MAIN = """if __name__ == "__main__":
    import sys

    print(greet("world", shout="--shout" in sys.argv))"""
RUN_TESTS = "python3 test_greet.py"
BAD = "toolu_demo_goodbye"
GOOD = "toolu_demo_docstring"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user, the replies of the model, and the last text of these replies."""

    text: str
    replies: Sequence[Sequence[Text | ToolUse]]
    last_text: str


def messages(cwd: str) -> list[Message]:
    return [_feature(cwd), _polish(cwd)]


def _in_place() -> str:
    """Return sed's option to change a file in place; on macOS it takes an empty suffix."""
    is_gnu = subprocess.run(["sed", "--version"], capture_output=True).returncode == 0
    return "-i" if is_gnu else "-i ''"


def _feature(cwd: str) -> Message:
    greet = f"{cwd}/greet.py"
    main = GREET[GREET.index("if __name__") :].rstrip("\n")
    body = GREET[GREET.index("def greet") : GREET.index("\n\n\nif")]
    change = f"sed {_in_place()} s/world/all/ greet.py"
    return Message(
        "add a --shout option",
        [
            [Text("Reading the program first."), ToolUse("Read", {"file_path": greet})],
            [Text("Let greet() shout."), edit("toolu_demo_shout", greet, body, SHOUT)],
            [Text("Take --shout from the command line."), edit("toolu_demo_main", greet, main, MAIN)],
            [
                Text("Cover both in a test."),
                ToolUse("Write", {"file_path": f"{cwd}/test_greet.py", "content": TESTS}, "toolu_demo_test"),
            ],
            [
                Text("Greet all by default."),
                ToolUse("Bash", {"command": change, "description": "Greet all"}, "toolu_demo_sed"),
            ],
            [
                Text("Now the tests."),
                ToolUse("Bash", {"command": RUN_TESTS, "description": "Run the tests"}, "toolu_demo_run"),
            ],
            [Text("The greeter can shout now.")],
        ],
        "The greeter can shout now.",
    )


def _polish(cwd: str) -> Message:
    greet = f"{cwd}/greet.py"
    return Message(
        "make it friendlier",
        [
            [Text("A warmer word."), edit(BAD, greet, 'f"Hello, {name}."', 'f"Goodbye, {name}!"')],
            [Text("Say what it is for."), edit(GOOD, greet, '"""Say hello."""', '"""Greet people."""')],
            [Text("Friendlier now.")],
        ],
        "Friendlier now.",
    )


def edit(identifier: str, path: str, old: str, new: str) -> ToolUse:
    return ToolUse("Edit", {"file_path": path, "old_string": old, "new_string": new}, identifier)


# The file at the end: the bad edit was reverted, and the good edit after it stays.
FINAL_GREET = (
    GREET.replace(GREET[GREET.index("def greet") : GREET.index("\n\n\nif")], SHOUT)
    .replace(GREET[GREET.index("if __name__") :].rstrip("\n"), MAIN)
    .replace("world", "all")
    .replace('"""Say hello."""', '"""Greet people."""')
)
