"""The decision about each command and file under one policy."""

import posixpath
from dataclasses import replace

import pytest

from chorus.policy.rules import Policy, parse_policy
from chorus.policy.verdict import Verdict, judge_call
from tests.policy.policy_table import ALLOW, ALLOW_WITHOUT_GUARDS, ASK, ASK_RATHER_THAN_DENY, DENY

ROOT = "/repo"
LINKS = {"/repo/src/out": "/etc", "/repo/src/in": "/repo/src/real"}
ALLOWED = (
    """
git status *|git diff *|git log *|git show *|git add *|git grep *|du *|test *
ls *|cat *|echo *|grep *|rg *|find *|fd *|npm test
npm run *|pytest *|python -m pytest *|python3 *|make *|touch *|mkdir *|cp *|true|pwd|date *|wc *|head *
tail *|sort *|sed *|awk *|cd *|sleep *|bash scripts/build.sh|cargo *|go *|node *|jq *|tee *|curl *|tar *
which *|command -v *|printf *|diff *|tr *|uniq *|perl *|ruby *|xargs *|env *|time *|nohup *|timeout *|[
sh *|sudo *|ssh *|eval *|watch *|exec *|source *|parallel *|npx *|rsync *|zip *
""".strip()
    .replace("\n", "|")
    .split("|")
)
POLICY = parse_policy(
    {
        "rule": [
            *({"decision": "allow", "command": command} for command in ALLOWED),
            {"decision": "allow", "command": "mytool *", "arguments": "any"},
            {"decision": "allow", "command": "timeout 60 npm test"},
            {"decision": "allow", "tool": "Write", "path": "src/**"},
            {"decision": "allow", "tool": "Edit"},
            {"decision": "allow", "tool": "Read"},
            {"decision": "allow", "tool": "mcp__lab__*"},
            {"decision": "deny", "command": "rm -rf *", "reason": "gone is gone"},
            {"decision": "deny", "command": "git push *"},
            {"decision": "deny", "command": "shutdown *"},
            {"decision": "deny", "path": ".env*"},
            {"decision": "deny", "path": "secrets/"},
            {"decision": "ask", "command": "git commit *"},
            {"decision": "ask", "tool": "Edit", "path": "package.json"},
            {"decision": "deny", "tool": "mcp__lab__drop"},
        ]
    }
)
UNGUARDED = replace(
    POLICY, rules=tuple(rule for rule in POLICY.rules if not (rule.path and rule.tool is None))
)


def resolve(named: str) -> str | None:
    """Resolve paths without a disk: two links, the home directory unknown, everything else as written."""
    if named.startswith("~") or "\0" in named:
        return None
    path = posixpath.normpath(posixpath.join(ROOT, named))
    for link, target in LINKS.items():
        if path == link or path.startswith(link + "/"):
            path = target + path.removeprefix(link)
    return path


def find_git_root(directory: str) -> str | None:
    """The one work tree, with a bare repository and a nested one in it."""
    if directory.startswith("/repo/bare"):
        return None
    return "/repo/nested" if directory.startswith("/repo/nested") else ROOT


def bash(command: str, policy: Policy = POLICY) -> Verdict:
    return judge_call(
        "Bash", {"command": command}, policy, root=ROOT, resolve=resolve, find_git_root=find_git_root
    )


@pytest.mark.parametrize("command", ALLOW)
def test_a_command_whose_every_part_is_allowed_is_allowed(command: str) -> None:
    assert bash(command).decision == "allow", bash(command).findings


@pytest.mark.parametrize("command", ALLOW_WITHOUT_GUARDS)
def test_a_command_that_might_touch_a_restricted_path_is_asked(command: str) -> None:
    assert bash(command, UNGUARDED).decision == "allow", bash(command, UNGUARDED).findings
    assert bash(command).decision == "ask", bash(command).findings


@pytest.mark.parametrize("command", ASK)
def test_a_command_with_any_other_part_is_asked(command: str) -> None:
    assert bash(command).decision == "ask", bash(command).findings
    assert bash(command, UNGUARDED).decision == "ask", bash(command, UNGUARDED).findings


@pytest.mark.parametrize("command", ASK_RATHER_THAN_DENY)
def test_a_command_that_could_be_a_forbidden_one_is_asked(command: str) -> None:
    assert bash(command).decision == "ask", bash(command).findings


@pytest.mark.parametrize("command", DENY)
def test_a_command_with_a_forbidden_part_is_denied(command: str) -> None:
    assert bash(command).decision == "deny", bash(command).findings


