"""The tool calls of the recorded dialogs, by the name of the recording."""

from typing import Any

PROJECT = "/src/proj"
APP = "def old():\n    pass\n\n\ndef keep():\n    return 1\n"
WORDS = "a-long-argument-to-force-wrapping echo "


def _question(question: str, header: str, *options: tuple[str, str], many: bool = False) -> dict[str, Any]:
    choices = [{"label": label, "description": description} for label, description in options]
    return {"question": question, "header": header, "multiSelect": many, "options": choices}


FEATURES = _question("Which features?", "Feat", ("Log", "a log"), ("Undo", "an undo"), many=True)
LANGUAGE = _question("Which language?", "Lang", ("Python", "snake"), ("Rust", "crab"))

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "edit": (
        "Edit",
        {
            "file_path": "{cwd}/app.py",
            "old_string": "def old():\n    pass",
            "new_string": "def new():\n    return True",
        },
    ),
    "create": ("Write", {"file_path": "{cwd}/new.txt", "content": "one\ntwo\n"}),
    "overwrite": ("Write", {"file_path": "{cwd}/app.py", "content": APP.replace("pass", "return 2")}),
    "outside": ("Write", {"file_path": "/src/lab/outside.txt", "content": "x\n"}),
    "touch": ("Bash", {"command": "touch made.txt && echo hello", "description": "Make a file"}),
    "loop": (
        "Bash",
        {
            "command": f"for i in 1 2 3; do echo $i; done; echo {WORDS * 6}&& touch made.txt",
            "description": "Loop over three",
        },
    ),
    "npm": ("Bash", {"command": "npm run build --if-present", "description": "Build"}),
    "heredoc": ("Bash", {"command": "cat > made.txt <<'EOF'\none\ntwo\nEOF\nls", "description": "Here-doc"}),
    "nodesc": ("Bash", {"command": "sed -i s/pass/return/ app.py"}),
    "fetch": ("WebFetch", {"url": "https://example.com/page", "prompt": "what"}),
    "websearch": ("WebSearch", {"query": "chorus"}),
    "ask": ("AskUserQuestion", {"questions": [LANGUAGE]}),
    "askmulti": ("AskUserQuestion", {"questions": [FEATURES, LANGUAGE]}),
}
