from chorus.model.json_limit import MAX_COMMAS, MAX_JSON_BYTES, is_too_much


def test_what_a_client_sends_is_parsed() -> None:
    assert not is_too_much(b"")
    assert not is_too_much(b"," * MAX_COMMAS)
    assert not is_too_much(b"x" * (MAX_COMMAS + 1))


def test_what_would_take_long_is_not() -> None:
    assert is_too_much(b"," * (MAX_COMMAS + 1))
    assert is_too_much(b"x" * (MAX_JSON_BYTES + 1))
