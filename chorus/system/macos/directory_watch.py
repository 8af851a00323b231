"""Directories are not watched here: the caller polls."""


def open_directory_watch() -> None:
    return None
