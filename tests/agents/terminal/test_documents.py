from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.documents import SeenDocuments
from chorus.agents.interface import Document


def documents(*texts: bytes) -> list[Document]:
    return Reassembler().feed(b"".join(text + b"\n" for text in texts))


FIRST = b'{"uuid":"1","a":1}'
SECOND = b'{"uuid":"2","a":1}'
CONTROL = b'{"type":"control_request","request_id":"r"}'


def test_a_capture_and_the_pipe_after_it_give_each_event_once() -> None:
    seen = SeenDocuments()
    capture = [d for d in documents(FIRST, CONTROL) if seen.is_new(d)]
    again = [d for d in documents(FIRST, CONTROL, SECOND) if seen.is_new(d)]
    assert [d.text for d in capture] == [FIRST, CONTROL]
    assert [d.text for d in again] == [SECOND]


def test_an_event_is_recognized_by_its_uuid_alone() -> None:
    seen = SeenDocuments()
    [one, other] = documents(FIRST, b'{"uuid":"1","b":2}')
    assert seen.is_new(one)
    assert not seen.is_new(other)


def test_an_invalid_uuid_counts_as_part_of_the_text() -> None:
    seen = SeenDocuments()
    for document in documents(
        b'{"uuid":null,"a":1}', b'{"uuid":null,"a":2}', b'{"uuid":"","a":1}', b'{"uuid":""}'
    ):
        assert seen.is_new(document)


def test_memory_is_limited_and_keeps_documents_that_are_still_shown() -> None:
    seen = SeenDocuments(limit=2)
    [first, second, control] = documents(FIRST, SECOND, CONTROL)
    assert seen.is_new(first)
    assert seen.is_new(second)
    assert not seen.is_new(first)
    assert seen.is_new(control)
    assert not seen.is_new(first)
    assert seen.is_new(second)
