"""`chorus policy`: list, add, test and explain."""

import json
from pathlib import Path

import pytest

from chorus.cli import main
from chorus.errors import ExitCode


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's config, and a work tree to stand in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / "src").mkdir()
    monkeypatch.chdir(tree / "src")
    return tmp_path / "config" / "chorus" / "config.toml"


def judged(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["policy", "test", *arguments]) == ExitCode.OK
    return capsys.readouterr().out.strip()


def test_without_a_config_everything_is_asked(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged("ls", capsys=capsys) == "ask"
    assert judged("--tool", "Edit", "--path", "a.py", capsys=capsys) == "ask"
    assert not config.exists()


def test_a_rule_that_is_added_takes_effect(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "add", "allow", "--command", "git status *"]) == ExitCode.OK
    assert main(["policy", "add", "deny", "--path", ".env*", "--reason", 'it\'s "secret"']) == ExitCode.OK
    capsys.readouterr()
    assert judged("git status --short", capsys=capsys) == "allow"
    assert judged("git", "status", "a b", capsys=capsys) == "allow"
    assert judged("--tool", "Read", "--path", "../.env", capsys=capsys) == "deny"
    assert config.stat().st_mode & 0o777 == 0o600


def test_a_rule_can_trust_any_arguments(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "add", "allow", "--command", "mytool *"]) == ExitCode.OK
    assert "no effect" in capsys.readouterr().err
    assert judged("mytool x", capsys=capsys) == "ask"
    assert main(["policy", "add", "allow", "--command", "mytool *", "--any-arguments"]) == ExitCode.OK
    assert "no effect" not in capsys.readouterr().err
    assert 'arguments = "any"' in config.read_text(encoding="utf-8")
    assert judged("mytool x", capsys=capsys) == "allow"
    for command in ("git log *", "git *", "mytool x", "sort *"):
        main(["policy", "add", "allow", "--command", command])
        assert "no effect" not in capsys.readouterr().err, command


def test_a_rule_for_a_program_that_runs_others_has_no_effect_with_a_star(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "add", "allow", "--command", "sudo *", "--any-arguments"]) == ExitCode.OK
    said = capsys.readouterr().err
    assert "the rule has no effect: `sudo` runs other programs" in said
    assert "--any-arguments" not in said
    assert judged("sudo ls", capsys=capsys) == "ask"


@pytest.mark.parametrize("disguise", ["HEAD", ".git"])
def test_git_is_not_allowed_in_a_repository_of_its_own(
    disguise: str, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bare repository inside the tree names programs in its config, and git would run them."""
    for command in ("git status *", "cd *", "ls *"):
        main(["policy", "add", "allow", "--command", command])
    capsys.readouterr()
    Path("deep/below").mkdir(parents=True)
    assert judged("git status", capsys=capsys) == "allow"
    assert judged("cd deep && git status", capsys=capsys) == "allow"
    Path("deep", disguise).write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert judged("cd deep && git status", capsys=capsys) == "ask"
    assert judged("cd deep/below && ls", capsys=capsys) == "ask"
    if disguise == "HEAD":
        monkeypatch.chdir("deep/below")
        assert judged("git status", capsys=capsys) == "ask"


@pytest.mark.parametrize("disguise", ["HEAD", ".git"])
def test_a_repository_inside_the_work_tree_is_not_added_by_rule(
    disguise: str, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once it is in the index, `git status` runs git in it, with the programs its config names."""
    monkeypatch.chdir("..")
    main(["policy", "add", "allow", "--command", "git add *"])
    capsys.readouterr()
    Path("deep/below").mkdir(parents=True)
    assert judged("git add deep", capsys=capsys) == "allow"
    Path("deep", disguise).write_text("ref: refs/heads/main\n", encoding="utf-8")
    for place in ("deep", "deep/", "./deep/below", "deep/below/a.txt"):
        assert judged(f"git add {place}", capsys=capsys) == "ask"
    assert judged("git add src", capsys=capsys) == "allow"


def test_outside_a_repository_git_is_asked(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["policy", "add", "allow", "--command", "git status"])
    capsys.readouterr()
    monkeypatch.chdir(tmp_path)
    assert judged("git status", capsys=capsys) == "ask"


def test_the_reason_is_one_plain_sentence(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "explain", "echo $HOME"]) == ExitCode.OK
    assert "contains `$`: only literal words can be allowed" in capsys.readouterr().out


def test_the_reasons_address_the_user(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "explain", "alias x"]) == ExitCode.OK
    assert "you are always asked about `alias`" in capsys.readouterr().out
    assert main(["policy", "explain", "--tool", "AskUserQuestion"]) == ExitCode.OK
    assert "only you can answer this" in capsys.readouterr().out


def test_adding_a_rule_keeps_the_rest_of_the_file(config: Path) -> None:
    before = '# mine\n[panel]\ntheme = "dark"  # keep\n\n[[policy.rule]]\ndecision = "ask"\ntool = "Edit"'
    config.parent.mkdir(parents=True)
    config.write_text(before, encoding="utf-8")
    config.chmod(0o640)
    assert main(["policy", "add", "deny", "--tool", "Write"]) == ExitCode.OK
    text = config.read_text(encoding="utf-8")
    assert text.startswith(before)
    assert text.endswith('[[policy.rule]]\ndecision = "deny"\ntool = "Write"\n')
    assert config.stat().st_mode & 0o777 == 0o640


def test_adding_a_rule_keeps_the_line_ends_of_the_file(config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_bytes(b'relay = "keys"\r\n')
    assert main(["policy", "add", "deny", "--tool", "Write"]) == ExitCode.OK
    assert config.read_bytes().startswith(b'relay = "keys"\r\n\n[[policy.rule]]\n')


def test_a_rule_that_is_not_utf_8_is_not_written(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "add", "deny", "--path", "caf\udce9"]) == ExitCode.SYSTEM_ERROR
    assert "not UTF-8" in capsys.readouterr().err
    assert not config.exists()


