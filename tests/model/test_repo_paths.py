import pytest

from chorus.model.repo_paths import is_at_or_below


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src", True),
        ("src/a.py", True),
        ("docs/x/y", True),
        ("src2/a.py", False),
        ("docs", False),
        ("", False),
    ],
)
def test_a_path_is_at_or_below_a_root(path: str, expected: bool) -> None:
    assert is_at_or_below(path, ["src", "docs/x"]) is expected


def test_nothing_is_below_no_root() -> None:
    assert not is_at_or_below("src", [])
