"""Rules are checked and ordered, and a repository can never loosen them."""

from typing import Any

import pytest

from chorus.policy.rate_limit import ApprovalRateLimit
from chorus.policy.rules import BadPolicy, Policy, parse_policy
from chorus.policy.verdict import Verdict, judge_call
from tests.policy.test_policy import POLICY, ROOT, bash, resolve


def call(tool: str, policy: Policy = POLICY, **tool_input: Any) -> Verdict:
    return judge_call(tool, tool_input, policy, root=ROOT, resolve=resolve)


def rules(*table: dict[str, Any]) -> Policy:
    return parse_policy({"rule": list(table)})


@pytest.mark.parametrize(
    ("tool", "path", "decision"),
    [
        ("Write", "src/a.py", "allow"),
        ("Write", "/repo/src/deep/a.py", "allow"),
        ("Write", "src/in/a.py", "allow"),
        ("Write", "src/out/passwd", "ask"),  # a link out of the tree
        ("Write", "src/../a.py", "ask"),
        ("Write", "a.py", "ask"),
        ("Write", "/etc/passwd", "ask"),
        ("Write", "~/a.py", "ask"),
        ("Write", ".env", "deny"),
        ("Write", "src/.git/config", "ask"),
        ("Edit", "a.py", "allow"),  # no path in the rule: anywhere in the tree
        ("Edit", "../a.py", "ask"),
        ("Edit", "/repository/a.py", "ask"),
        ("Edit", "package.json", "ask"),
        ("Edit", "PACKAGE.JSON", "ask"),
        ("Edit", ".git/hooks/pre-commit", "ask"),
        ("Edit", ".GIT/config", "ask"),
        ("Edit", ".claude/settings.json", "ask"),
        ("Edit", ".chorus.toml", "ask"),
        ("Edit", "sub/.mcp.json", "ask"),
        ("Edit", "secrets/key", "deny"),
        ("Edit", "secrets", "ask"),
        ("Edit", "Secrets/Key", "deny"),
        ("Read", "a.py", "allow"),
        ("Read", ".env.local", "deny"),
        ("MultiEdit", "a.py", "ask"),
    ],
)
def test_a_file_is_judged_by_its_resolved_path(tool: str, path: str, decision: str) -> None:
    assert call(tool, file_path=path).decision == decision


def test_a_rule_covers_a_protected_file_only_if_it_names_it() -> None:
    policy = rules({"decision": "allow", "tool": "Edit", "path": ".claude/agents/**"})
    assert call("Edit", policy, file_path=".claude/agents/a.md").decision == "allow"
    assert call("Edit", policy, file_path=".claude/agents/.git/x").decision == "ask"


def test_a_notebook_is_named_by_its_own_key() -> None:
    policy = rules({"decision": "allow", "tool": "NotebookEdit", "path": "*.ipynb"})
    assert call("NotebookEdit", policy, notebook_path="a.ipynb").decision == "allow"
    assert call("NotebookEdit", policy, notebook_path="deep/a.ipynb").decision == "ask"
    assert call("NotebookEdit", policy, file_path="a.ipynb").decision == "ask"


@pytest.mark.parametrize("tool_input", [{}, {"file_path": ""}, {"file_path": 3}, {"file_path": None}])
def test_a_call_without_its_file_is_asked(tool_input: dict[str, Any]) -> None:
    assert call("Edit", **tool_input).decision == "ask"


@pytest.mark.parametrize(
    "tool_input", [{}, {"command": None}, {"command": ["ls"]}, {"command": ""}, {"command": "#"}]
)
def test_a_call_without_a_command_is_asked(tool_input: dict[str, Any]) -> None:
    assert call("Bash", **tool_input).decision == "ask"


def test_a_command_that_leaves_the_sandbox_is_asked() -> None:
    assert call("Bash", command="ls").decision == "allow"
    assert call("Bash", command="ls", dangerouslyDisableSandbox=True).decision == "ask"


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode", "EnterPlanMode"])
def test_a_question_is_never_answered_by_a_rule(tool: str) -> None:
    assert call(tool, rules({"decision": "deny", "tool": "*"})).decision == "ask"


def test_an_unknown_tool_needs_a_rule_of_its_own() -> None:
    assert call("mcp__lab__poke", what="x").decision == "allow"
    assert call("mcp__lab__drop").decision == "deny"
    assert call("mcp__other__poke").decision == "ask"
    assert call("Unheard").decision == "ask"


def test_a_restricted_path_holds_for_unknown_tools() -> None:
    assert call("mcp__lab__poke", what={"files": ["a", {"x": ".env"}], "n": 1}).decision == "deny"
    assert call("mcp__lab__poke", what="~/x").decision == "allow"