def test_the_table_is_long_and_has_no_duplicates() -> None:
    table = [*ALLOW, *ALLOW_WITHOUT_GUARDS, *ASK, *DENY, *ASK_RATHER_THAN_DENY]
    assert len(table) == len(set(table))
    assert len(table) > 300


@pytest.mark.parametrize("command", [*ALLOW, *ASK, *DENY])
def test_without_rules_everything_is_asked(command: str) -> None:
    assert bash(command, Policy()).decision == "ask"


def test_a_call_with_very_many_values_is_asked_and_few_of_them_are_looked_up() -> None:
    looked_up: list[str] = []

    def count(named: str) -> str | None:
        looked_up.append(named)
        return resolve(named)

    def judge(policy: Policy, values: int) -> str:
        tool_input = {"files": [f"src/{number}" for number in range(values)]}
        return judge_call(
            "mcp__lab__read", tool_input, policy, root=ROOT, resolve=count, find_git_root=find_git_root
        ).decision

    assert judge(POLICY, 100) == "allow"
    # Each value once; where the call runs and the paths of the two rules, which may be links, once.
    assert len(looked_up) == 100 + 1 + 2
    assert judge(POLICY, 100_000) == "ask"
    assert len(looked_up) < 5_000
    looked_up.clear()
    assert (judge(UNGUARDED, 100_000), looked_up) == ("allow", [])


def test_a_call_may_have_as_many_values_as_are_looked_up() -> None:
    def judge(values: int) -> str:
        texts = ["src/a.py"] * values
        return judge_call(
            "mcp__lab__read",
            {"files": texts},
            POLICY,
            root=ROOT,
            resolve=resolve,
            find_git_root=find_git_root,
        ).decision

    assert (judge(2_000), judge(2_001)) == ("allow", "ask")


def test_the_findings_about_a_text_that_is_not_literal_name_its_commands_and_files() -> None:
    def about(command: str) -> list[str]:
        return [finding.about for finding in bash(command).findings if finding.decision == "deny"]

    assert about("rm -rf $x; ls") == ["rm -rf …"]
    assert about("echo $x > .env") == [".env"]
    assert about("echo $x > a.txt 2>secrets/key") == ["secrets/key"]
    assert about("cat .env.local $x") == [".env.local"]


def test_a_certain_denial_counts_more_than_a_possible_one() -> None:
    policy = parse_policy(
        {
            "rule": [
                {"decision": "ask", "command": "git push *", "reason": "think"},
                {"decision": "deny", "command": "git push --force *", "reason": "never"},
            ]
        }
    )
    found = {
        command: [(finding.decision, finding.because.rpartition(": ")[2]) for finding in findings]
        for command in ("git push", "git push --force", "env git push && git push --force", "git push && ls")
        if (findings := bash(command, policy).findings)
    }
    assert found == {
        "git push": [("ask", "think")],
        "git push --force": [("deny", "never")],
        "env git push && git push --force": [("ask", "think"), ("deny", "never")],
        "git push && ls": [("ask", "think"), ("ask", "no rule allows this command")],
    }


def test_a_protected_file_is_named_as_the_reason() -> None:
    def explain(path: str) -> tuple[str, str]:
        call = {"file_path": path}
        verdict = judge_call("Edit", call, POLICY, root=ROOT, resolve=resolve, find_git_root=find_git_root)
        return verdict.decision, verdict.findings[0].because

    assert explain("/repo/src/app.py")[0] == "allow"
    assert explain("/repo/.git/hooks/pre-commit") == (
        "ask", "no rule allows Edit for `.git`: a rule must name a protected file"
    )  # fmt: skip
    assert explain("/elsewhere/app.py") == ("ask", "no rule allows Edit for this path")


def test_a_value_in_the_word_of_a_flag_is_a_path_from_any_letter_on_but_not_cut_itself() -> None:
    def judge(denied: str) -> str:
        table = [
            {"decision": "deny", "path": denied},
            {"decision": "allow", "command": "mytool *", "arguments": "any"},
        ]
        return bash("mytool -ab.key", parse_policy({"rule": table})).decision

    found = {path: judge(path) for path in (".key", "b.key", "ab.key", "key", "-ab.key")}
    assert found == {".key": "deny", "b.key": "deny", "ab.key": "allow", "key": "allow", "-ab.key": "allow"}


