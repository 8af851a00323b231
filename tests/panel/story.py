"""Two sessions and their work, for a scripted watcher: for tests, pictures and trying things out."""

from pathlib import Path
from typing import Any

from tests.panel.scripted_watcher import ScriptedWatcher, make_home

PARSER = '''diff --git a/src/parser.py b/src/parser.py
index 1111111..2222222 100644
--- a/src/parser.py
+++ b/src/parser.py
@@ -12,9 +12,12 @@ class Parser:
     def indent(self, line: str) -> int:
         """Columns of leading blanks."""
-        width = len(line) - len(line.lstrip(" "))
-        return width
+        width = 0
+        for c in line:
+            if c not in " \\t":
+                break
+            width += 1 if c == " " else TAB - width % TAB
+        return width

     def token(self) -> Token:
-        return self._tokens[0]
+        return self._tokens[self._at]
'''
TESTS = """diff --git a/tests/test_parser.py b/tests/test_parser.py
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/tests/test_parser.py
@@ -0,0 +1,9 @@
+from src.parser import Parser
+
+
+def test_a_tab_counts_to_the_next_stop() -> None:
+    assert Parser().indent("\\tx") == 8
+
+
+def test_blanks_before_a_tab_are_swallowed() -> None:
+    assert Parser().indent("   \\tx") == 8
"""
README = """diff --git a/README.md b/README.md
index 4444444..5555555 100644
--- a/README.md
+++ b/README.md
@@ -1,4 +1,6 @@
 # tinyparse

-Parses indented text.
+Parses indented text, with blanks or tabs.
+
+A tab stops at every eighth column.
"""


def entry(n: int, **fields: Any) -> dict[str, Any]:
    return {
        "n": n,
        "id": f"toolu_{n:05}",
        "lane": "chorus/accept-tabs",
        "session": "s1",
        "turn": "t1",
        "tool": "Edit",
        "agent": None,
        "paths": ["src/parser.py"],
        "status": "committed",
        "commit": f"{n:040x}",
        "summary": "Count a tab to the next stop",
        "source": "hook",
        "time": "2026-01-02T09:14:00+00:00",
        "added": 8,
        "removed": 3,
        "message": "Make the parser accept tabs as indentation",
        "landed": False,
        "reverts": [],
        **fields,
    }


def outside(name: str, **fields: Any) -> dict[str, Any]:
    """An outside change, such as the user's own edit."""
    nobody = dict.fromkeys(("n", "id", "lane", "session", "turn", "tool", "agent", "commit", "message"))
    return {
        **nobody,
        "timeline": name,
        "paths": ["README.md"],
        "status": "outside",
        "summary": "changed outside",
        "source": "",
        "time": "2026-01-02T09:18:00+00:00",
        "landed": False,
        "reverts": [],
        **fields,
    }


def prompt(identity: str = "p1", **fields: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "session": "s1",
        "pane": "%3",
        "kind": "permission",
        "tool": "Bash",
        "title": "Bash command",
        "question": "Do you want to proceed?",
        "options": [
            {"key": "1", "label": "Yes", "meaning": "allow"},
            {
                "key": "2",
                "label": "Yes, and don't ask again for make commands in /src/tinyparse",
                "meaning": "allow-always",
            },
            {"key": "3", "label": "No", "meaning": "deny"},
        ],
        "fingerprint": f"f-{identity}",
        "since": "2026-01-02T09:21:00+00:00",
        "body": "rm -rf build && make -j4 test\nRun the tests from a clean tree",
        "input": {"command": "rm -rf build && make -j4 test"},
        "path": None,
        **fields,
    }


def session(identity: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "lane": "chorus/accept-tabs",
        "state": "working",
        "pane": "%3",
        "sources": ["hooks"],
        "title": "Make the parser accept tabs",
        "since": "2026-01-02T09:10:00+00:00",
        "last": "2026-01-02T09:21:00+00:00",
        "tokens": {"input": 9_400, "output": 31_000, "cache_read": 900_000, "cache_write": 7_600},
        "cost_usd": 0.42,
        **fields,
    }


def lane(name: str, **fields: Any) -> dict[str, Any]:
    ref = f"refs/heads/{name}"
    return {
        "name": name,
        "ref": ref,
        "base": "0" * 40,
        "tip": "1" * 40,
        "session": "s1",
        "actions": 5,
        "open": 4,
    } | fields


def fill(watcher: ScriptedWatcher) -> None:
    """Two sessions, three turns, every status."""
    watcher.sessions = {
        "s1": session("s1"),
        "s2": session("s2", lane="chorus/docs-pass", state="idle", title="Proof-read the docs", pane="%5"),
    }
    watcher.lanes = {
        "chorus/accept-tabs": lane("chorus/accept-tabs"),
        "chorus/docs-pass": lane("chorus/docs-pass", session="s2", actions=2, open=1),
    }
    docs: dict[str, Any] = {"lane": "chorus/docs-pass", "session": "s2", "turn": "t2"}
    docs["message"] = "Proof-read the README and fix what reads badly"
    bash: dict[str, Any] = {"tool": "Bash", "paths": [], "added": None, "removed": None}
    later: dict[str, Any] = {"turn": "t3", "message": "Now write tests for it, and run them"}
    story = [
        (
            entry(
                37, status="kept", added=2, removed=2, paths=["src/tokens.py"], summary="Name the tab width"
            ),
            PARSER,
        ),
        (entry(38), PARSER),
        (entry(39, status="reverted", added=14, removed=0, paths=["src/compat.py"], tool="Write"), TESTS),
        (
            entry(40, **docs, added=3, removed=1, paths=["README.md"], summary="Say that tabs are fine"),
            README,
        ),
        (entry(41, **docs, **bash, status="noop", summary="Spell-check the docs"), ""),
        (
            entry(
                42,
                **later,
                tool="Write",
                added=9,
                removed=0,
                paths=["tests/test_parser.py"],
                summary="Test tab stops",
                time="2026-01-02T09:19:00+00:00",
            ),
            TESTS,
        ),
        (
            entry(
                43, **later, **bash, status="failed", summary="make test", time="2026-01-02T09:20:00+00:00"
            ),
            "",
        ),
        (
            entry(
                44,
                **later,
                watcher="reviewer",
                added=8,
                removed=3,
                summary="Read the token at the cursor, not the first one",
                time="2026-01-02T09:20:00+00:00",
            ),
            PARSER,
        ),
    ]
    for each, patch in story:
        watcher.entries[each["n"]] = each
        watcher.patches[each["n"]] = patch


def story_watcher(directory: Path) -> ScriptedWatcher:
    watcher = ScriptedWatcher(make_home(directory))
    fill(watcher)
    return watcher
