"""There is no directory watch on macOS: the caller polls."""


def open_directory_watch() -> None:
    return None
