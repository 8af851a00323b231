from chorus.model.json_limit import MAX_COMMAS, MAX_JSON_BYTES, is_too_much


def test_a_short_message_is_parsed() -> None:
    assert not is_too_much(b"")
    assert not is_too_much(b"," * MAX_COMMAS)
    assert not is_too_much(b"x" * (MAX_COMMAS + 1))


def test_a_message_that_takes_long_to_parse_is_refused() -> None:
    assert is_too_much(b"," * (MAX_COMMAS + 1))
    assert is_too_much(b"x" * (MAX_JSON_BYTES + 1))
