"""Limit how much JSON is parsed at once, because the watcher answers no request while it parses."""

# Longer than any event of a client, and than any request with its pictures.
MAX_JSON_BYTES = 48 * 2**20
# A parser creates an object for each value. Three million objects take less than a tenth of a second, about
# as long as a text of fifty megabytes. Commas inside texts are counted too; no text in an event has so many.
MAX_COMMAS = 3_000_000


def is_too_much(data: bytes) -> bool:
    return len(data) > MAX_JSON_BYTES or (len(data) > MAX_COMMAS and data.count(b",") > MAX_COMMAS)