@pytest.mark.parametrize("tool", ["Grep", "Glob", "LS"])
def test_a_search_that_names_no_place_reads_guarded_files_too(tool: str) -> None:
    policy = parse_policy(
        {
            "rule": [
                {"decision": "allow", "tool": tool},
                {"decision": "deny", "path": "secrets/**"},
            ]
        }
    )

    def judge(**tool_input: str) -> str:
        return judge_call(
            tool, tool_input, policy, root=ROOT, resolve=resolve, find_git_root=find_git_root
        ).decision

    assert judge(pattern="x") == "ask"
    assert judge(pattern="x", path="") == "ask"
    assert judge(pattern="x", path=".") == "ask"
    assert judge(pattern="x", path="src") == "allow"
    assert judge(pattern="x", path="secrets") == "ask"
    assert judge(pattern="x", path="secrets/key") == "deny"


ENV_DENIED = parse_policy(
    {
        "rule": [
            {"decision": "deny", "path": "**/.env"},
            {"decision": "deny", "path": "keys/*/private/"},
            {"decision": "allow", "command": "scan *", "arguments": "any"},
            *(
                {"decision": "allow", "command": f"{program} *"}
                for program in (
                    "cat",
                    "grep",
                    "rg",
                    "ls",
                    "find",
                    "diff",
                    "git",
                    "git add",
                    "cd",
                    "ruff check",
                )
            ),
            *({"decision": "allow", "tool": tool} for tool in ("Grep", "Read", "mcp__lab__read")),
        ]
    }
)


def judge_below(tool: str, **tool_input: str) -> str:
    """The verdict where every path is a directory, except those with a dot or an x in their names."""
    return judge_call(
        tool,
        tool_input,
        ENV_DENIED,
        root=ROOT,
        resolve=lambda named: posixpath.normpath(posixpath.join(ROOT, named)),
        find_git_root=find_git_root,
        is_directory=lambda path: "." not in path and "x" not in path,
    ).decision


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("grep -r x sub", "ask"),
        ("grep --recursive x sub/deep", "ask"),
        ("grep x sub", "allow"),  # without its files
        ("grep -r x sub/a.txt", "allow"),
        ("rg x sub", "ask"),
        ("rg x sub/a.txt", "allow"),
        ("cd sub && rg x", "ask"),
        ("git grep x sub", "ask"),
        ("git add sub", "ask"),
        ("git diff sub", "allow"),  # what git tracks
        ("git diff /tmp sub", "ask"),
        ("ls /tmp sub", "allow"),
        ("cat /tmp/a.txt sub", "allow"),
        ("diff sub other", "ask"),
        ("diff a.txt b.txt", "allow"),
        ("ruff check sub", "ask"),
        ("scan sub", "ask"),
        ("ls sub", "allow"),
        ("find sub -name x", "allow"),
        ("cat sub/.env", "deny"),
        ("rg x keys", "ask"),
        ("rg x keys/one", "ask"),
        ("rg x keys/one/private", "ask"),
    ],
)
def test_a_command_that_reads_a_directory_may_reach_a_guarded_file(command: str, decision: str) -> None:
    assert judge_below("Bash", command=command) == decision


def test_a_program_that_follows_links_in_a_directory_may_reach_a_guarded_file_elsewhere() -> None:
    def judge(command: str, *denied: str) -> str:
        rules = [{"decision": "allow", "command": f"{program} *"} for program in ("cd", "diff", "grep")]
        return judge_call(
            "Bash",
            {"command": command},
            parse_policy({"rule": [*rules, *({"decision": "deny", "path": path} for path in denied)]}),
            root=ROOT,
            resolve=lambda named: None if named == "~" else resolve(named),
            find_git_root=find_git_root,
            is_directory=lambda path: path.endswith("sub"),
        ).decision

    for command in ("diff a.txt sub", "diff sub b.txt", "cd src && diff a.txt sub"):
        assert (judge(command), judge(command, "secret")) == ("allow", "ask"), command
    for command in ("diff a.txt b.txt", "cd sub && diff a.txt b.txt", "grep -r x sub"):
        assert judge(command, "secret") == "allow", command


def test_a_pattern_without_any_depth_does_not_reach_below_another_directory() -> None:
    policy = parse_policy(
        {
            "rule": [
                {"decision": "deny", "path": "keys/*/id"},
                {"decision": "allow", "command": "rg *"},
            ]
        }
    )
    found = {place: bash(f"rg x {place}", policy).decision for place in ("src", "keys/one", "keys/one/two")}
    assert found == {"src": "allow", "keys/one": "ask", "keys/one/two": "allow"}


