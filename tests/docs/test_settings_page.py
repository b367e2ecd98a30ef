"""The page of settings says what the table of settings says."""

from __future__ import annotations

from penstock.common.settings.settings import TABLE
from tests.docs.settings_page import PAGE, written


def test_the_page_is_as_it_is_written() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "write it by: python -m tests.docs.settings_page"
    assert written(page.replace(TABLE[0].doc, "stale")) == page
    assert all(page.count(f"`{key}`") >= 1 for setting in TABLE if not setting.internal for key in setting.keys)
