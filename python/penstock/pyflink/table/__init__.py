"""``pyflink.table`` and all its modules: every name can be imported, and refuses to be used. There is no Table API."""

from __future__ import annotations

from penstock.pyflink.placeholders import a_class


def __getattr__(name: str) -> type[object]:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return a_class("pyflink.table", name, home=__name__)