def test_a_tool_that_reads_a_directory_may_reach_a_guarded_file() -> None:
    assert judge_below("Grep", pattern="x", path="sub") == "ask"
    assert judge_below("Grep", pattern="x", path="sub/a.txt") == "allow"
    assert judge_below("mcp__lab__read", place="sub") == "ask"


@pytest.mark.parametrize("path", ["~/a.txt", " ~/a.txt", " /etc/a.txt", "a.txt\t", "file:///etc/a.txt"])
def test_a_path_that_programs_read_in_different_ways_is_asked(path: str) -> None:
    assert judge_below("Read", file_path=path) == "ask"


def test_a_text_that_may_name_a_guarded_file_in_another_way_is_not_allowed() -> None:
    assert judge_below("mcp__lab__read", place="~/sub/.env") == "ask"
    assert judge_below("mcp__lab__read", place="FILE:///repo/sub/.env") == "deny"
    assert judge_below("mcp__lab__read", place=" sub/.env ") == "deny"
    assert judge_below("mcp__lab__read", place=" a.txt ") == "allow"


@pytest.mark.parametrize(
    "word", ["sub/.env:12", "@sub/.env", "a.txt,sub/.env", "--file=sub/.env", "-fsub/.env"]
)
def test_a_word_in_a_call_may_name_a_guarded_file_in_a_part(word: str) -> None:
    assert judge_below("mcp__lab__read", place=word) == "deny"
    assert judge_below("mcp__lab__read", place=f"{word} is not a word") == "allow"


def test_a_guarded_file_may_be_the_name_of_a_value_in_a_call() -> None:
    def judge(value: object) -> str:
        return judge_call(
            "mcp__lab__read",
            {"files": value},
            ENV_DENIED,
            root=ROOT,
            resolve=resolve,
            find_git_root=find_git_root,
            is_directory=lambda _: False,
        ).decision

    assert judge({"a.txt": 1}) == "allow"
    assert judge({".env": 1}) == "deny"
    assert judge([{"a.txt": {".env": "x"}}]) == "deny"


def test_a_test_in_a_file_behind_a_link_is_not_in_the_work_tree() -> None:
    policy = parse_policy({"rule": [{"decision": "allow", "command": "pytest *"}]})
    (link,) = [link for link, target in LINKS.items() if not target.startswith(ROOT)][:1]
    named = link.removeprefix(f"{ROOT}/")
    assert bash("pytest tests/test_a.py::test_b", policy).decision == "allow"
    assert bash(f"pytest {named}", policy).decision == "ask"
    assert bash(f"pytest {named}::test_b", policy).decision == "ask"


@pytest.mark.parametrize("tool", ["Edit", "Write"])
def test_the_users_own_rules_in_a_work_tree_are_not_written_by_rule(tool: str) -> None:
    policy = parse_policy({"rule": [{"decision": "allow", "tool": tool}]})

    def judge(path: str) -> str:
        return judge_call(
            tool,
            {"file_path": path},
            policy,
            root=ROOT,
            resolve=resolve,
            find_git_root=find_git_root,
            policy_file="/repo/.config/chorus/config.toml",
        ).decision

    assert judge(".config/chorus/config.toml") == "ask"
    assert judge(".config/other/config.toml") == "allow"


def test_a_command_that_writes_may_not_name_the_users_own_rules() -> None:
    verdict = judge_call(
        "Bash",
        {"command": "touch settings/config.toml"},
        POLICY,
        root=ROOT,
        resolve=resolve,
        find_git_root=find_git_root,
        policy_file="/repo/settings/config.toml",
    )
    assert verdict.decision == "ask"
    assert "config.toml" in verdict.findings[-1].because


@pytest.mark.parametrize(
    "path",
    [
        ".cargo/config.toml", "web/.yarnrc.yml", ".pnpmfile.cjs", ".githooks/pre-commit", ".devcontainer/x",
        ".pre-commit-config.yaml", ".claude.json", "web/.yarn/releases/yarn.cjs", "lefthook.yml",
        ".kube/config",
        ".emacs.d/init.el", ".Rprofile", ".mise/config.toml", ".g\u200cit/config", ".\ufeffGIT/hooks/x",
    ],
)  # fmt: skip
def test_files_that_decide_what_runs_need_a_rule_that_names_them(path: str) -> None:
    verdict = judge_call(
        "Edit", {"file_path": path}, POLICY, root=ROOT, resolve=resolve, find_git_root=find_git_root
    )
    assert verdict.decision == "ask"