def test_a_config_file_that_is_a_symlink_stays_one(config: Path, tmp_path: Path) -> None:
    config.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.toml"
    real.write_text("", encoding="utf-8")
    config.symlink_to(real)
    assert main(["policy", "add", "deny", "--tool", "Write"]) == ExitCode.OK
    assert config.is_symlink()
    assert "Write" in real.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "content", ["[policy]\nrule = []\n", "[policy\n", "policy = 3\n", "[policy]\ncolour = 'red'\n", "\xff"]
)
def test_an_invalid_config_file_is_not_changed(content: str, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_bytes(content.encode("latin-1"))
    assert main(["policy", "add", "deny", "--tool", "Write"]) == ExitCode.SYSTEM_ERROR
    assert config.read_bytes() == content.encode("latin-1")
    assert list(config.parent.iterdir()) == [config]


def test_a_rule_that_allows_too_much_is_refused(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "add", "allow", "--tool", "Bash"]) == ExitCode.SYSTEM_ERROR
    assert "needs a command" in capsys.readouterr().err
    assert not config.exists()


def test_an_allow_rule_of_the_repository_is_ignored_and_reported(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = '[[policy.rule]]\ndecision = "{}"\ncommand = "ls *"\n'
    Path("../.chorus.toml").write_text(rule.format("allow") + rule.format("deny"), encoding="utf-8")
    assert main(["policy", "list"]) == ExitCode.OK
    printed = capsys.readouterr()
    assert printed.out == "repository  deny command='ls *'\n"
    assert "ignored: the repository's rule `allow command='ls *'`" in printed.err
    assert judged("ls", capsys=capsys) == "deny"
    assert main(["policy", "list", "--json"]) == ExitCode.OK
    listed = json.loads(capsys.readouterr().out)
    assert listed["rules"] == [
        {
            "decision": "deny",
            "tool": None,
            "command": "ls *",
            "path": None,
            "arguments": None,
            "reason": None,
            "source": "repository",
        }
    ]
    assert len(listed["ignored"]) == 1


def test_a_symlink_that_leads_out_of_the_work_tree_is_outside(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["policy", "add", "allow", "--tool", "Write", "--path", "src/**"])
    (tmp_path / "away").mkdir()
    Path("link").symlink_to(tmp_path / "away")
    capsys.readouterr()
    assert judged("--tool", "Write", "--path", "new/a.py", capsys=capsys) == "allow"
    assert judged("--tool", "Write", "--path", "link/a.py", capsys=capsys) == "ask"
    assert judged("--tool", "Write", "--path", "a\0b", capsys=capsys) == "ask"


@pytest.mark.skipif(not Path("/proc/self").is_symlink(), reason="this system has no /proc")
def test_a_guarded_file_is_not_reached_through_a_link_of_each_process(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["policy", "add", "allow", "--command", "cat *"])
    main(["policy", "add", "deny", "--path", "secret"])
    Path("own").symlink_to("/proc/self/cwd")
    capsys.readouterr()
    assert judged("cat other", capsys=capsys) == "allow"
    assert judged("cat own/secret", capsys=capsys) == "ask"
    assert judged("cat /proc/self/cwd/secret", capsys=capsys) == "ask"


def test_a_guarded_file_may_be_a_link_or_in_the_home_directory(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home" / "keys").mkdir(parents=True)
    (tmp_path / "home" / ".ssh").symlink_to("keys")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    main(["policy", "add", "allow", "--command", "cat *"])
    main(["policy", "add", "deny", "--path", "**/.env"])
    main(["policy", "add", "deny", "--path", "~/.ssh/**"])
    Path(".env").symlink_to(tmp_path / "shared")
    capsys.readouterr()
    assert judged("cat other", capsys=capsys) == "allow"
    assert judged("cat .env", capsys=capsys) == "deny"
    assert judged("--tool", "Edit", "--path", ".env", capsys=capsys) == "deny"
    for name in (".ssh/id", "keys/id", "../home/keys/../.ssh/id"):
        assert judged(f"cat {tmp_path}/home/{name}", capsys=capsys) == "deny"
    assert judged(f"cat {tmp_path}/home/other", capsys=capsys) == "allow"
    assert main(["policy", "list"]) == ExitCode.OK
    assert "~/.ssh/**" in capsys.readouterr().out


def test_the_explanation_names_every_part(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["policy", "add", "allow", "--command", "ls *"])
    capsys.readouterr()
    assert main(["policy", "explain", "ls && rm x"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "ask"
    assert "allow  ls" in out
    assert "no rule allows this command" in out
    assert main(["policy", "explain", "--json", "ls"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["findings"][0]["decision"] == "allow"


@pytest.mark.parametrize("arguments", [["test"], ["test", "--tool", "Edit"]])
def test_testing_a_call_without_its_command_or_file_is_a_usage_error(
    arguments: list[str], config: Path
) -> None:
    assert main(["policy", *arguments]) == ExitCode.USAGE


def test_a_directory_that_cannot_be_written_is_an_error(config: Path) -> None:
    config.parent.parent.mkdir()
    config.parent.write_text("a file in the way", encoding="utf-8")
    assert main(["policy", "add", "deny", "--tool", "Write"]) == ExitCode.SYSTEM_ERROR


def test_a_rule_without_tool_command_or_path_is_a_usage_error(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "add", "allow"]) == ExitCode.USAGE
    assert capsys.readouterr().err.splitlines()[0] == "chorus: a rule needs a tool, a command or a path"
    assert not config.exists()
