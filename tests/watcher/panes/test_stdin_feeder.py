import json
import os
import subprocess
import sys
from pathlib import Path

from chorus.watcher.panes.stdin_feeder import CUT, END
from chorus.wire.handover import write_environment
from chorus.wire.home import Home


def run(tmp_path: Path, lines: bytes, *command: str) -> subprocess.CompletedProcess[bytes]:
    pipe = tmp_path / "in"
    os.mkfifo(pipe)
    environment = write_environment(Home(tmp_path), os.environ)
    process = subprocess.Popen(
        [sys.executable, "-m", "chorus.watcher.panes.stdin_feeder", str(pipe), str(environment), *command],
        stdout=subprocess.PIPE,
    )
    with pipe.open("wb") as writer:
        writer.write(lines)
    out, _ = process.communicate(timeout=20)
    assert not pipe.exists()
    return subprocess.CompletedProcess([], process.returncode, out)


def test_lines_reach_the_client_complete_and_in_order(tmp_path: Path) -> None:
    long = b'{"text": "%s"}\n' % (b"x" * 200_000)
    lines = b'{"n": 1}\n' + long + b'{"n": 2}\n'
    assert run(tmp_path, lines + END, "cat").stdout == lines


def test_the_clients_exit_code_is_passed_on(tmp_path: Path) -> None:
    assert run(tmp_path, END, "sh", "-c", "cat >/dev/null; exit 7").returncode == 7


def test_the_feeder_ends_when_the_client_exits_first(tmp_path: Path) -> None:
    assert run(tmp_path, b"nobody reads this\n", "true").returncode == 0


def test_only_the_first_of_two_answers_to_one_request_is_passed_on(tmp_path: Path) -> None:
    def answer(request: str, behavior: str) -> bytes:
        response = {"subtype": "success", "request_id": request, "response": {"behavior": behavior}}
        return json.dumps({"type": "control_response", "response": response}).encode() + b"\n"

    words = b'{"type": "user", "message": "control_response"}\n'
    first, other = answer("r1", "allow"), answer("r2", "deny")
    lines = [words, first, answer("r1", "deny"), other, words, first]
    assert run(tmp_path, b"".join([*lines, END]), "cat").stdout == b"".join([words, first, other, words])


def test_a_line_that_was_given_up_halfway_is_dropped(tmp_path: Path) -> None:
    lines = CUT + b"one\n" + b'{"type": "us' + CUT + b"two\n" + END
    assert run(tmp_path, lines, "cat").stdout == b"one\ntwo\n"
