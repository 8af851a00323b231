"""Rules are checked and ordered, and a repository can never loosen them."""

from typing import Any

import pytest

from chorus.policy.command_verdict import explain_no_effect
from chorus.policy.rate_limit import ApprovalRateLimit
from chorus.policy.rules import BadPolicy, Policy, parse_policy
from chorus.policy.verdict import Verdict, judge_call
from tests.policy.test_policy import POLICY, ROOT, bash, find_git_root, resolve


def call(tool: str, policy: Policy = POLICY, **tool_input: Any) -> Verdict:
    return judge_call(tool, tool_input, policy, root=ROOT, resolve=resolve, find_git_root=find_git_root)


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
    assert call("mcp__lab__poke", what="~/x").decision == "ask", "nobody knows which file it is"
    assert call("mcp__lab__poke", what=f"{'x' * 256}/../~\0").decision == "ask", "a program may shorten it"
    assert call("mcp__lab__poke", what="~" + "x" * 254).decision == "ask", "the longest name"
    assert call("mcp__lab__poke", what="~" + "x" * 255).decision == "allow", "no file has such a name"
    assert call("mcp__lab__poke", what="a/~" + "x" * 254 + "\0").decision == "allow"
    assert call("mcp__lab__poke", what="a/\0b").decision == "ask"


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
        {"decision": "allow", "command": "npm run build:*"},
        {"decision": "allow", "command": "cp * b", "arguments": "any"},
    )
    assert bash("npm run build:all", policy).decision == "allow"
    assert bash("npm run test", policy).decision == "ask"
    assert bash("cp a b", policy).decision == "allow"
    assert bash("cp a b c", policy).decision == "ask"
    assert bash('cp "$x" b', policy).decision == "ask"


def test_a_rule_that_spells_the_command_out_needs_no_list() -> None:
    exact = "docker compose up -d", "make 'X=y'", "sudo apt-get update", "git -C docs push", "cp a /tmp/b"
    policy = rules(*({"decision": "allow", "command": command} for command in exact))
    for command in exact:
        assert bash(command, policy).decision == "allow", command
        assert bash(command + " x", policy).decision == "ask", command
    # Not what runs text or changes the shell, and not a file that decides what runs later.
    for command in ("eval ls", "alias", "cp a .git/hooks/x"):
        assert bash(command, rules({"decision": "allow", "command": command})).decision == "ask"


def test_a_star_allows_listed_arguments_unless_the_rule_trusts_any() -> None:
    broad = {"decision": "allow", "command": "mytool *"}
    assert bash("mytool x", rules(broad)).decision == "ask"
    assert "`mytool x` are harmless" in bash("mytool x", rules(broad)).findings[0].because
    assert bash("mytool x", rules({**broad, "arguments": "any"})).decision == "allow"
    assert bash("mytool .git/config", rules({**broad, "arguments": "any"})).decision == "ask"
    sudo = {"decision": "allow", "command": "sudo *", "arguments": "any"}
    assert bash("sudo ls", rules(sudo)).decision == "ask"


@pytest.mark.parametrize(
    ("rule", "has_effect"),
    [
        ({"command": "mytool *"}, False),
        ({"command": "mytool *", "arguments": "any"}, True),
        ({"command": "mytool x"}, True),
        ({"command": "sudo ls *"}, False),
        ({"command": "sudo *", "arguments": "any"}, False),
        ({"command": "sudo ls"}, True),
        ({"command": "git *"}, True),
        ({"command": "git push *"}, False),
        ({"command": "ls *"}, True),
        ({"tool": "Edit"}, True),
        ({"command": "mytool *", "decision": "deny"}, True),
    ],
)
def test_a_rule_that_can_allow_nothing_is_recognised(rule: dict[str, str], has_effect: bool) -> None:
    assert (explain_no_effect(rules({"decision": "allow", **rule}).rules[0]) is None) is has_effect


def test_a_subcommand_that_writes_must_be_named_by_the_rule() -> None:
    broad, named = {"decision": "allow", "command": "git *"}, {"decision": "allow", "command": "git commit *"}
    assert bash("git log --oneline", rules(broad)).decision == "allow"
    assert bash("git push", rules(broad)).decision == "ask"
    assert bash("git commit -am 'a b'", rules(broad)).decision == "ask"
    assert bash("git commit -am 'a b'", rules(named)).decision == "allow"
    assert bash("git commit -m x --no-verify", rules(named)).decision == "ask"
    assert "writes" in bash("git commit -m x", rules(broad)).findings[0].because


