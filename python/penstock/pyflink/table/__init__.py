"""``pyflink.table`` and all its modules. There is no Table API: every name can be imported, and refuses to be used, but
for the types of columns, which formats of files take."""

from __future__ import annotations

from typing import Any

from penstock.common import column_types, data_types
from penstock.pyflink.placeholders import a_class

_TYPES = {
    name: value
    for module in (column_types, data_types)
    for name, value in vars(module).items()
    if isinstance(value, type) and value.__module__ == module.__name__
}
"""What is there, by its name in PyFlink: ``DataTypes``, ``DataType``, ``RowType``, …"""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _TYPES[name] if name in _TYPES else a_class("pyflink.table", name, home=__name__)
