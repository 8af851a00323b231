"""Settings files on disk: every byte is restored, links stay links, unreadable files are left alone."""

import shutil
from pathlib import Path

import pytest

from chorus.agents.claude_code.settings.files import (
    SettingsNotWritten,
    install_hooks,
    locate_settings,
    read_hook_status,
    uninstall_hooks,
)
from chorus.agents.claude_code.settings.hook_entries import SettingsUnreadable
from chorus.agents.interface import SettingsScope
from chorus.errors import ChorusError

GROUPS = {"Stop": [{"hooks": [{"type": "command", "command": "/opt/chorus-hook", "timeout": 10}]}]}


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "state" / "backups"


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b'{\r\n\t"model": "\xc3\xa9"\r\n}',
        b'\xef\xbb\xbf{"a": 1}\n',
        b"",
        b"\n",
        b'{"hooks": {"Stop": []}}',
    ],
)
def test_uninstalling_restores_every_byte_and_the_mode(tmp_path: Path, backups: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    path.chmod(0o640)

    change = install_hooks(path, GROUPS, backups=backups)
    assert change.changed
    assert change.backup is not None
    assert change.backup.read_bytes() == content
    assert read_hook_status(SettingsScope.USER, path, GROUPS).current
    assert not install_hooks(path, GROUPS, backups=backups).changed

    uninstall_hooks(path, backups=backups)
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o640
    assert not uninstall_hooks(path, backups=backups).changed
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_missing_file_is_created_and_removed_with_its_directory(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / ".claude" / "settings.local.json"

    assert install_hooks(path, GROUPS, backups=backups).backup is None
    assert path.is_file()
    uninstall_hooks(path, backups=backups)

    assert not path.parent.exists()
    assert not uninstall_hooks(path, backups=backups).changed


def test_a_link_stays_a_link_and_its_target_is_changed(tmp_path: Path, backups: Path) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text('{"a": 1}')
    path = tmp_path / "settings.json"
    path.symlink_to("dotfiles/claude.json")

    install_hooks(path, GROUPS, backups=backups)

    assert str(path.readlink()) == "dotfiles/claude.json"
    assert "chorus-hook" in target.read_text()
    uninstall_hooks(path, backups=backups)
    assert target.read_text() == '{"a": 1}'


def test_a_dangling_link_stays_a_link(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to("later.json")

    install_hooks(path, GROUPS, backups=backups)

    assert path.is_symlink()
    assert (tmp_path / "later.json").is_file()
    uninstall_hooks(path, backups=backups)
    assert path.is_symlink()
    assert not (tmp_path / "later.json").exists()


@pytest.mark.parametrize("content", [b"{", b"// hi\n{}", b"[]", b'{"hooks": 1}', b"\xff\xfe"])
def test_a_file_that_cannot_be_parsed_is_left_alone(tmp_path: Path, backups: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)

    with pytest.raises(SettingsUnreadable):
        install_hooks(path, GROUPS, backups=backups)

    assert path.read_bytes() == content
    assert not backups.exists()


def test_a_file_that_cannot_be_read_or_written_is_an_error_with_a_hint(tmp_path: Path, backups: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    with pytest.raises(SettingsNotWritten):
        install_hooks(tmp_path / "settings.json", GROUPS, backups=backups)

    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsNotWritten) as caught:
        install_hooks(tmp_path / "file" / "settings.json", GROUPS, backups=backups)
    assert caught.value.hint


def test_a_file_another_program_changes_meanwhile_is_not_overwritten(
    tmp_path: Path, backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")

    def change_it(_: int) -> str:
        path.write_text('{"new": true}')
        return "00"

    monkeypatch.setattr("chorus.agents.claude_code.settings.files.secrets.token_hex", change_it)
    with pytest.raises(SettingsNotWritten, match="another program"):
        install_hooks(path, GROUPS, backups=backups)

    assert path.read_text() == '{"new": true}'


def test_without_home_in_the_environment_the_users_own_home_is_taken() -> None:
    assert locate_settings(SettingsScope.USER, {}, None) == Path.home() / ".claude/settings.json"


def test_each_scope_has_its_file(tmp_path: Path) -> None:
    home = {"HOME": "/home/ada"}
    assert locate_settings(SettingsScope.USER, home, None) == Path("/home/ada/.claude/settings.json")
    moved = {**home, "CLAUDE_CONFIG_DIR": "/etc/cc"}
    assert locate_settings(SettingsScope.USER, moved, None) == Path("/etc/cc/settings.json")
    assert locate_settings(SettingsScope.PROJECT, home, tmp_path) == tmp_path / ".claude/settings.json"
    assert locate_settings(SettingsScope.LOCAL, home, tmp_path) == tmp_path / ".claude/settings.local.json"
    with pytest.raises(ChorusError, match="not in a git repository"):
        locate_settings(SettingsScope.LOCAL, home, None)


def test_the_status_distinguishes_old_hooks_from_current_ones(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / "settings.json"
    assert read_hook_status(SettingsScope.USER, path, GROUPS).events == ()
    install_hooks(path, {"Old": GROUPS["Stop"]}, backups=backups)

    status = read_hook_status(SettingsScope.USER, path, GROUPS)

    assert (status.events, status.current, status.problem) == (("Old",), False, None)
    path.write_text("{")
    assert read_hook_status(SettingsScope.USER, path, GROUPS).problem


@pytest.mark.parametrize("was_there", [True, False])
def test_uninstalling_leaves_a_directory_that_was_there_before(
    tmp_path: Path, backups: Path, was_there: bool
) -> None:
    path = tmp_path / ".claude" / "settings.local.json"
    if was_there:
        path.parent.mkdir()
    for _ in range(2):
        install_hooks(path, GROUPS, backups=backups)
        uninstall_hooks(path, backups=backups)
        assert path.parent.exists() is was_there


def test_a_directory_that_the_user_made_again_is_left(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    install_hooks(path, GROUPS, backups=backups)
    shutil.rmtree(path.parent)
    path.parent.mkdir()
    install_hooks(path, GROUPS, backups=backups)
    uninstall_hooks(path, backups=backups)
    assert path.parent.is_dir()


def test_projects_with_similar_paths_are_told_apart(tmp_path: Path, backups: Path) -> None:
    long = "x" * 100
    for created, there in (("a/b", "a-b"), (f"c/{long}/{long}", f"d/{long}/{long}")):
        (tmp_path / there / ".claude").mkdir(parents=True)
        paths = [tmp_path / name / ".claude" / "settings.json" for name in (there, created)]
        for path in paths:
            install_hooks(path, GROUPS, backups=backups)
        for path in paths:
            uninstall_hooks(path, backups=backups)
        assert [path.parent.exists() for path in paths] == [True, False]


def test_a_directory_behind_a_link_is_created_and_removed(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    path.parent.symlink_to("elsewhere")
    install_hooks(path, GROUPS, backups=backups)
    assert (tmp_path / "elsewhere" / "settings.json").exists()
    uninstall_hooks(path, backups=backups)
    assert path.parent.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_uninstalling_leaves_a_directory_that_others_use_by_now(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    install_hooks(path, GROUPS, backups=backups)
    (path.parent / "agents").mkdir()
    uninstall_hooks(path, backups=backups)
    assert [each.name for each in path.parent.iterdir()] == ["agents"]
