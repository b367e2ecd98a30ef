"""The objects behind PyFlink's names: a class or function of Penstock, or else a placeholder."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, TypeVar

from penstock.common import column_types
from penstock.pyflink.names import BESIDE, Name, definitions, modules
from penstock.pyflink.placeholders import placeholder

ROOMS = (
    "penstock.pyflink.deviations",
    "penstock.common",
    "penstock.common.async_retry",
    "penstock.common.bulk_writer",
    "penstock.common.serialization",
    "penstock.common.typeinfo",
    "penstock.datastream",
    "penstock.datastream.functions",
    "penstock.datastream.window",
    "penstock.metrics",
)
"""The public modules of Penstock in which a name is looked up; the first that has it counts."""
MORE_ROOMS = {
    "pyflink.datastream.connectors": ("penstock.datastream.connectors", "penstock.pyflink.planned"),
    "pyflink.datastream.formats": ("penstock.datastream.formats", "penstock.datastream.schemas"),
    "pyflink.testing": ("penstock.pyflink.test_cases",),
}
"""Those for the names of one package of PyFlink's, which other programs need not load."""
TABLES = "pyflink.table"
COLUMN_TYPES = {
    name: value
    for name, value in vars(column_types).items()
    if isinstance(value, type) and value.__module__ == column_types.__name__
}
"""The parts of the Table API that exist, by its name in PyFlink: ``DataTypes``, ``DataType``, ``RowType``, …"""

IN, IN1, IN2, OUT = TypeVar("IN"), TypeVar("IN1"), TypeVar("IN2"), TypeVar("OUT")
KEY, W2 = TypeVar("KEY"), TypeVar("W2")
K, T, V, W = TypeVar("K"), TypeVar("T"), TypeVar("V"), TypeVar("W")

TYPE_VARIABLES = {
    "pyflink.datastream.functions": (IN, IN1, IN2, KEY, OUT, W, W2),
    "pyflink.datastream.state": (IN, K, OUT, T, V),
    "pyflink.datastream.window": (IN, KEY, OUT, T, W, W2),
}
"""The type variables of PyFlink's modules, which programs name in ``Generic[IN, OUT]``; they are not in the table."""


def contents(module: str) -> dict[str, Any]:
    """The contents of a listed module, by name."""
    names = {name: value(name, module) for name in (*modules().get(module, ()), *BESIDE.get(module, ()))}
    variables = {variable.__name__: variable for variable in TYPE_VARIABLES.get(module, ())}
    return dict(sorted({**names, **variables}.items()))


def value(name: str, module: str) -> Any:
    """The object behind a name; wherever it is imported from it is the same."""
    return _value(definitions().get(name) or Name("", module, name, "function", ""))


@cache
def _value(name: Name) -> Any:
    more = (
        room for package, rooms in MORE_ROOMS.items() if f"{name.module}.".startswith(f"{package}.") for room in rooms
    )
    for room in map(importlib.import_module, (*ROOMS, *more)):
        if name.path in room.__all__:
            return getattr(room, name.path)
    if name.module.startswith("pyflink.datastream.connectors."):
        from penstock.pyflink.planned import planned  # loads all connectors

        return planned(name) or placeholder(name)
    return placeholder(name)


def absent_value(name: str, module: str) -> Any:
    """The object behind a name of an absent module: a type of columns, or a placeholder."""
    if f"{module}.".startswith(f"{TABLES}.") and name in COLUMN_TYPES:
        return COLUMN_TYPES[name]
    return placeholder(Name("", module, name, "class", ""))
