from chorus.model.json_lines import parse_json_lines


def test_lines_that_hold_no_object_are_skipped() -> None:
    lines: list[bytes | str] = [b'{"a": 1}', b'{"a": ', b"[1]", b"", b"\xff", '{"b": "\u00e9"}']
    assert list(parse_json_lines(lines)) == [{"a": 1}, {"b": "\u00e9"}]
