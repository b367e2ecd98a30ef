"""Tables by column, for the page: 100,000 operators with few distinct values are few and short lists.

A column is a list of its values, ``{"all": value}`` if all are equal, or ``{"of": values, "at": positions}`` where few
are distinct.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

_FEW = 4
"""Rows per distinct value from which on values are written once."""


def table(
    rows: Sequence[object], fields: Iterable[str], more: Mapping[str, Sequence[Any]] | None = None
) -> dict[str, Any]:
    """Objects as a table. O(rows times fields).

    Args:
        rows: objects that have the fields as attributes.
        fields: names of the columns.
        more: columns that the objects do not have, by name.
    """
    columns = {name: column([getattr(row, name) for row in rows]) for name in fields}
    columns.update({name: column(values) for name, values in (more or {}).items()})
    return {"rows": len(rows), "columns": columns}


def column(values: Sequence[Any]) -> Any:
    """A column as it is written. Values that are not hashable stay as they are."""
    positions: dict[Hashable, int] = {}
    most = max(len(values) // _FEW, 1)
    at: list[int] = []
    for value in values:
        try:
            at.append(positions.setdefault((type(value), value), len(positions)))
        except TypeError:
            return list(values)
        if len(positions) > most:
            return list(values)
    distinct = [value for _, value in positions]  # type: ignore[misc]
    if len(distinct) == 1:
        return {"all": distinct[0]}
    return {"of": distinct, "at": at} if values else []