def test_git_is_allowed_only_where_it_finds_the_work_trees_own_repository() -> None:
    policy = rules({"decision": "allow", "command": "git status *"})

    def judge(here: str, found: str | None) -> str:
        return judge_call(
            "Bash",
            {"command": "git status"},
            policy,
            root=ROOT,
            resolve=lambda named: here if named == "." else None,
            find_git_root=lambda directory: found if directory == here else "",
        ).decision

    assert judge("/repo", "/repo") == "allow"
    assert judge("/repo/src", "/repo") == "allow"
    assert judge("/repo/bare", None) == "ask"
    assert judge("/repo/nested", "/repo/nested") == "ask"


def test_git_is_asked_where_its_directory_cannot_be_resolved() -> None:
    policy = rules({"decision": "allow", "command": "git status"}, {"decision": "deny", "path": "secret"})
    verdict = judge_call(
        "Bash",
        {"command": "git status"},
        policy,
        root=ROOT,
        resolve=lambda _: None,
        find_git_root=lambda _: ROOT,
    )
    assert verdict.decision == "ask"


def test_a_path_that_cannot_be_resolved_is_asked() -> None:
    assert bash("cat '~x'").decision == "ask"
    assert bash("cat '~x' $y").decision == "ask"


def test_a_redirection_is_a_write() -> None:
    policy = rules({"decision": "deny", "tool": "Write", "path": "src/**"})
    assert bash("ls > src/a", policy).decision == "deny"
    assert bash("ls > a; ls > /dev/null; ls > $x", policy).decision == "ask"
    assert bash("ls > '~'", policy).decision == "ask"
    assert bash("ls > /dev/null & ls", rules({"decision": "deny", "tool": "Write"})).decision == "ask"


@pytest.mark.parametrize(
    ("rule", "command", "decision"),
    [
        ("git push --force *", "git push -f", "deny"),
        ("git push --force *", "git push origin --forc", "deny"),
        ("git push --force *", "git --no-pager push --force", "deny"),
        ("git push --force *", "git push --force-with-lease", "ask"),
        ("git push --force *", "git push", "allow"),
        ("git push --force *", "git push --", "allow"),
        ("git push --force-with-lease", "git push --force", "ask"),
        ("git push -f", "git push --force", "deny"),
        ("git push -f", "git push --force x", "ask"),
        ("git push -f", "git push -fv", "ask"),
        ("git branch -D *", "git branch -d x", "ask"),
        ("git branch -D *", "git branch --delete x", "ask"),
        ("git p* *", "git push x", "deny"),
        ("git reset --hard *", "git reset --har", "deny"),
        ("git reset --hard *", "git reset --harder", "ask"),
        ("git reset --hard *", "git reset --soft", "allow"),
    ],
)
def test_a_deny_rule_catches_flags_in_another_form(rule: str, command: str, decision: str) -> None:
    allow = {"decision": "allow", "command": "git *", "arguments": "any"}
    assert bash(command, rules(allow, {"decision": "deny", "command": rule})).decision == decision


def test_the_strictest_rule_decides_about_a_command() -> None:
    asked = {"decision": "ask", "command": "git *"}
    possible = {"decision": "deny", "command": "git -c *"}
    denied = {"decision": "deny", "command": "git push *"}
    assert bash("git push -c", rules(asked, possible, denied)).decision == "deny"
    assert bash("git commit", rules(asked, possible, denied)).decision == "ask"


def test_the_explanation_is_one_plain_sentence() -> None:
    (finding,) = bash("echo $x").findings
    assert finding.because == "it contains `$`: only literal words can be allowed"
    assert bash("sort -o x").findings[0].because == (
        "`-o` is not on the list of harmless arguments of `sort`"
    )


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
        ({"decision": "allow", "tool": "AskUserQuestion"}, "so no rule can allow it"),
        ({"decision": "allow", "command": "*"}, "must name the program in full"),
        ({"decision": "allow", "command": "git* status"}, "must name the program in full"),
        ({"decision": "allow", "command": "ls *", "path": "src/**"}, "cannot have a path"),
        ({"decision": "deny", "tool": "Edit", "command": "ls"}, "only a rule for Bash can have a command"),
        ({"decision": "deny", "command": "ls *", "arguments": "any"}, "only a rule that allows a command"),
        ({"decision": "allow", "tool": "Edit", "arguments": "any"}, "only a rule that allows a command"),
        ({"decision": "allow", "command": "ls *", "arguments": "some"}, "rule.0.arguments"),
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
