import pytest

from chorus.model.test_commands import is_test_command


@pytest.mark.parametrize(
    ("command", "tests"),
    [
        ("pytest -q tests/x.py", True),
        ("cd api && .venv/bin/pytest", True),
        ("python -m unittest", True),
        ("make test", True),
        ("make -j4 check", True),
        ("npm run test:unit", True),
        ("go test ./...", True),
        ("cargo test", True),
        ("cat tests/x.py", False),
        ("make docs", False),
        ("git commit -m 'add test'", False),
        ("pip install pytest-cov", False),
    ],
)
def test_commands_that_run_tests_are_recognised(command: str, tests: bool) -> None:
    assert is_test_command(command) is tests
