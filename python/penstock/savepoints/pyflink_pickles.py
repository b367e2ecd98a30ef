"""Makes objects of PyFlink's pickles: plain values without running code, others only on request."""

from __future__ import annotations

from pickle import UnpicklingError
from typing import Any

from penstock.flink.pyflink.coders import Loads
from penstock.job.restore.from_flink.pickles import trusting_loads
from penstock.savepoints import plain_pickles
from penstock.savepoints.pickles import unmade_in, unread_error


def loads_of_pyflink(*, unpickle: bool) -> Loads:
    """The function that makes an object of a pickle that PyFlink has written. Rows and instants become those of
    Penstock.

    Args:
        unpickle: whether objects of any class are made, which can run any code: only for places that you trust. Else
            the function raises SavepointError for what is not plain.
    """

    def loads(data: bytes) -> Any:
        try:
            value = plain_pickles.loads(data, {})
            name = unmade_in(value)
        except UnpicklingError:  # the pickle has what only Python's own unpickler knows
            if not unpickle:
                raise
            return trusting_loads(data)
        if name is not None and not unpickle:
            raise unread_error("A value that PyFlink has pickled", name)
        return value if name is None else trusting_loads(data)

    return loads
