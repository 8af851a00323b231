"""One run captured four ways, against what the client wrote: the same events, or the reason why not."""

from pathlib import Path

import pytest

from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.control_mode import ControlMode, is_control_mode
from chorus.agents.interface import Document
from tests.agents.recordings import RECORDINGS

TMUX = RECORDINGS / "tmux"
RUNS = {
    "w80": 80,
    "w81_odd": 81,
    "w120": 120,
    "w237": 237,
    "partial_80": 80,
    "resize_80_to_120_to_60": 120,  # and back to 120 before it was captured
}
# The recordings of these were shortened in the middle; "...cut..." stands where.
SHORTENED = {"hist2000_big200k": 80, "hist50000_big200k": 80}

each_run = pytest.mark.parametrize("run", RUNS)
each_shortened = pytest.mark.parametrize("run", SHORTENED)


def truth(run: str) -> list[bytes]:
    lines = (TMUX / f"{run}.truth.jsonl").read_bytes().split(b"\n")
    return [line for line in lines if line.startswith(b"{") and line.endswith(b"}")]


def read(data: bytes, **how: int | bool) -> tuple[list[Document], dict[str, int]]:
    reassembler = Reassembler(**how)  # type: ignore[arg-type]  # options of any kind
    documents = reassembler.feed(data) + reassembler.close()
    return documents, dict(+reassembler.problems)


def texts(documents: list[Document]) -> list[bytes]:
    # The home directory was replaced in the recordings, except where a row broke it.
    return [document.text.replace(b"/src/lab/home", b"/home/dev/lab") for document in documents]


def captured(run: str, way: str) -> bytes:
    return (TMUX / f"{run}.{way}").read_bytes()


@each_run
def test_a_pipe(run: str) -> None:
    for how in ({}, {"unwrapped": True}):
        documents, problems = read(captured(run, "pipe-pane.bin"), **how)
        assert texts(documents) == truth(run)
        assert problems == {}


@each_run
def test_control_mode(run: str) -> None:
    text = captured(run, "control.txt")
    assert is_control_mode(text)
    assert not is_control_mode(captured(run, "pipe-pane.bin"))
    for size in (7, len(text)):
        control = ControlMode()
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        printed = b"".join(output.data for chunk in chunks for output in control.feed(chunk))
        assert printed == captured(run, "pipe-pane.bin")


@each_run
def test_a_joined_capture(run: str) -> None:
    for how in ({}, {"unwrapped": True}):
        documents, problems = read(captured(run, "capture-J.txt"), **how)
        assert texts(documents) == truth(run)
        assert problems == {"noise": 1}  # "Pane is dead"


@each_run
def test_a_plain_capture_without_the_width(run: str) -> None:
    documents, problems = read(captured(run, "capture.txt"))
    assert documents == []
    assert problems == {"noise": 1, "unknown-width": len(truth(run))}


@each_run
def test_a_plain_capture_with_the_width(run: str) -> None:
    """An ambiguous text is not returned: a short row before a wide character."""
    documents, problems = read(captured(run, "capture.txt"), width=RUNS[run])
    assert set(texts(documents)) < set(truth(run))
    assert problems.pop("noise") == 1
    assert problems == {"ambiguous-wrap": len(truth(run)) - len(documents)}

    documents, _ = read(captured(run, "capture.txt"), width=RUNS[run], allow_inexact=True)
    assert [d.value["uuid"] for d in documents] == [d.value["uuid"] for d in read(b"\n".join(truth(run)))[0]]
    assert set(texts([d for d in documents if d.exact])) < set(truth(run))


@each_run
@pytest.mark.parametrize("off_by", [-20, -1, 1, 20, 100])
def test_a_plain_capture_with_a_wrong_width(run: str, off_by: int) -> None:
    documents, problems = read(captured(run, "capture.txt"), width=RUNS[run] + off_by)
    assert documents == []
    assert problems["wrong-width"] >= len(truth(run)) - 1


@each_shortened
@pytest.mark.parametrize("way", ["pipe-pane.bin", "capture-J.txt"])
def test_a_shortened_recording_gives_the_whole_objects(run: str, way: str) -> None:
    """The history of 2000 rows had lost the init event and the call as well: two of five are left."""
    documents, problems = read(captured(run, way), unwrapped=True)
    scrolled = run == "hist2000_big200k" and way == "capture-J.txt"
    assert texts(documents) == truth(run)[1 if scrolled else 0 :]
    assert problems["cut-off"] == 1


@each_shortened
def test_a_shortened_recording_in_rows_gives_the_whole_objects(run: str) -> None:
    documents, problems = read(captured(run, "capture.txt"), width=SHORTENED[run])
    assert texts(documents) == truth(run)[1 if run == "hist2000_big200k" else 0 :]
    assert problems["cut-off"] == 1


def test_typed_answers_are_documents_but_a_rejected_one_is_not() -> None:
    documents, problems = read((TMUX / "stdio_permission_in_pane_cat.bin").read_bytes(), unwrapped=True)
    kinds = [document.value["type"] for document in documents]
    assert kinds.count("control_request") >= 1
    assert kinds.count("control_response") >= 1
    assert problems["noise"] >= 1  # the client's red line about an answer the terminal cut


def test_the_mode_switches_of_an_ending_client_are_skipped() -> None:
    documents, problems = read((TMUX / "direct_tty_w80.pipe-pane.bin").read_bytes(), unwrapped=True)
    joined, _ = read((TMUX / "direct_tty_w80.capture-J.txt").read_bytes())
    assert texts(documents) == texts(joined) != []
    assert problems == {"noise": 1}


def test_a_path_of_every_recording_is_read() -> None:
    assert {path.name.split(".")[0] for path in Path(TMUX).glob("*.truth.jsonl")} == {*RUNS, *SHORTENED}
