"""Repositories with scripted watchers, and the page that shows them."""

from collections.abc import Iterator

import pytest

from tests.inbox.conftest import scripted
from tests.web.served_page import ServedPage, serve_page

__all__ = ["scripted"]  # fixtures


@pytest.fixture
def page() -> Iterator[ServedPage]:
    with serve_page() as page:
        yield page