def test_deny_comes_before_ask_and_ask_before_allow_in_any_order() -> None:
    table = [{"decision": decision, "command": "ls *"} for decision in ("allow", "ask", "deny")]
    for order in (table, table[::-1]):
        assert bash("ls", rules(*order)).decision == "deny"
        assert bash("ls", rules(*(rule for rule in order if rule["decision"] != "deny"))).decision == "ask"


def test_a_rule_for_a_whole_tool_covers_every_command() -> None:
    allow = {"decision": "allow", "command": "ls *"}
    assert bash("ls", rules(allow, {"decision": "deny", "tool": "Bash"})).decision == "deny"
    assert bash("ls", rules(allow, {"decision": "ask", "tool": "B*"})).decision == "ask"
    assert bash("ls", rules(allow, {"decision": "deny", "tool": "Edit"})).decision == "allow"


def test_findings_name_the_rule_and_its_reason() -> None:
    findings = bash("ls && rm -rf x").findings
    assert [(finding.decision, finding.about) for finding in findings] == [
        ("allow", "ls"),
        ("deny", "rm -rf x"),
    ]
    assert findings[1].because == "rule `deny command='rm -rf *'`: gone is gone"


def test_a_pattern_without_a_last_star_matches_its_words_only() -> None:
    policy = rules({"decision": "allow", "command": "npm test"})
    assert bash("npm test", policy).decision == "allow"
    assert bash("npm test --x", policy).decision == "ask"
    assert bash("npm", policy).decision == "ask"


def test_a_star_inside_a_pattern_matches_one_word() -> None:
    policy = rules(
        {"decision": "allow", "command": "npm run build:*"}, {"decision": "allow", "command": "cp * b"}
    )
    assert bash("npm run build:all", policy).decision == "allow"
    assert bash("npm run test", policy).decision == "ask"
    assert bash("cp a b", policy).decision == "allow"
    assert bash('cp "$x" b', policy).decision == "ask"


def test_a_denied_command_name_may_be_a_pattern() -> None:
    policy = rules({"decision": "deny", "command": "mkfs* *"})
    assert bash("mkfs.ext4 /dev/sda", policy).decision == "deny"
    assert bash("$x", policy).decision == "ask"


def test_a_repository_may_deny_but_not_allow() -> None:
    allow = {"decision": "allow", "command": "ls *"}
    deny = {"decision": "deny", "command": "ls -R *"}
    policy = parse_policy({"rule": [allow], "per_minute": 5}, {"rule": [{**allow, "command": "rm *"}, deny]})
    assert bash("ls", policy).decision == "allow"
    assert bash("rm a.txt", policy).decision == "ask"
    assert bash("ls -R a", policy).decision == "deny"
    assert "the repository's" in bash("ls -R a", policy).findings[0].because
    assert [rule.text for rule in policy.ignored] == ["allow command='rm *'"]


@pytest.mark.parametrize(("own", "theirs", "limit"), [(5, 3, 3), (5, 100, 5), (5, None, 5), (None, 0, 0)])
def test_a_repository_can_only_lower_the_limit(own: int | None, theirs: int | None, limit: int) -> None:
    tables = [{} if value is None else {"per_minute": value} for value in (own, theirs)]
    assert parse_policy(*tables).per_minute == limit


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"decision": "allow"}, "needs a tool, a command or a path"),
        ({"decision": "allow", "path": "src/**"}, "needs a tool other than"),
        ({"decision": "allow", "tool": "*"}, "needs a tool other than"),
        ({"decision": "allow", "tool": "Bash"}, "needs a command"),
        ({"decision": "allow", "tool": "AskUserQuestion"}, "cannot be allowed"),
        ({"decision": "allow", "command": "*"}, "must name the program in full"),
        ({"decision": "allow", "command": "git* status"}, "must name the program in full"),
        ({"decision": "allow", "command": "ls *", "path": "src/**"}, "cannot have a path"),
        ({"decision": "deny", "tool": "Edit", "command": "ls"}, "only the tool Bash has a command"),
        ({"decision": "deny", "command": ""}, "at least a name"),
        ({"decision": "deny", "command": "'"}, "No closing quotation"),
        ({"decision": "perhaps", "tool": "Edit"}, "rule.0.decision"),
        ({"decision": "deny", "tool": "Edit", "colour": "red"}, "rule.0.colour"),
    ],
)
def test_an_invalid_rule_is_refused_with_a_reason(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(BadPolicy, match=message):
        rules(rule)


def test_approvals_are_limited_in_any_minute() -> None:
    throttle = ApprovalRateLimit()
    assert [throttle.try_acquire(now, 2) for now in (0.0, 1.0, 2.0, 59.9, 60.0, 60.5, 61.0, 200.0)] == [
        True, True, False, False, True, False, True, True,
    ]  # fmt: skip
    assert not ApprovalRateLimit().try_acquire(0.0, 0)
