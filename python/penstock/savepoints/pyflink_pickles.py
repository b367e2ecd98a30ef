"""Makes objects of PyFlink's pickles: plain values without running code, others only on request."""

from __future__ import annotations

from pickle import UnpicklingError
from typing import Any

from penstock.common.row import Row, RowKind
from penstock.flink.pyflink.coders import Loads
from penstock.runtime.state.class_changes import Reading
from penstock.savepoints import plain_pickles
from penstock.savepoints.pickles import unmade_in, unread_error

_TYPES = "pyflink.common.types"


def loads_of_pyflink(*, unpickle: bool) -> Loads:
    """The function that makes an object of a pickle that PyFlink has written. Rows and instants become those of
    Penstock.

    Args:
        unpickle: whether objects of any class are made, which can run any code: only for places that you trust. Else
            the function raises SavepointError for what is not plain.
    """
    trusting = Reading({}, others={(_TYPES, "_create_row"): _row, (_TYPES, "RowKind"): RowKind}).loads

    def loads(data: bytes) -> Any:
        try:
            value = plain_pickles.loads(data, {})
            name = unmade_in(value)
        except UnpicklingError:  # the pickle has what only Python's own unpickler knows
            if not unpickle:
                raise
            return trusting(data)
        if name is not None and not unpickle:
            raise unread_error("A value that PyFlink has pickled", name)
        return value if name is None else trusting(data)

    return loads


def _row(names: list[str] | None, values: tuple[Any, ...], kind: RowKind) -> Row:
    return Row.of_values(values, None if names is None else tuple(names), kind)
