"""The limit on JSON that is parsed at once: the watcher answers no request while a parser works."""

# No event of a client, and no request with its pictures, is as long.
MAX_JSON_BYTES = 48 * 2**20
# A parser makes an object of each value: three million take less than a tenth of a second, as long as a text
# of fifty megabytes. A comma in a text counts too; no text in an event has as many.
MAX_COMMAS = 3_000_000


def is_too_much(data: bytes) -> bool:
    """Whether parsing this would take too long."""
    return len(data) > MAX_JSON_BYTES or (len(data) > MAX_COMMAS and data.count(b",") > MAX_COMMAS)