def test_a_rule_that_allows_a_path_allows_it_as_it_is_spelled() -> None:
    """Only rules that restrict ignore case: elsewhere `SRC` is another directory."""

    def judge(path: str) -> str:
        return judge_call(
            "Write", {"file_path": path}, POLICY, root=ROOT, resolve=resolve, find_git_root=find_git_root
        ).decision

    assert (judge("src/a.py"), judge("SRC/a.py")) == ("allow", "ask")


@pytest.mark.parametrize("root", ["/src/a*", "/src/a?", "/src/a**"])
def test_a_sign_in_the_name_of_the_work_tree_is_no_pattern_for_a_rule_that_allows(root: str) -> None:
    policy = parse_policy({"rule": [{"decision": "allow", "tool": "Edit"}]})

    def judge(path: str) -> str:
        return judge_call(
            "Edit",
            {"file_path": path},
            policy,
            root=root,
            resolve=lambda named: named,
            find_git_root=lambda _: root,
        ).decision

    assert (judge(f"{root}/x"), judge("/src/ab/x"), judge("/src/abc/d/x")) == ("allow", "ask", "ask")


def test_a_name_in_one_quoted_word_is_not_the_program_with_that_name() -> None:
    policy = parse_policy({"rule": [{"decision": "allow", "command": "python *"}]})
    assert bash("python -m pytest a.py", policy).decision == "allow"
    assert bash("python '-m pytest' a.py", policy).decision == "ask"
    assert bash("python '-m pytest' /etc/a.py", policy).decision == "ask"


def test_a_command_without_a_list_of_harmless_arguments_is_named_by_its_first_two_words() -> None:
    policy = parse_policy({"rule": [{"decision": "allow", "command": "frob *"}]})
    (finding,) = bash("frob the cat", policy).findings
    assert "arguments of `frob the` are harmless" in finding.because


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("tool publish", "deny"),
        ("tool pub", "ask"),
        ("tool --tag x p", "ask"),
        ("tool pack", "allow"),
        ("tool publisher", "allow"),
    ],
)
def test_a_denied_subcommand_that_is_cut_short_is_asked_about(command: str, decision: str) -> None:
    policy = parse_policy(
        {
            "rule": [
                {"decision": "allow", "command": "tool *", "arguments": "any"},
                {"decision": "deny", "command": "tool publish *"},
            ]
        }
    )
    assert bash(command, policy).decision == decision


@pytest.mark.parametrize(
    ("pattern", "decision"),
    [
        ("src/out/x", "deny"),
        ("src/out/", "deny"),
        ("src/out/*", "deny"),
        ("/etc/**", "deny"),
        ("src/*/x", "deny"),
        ("src/in/x", "allow"),
        ("\0", "allow"),
    ],
)
def test_a_guarded_path_that_leads_through_a_link_is_guarded_by_both_names(
    pattern: str, decision: str
) -> None:
    """`src/out` is a link to `/etc`."""
    policy = parse_policy(
        {
            "rule": [
                {"decision": "allow", "command": "cat *"},
                {"decision": "allow", "tool": "Read", "path": "/**"},
                {"decision": "deny", "path": pattern},
            ]
        }
    )
    assert bash("cat src/out/x", policy).decision == decision
    assert bash("cat 'src/./out/x'", policy).decision == decision
    if "*/" not in pattern:
        assert bash("cat /etc/x", policy).decision == decision
    read = judge_call(
        "Read",
        {"file_path": "src/out/x"},
        policy,
        root=ROOT,
        resolve=resolve,
        find_git_root=find_git_root,
    )
    assert read.decision == decision


def test_a_rule_about_a_tool_and_no_path_denies_every_path() -> None:
    policy = parse_policy(
        {"rule": [{"decision": "allow", "tool": "Edit", "path": "**"}, {"decision": "deny", "tool": "Ed*"}]}
    )
    verdict = judge_call(
        "Edit", {"file_path": "a.py"}, policy, root=ROOT, resolve=resolve, find_git_root=find_git_root
    )
    assert verdict.decision == "deny"


@pytest.mark.parametrize("patterns", [("data/*.key", "data"), ("data", "data/*.key")])
def test_a_deny_rule_that_matches_decides_wherever_it_is_among_rules_that_may_match(
    patterns: tuple[str, str],
) -> None:
    """`data` matches the directory itself, `data/*.key` only files that may be in it."""
    rules = [{"decision": "deny", "path": pattern} for pattern in patterns]
    policy = parse_policy({"rule": [{"decision": "allow", "command": "cat *"}, *rules]})
    assert bash("cat data", policy).decision == "deny"
