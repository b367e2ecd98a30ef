"""Objects of pickles that PyFlink has written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.common.row import Row, RowKind
from penstock.common.time import Instant
from penstock.runtime.state.class_changes import Reading


def trusting_loads(data: bytes) -> Any:
    """The object of a pickle that PyFlink has written, which can run any code. Rows and instants become those of
    Penstock."""
    return _TRUSTING.loads(data)


def _row(names: list[str] | None, values: tuple[Any, ...], kind: RowKind) -> Row:
    return Row.of_values(values, None if names is None else tuple(names), kind)


_STAND_INS: Mapping[tuple[str, str], Any] = {
    ("pyflink.common.types", "_create_row"): _row,
    ("pyflink.common.types", "RowKind"): RowKind,
    ("pyflink.common.time", "Instant"): Instant,
}
_TRUSTING = Reading({}, others=_STAND_INS)
