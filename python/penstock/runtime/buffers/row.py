"""The row of the exchange: a buffer with its address."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A buffer with its address; :mod:`penstock.runtime.exchange.gate` describes the order of rows. For a
    receiver the data may be where they wait: a :class:`~penstock.runtime.buffers.buffer_files.Place` or
    :class:`~penstock.runtime.buffers.spill.Waiting`."""

    level: int
    slot: int
    edge: int
    sender: int
    sequence: int
    data: bytes

    @property
    def vertex(self) -> int:
        """In a row for the driver: the index of the vertex that sent it."""
        return self.slot

    @property
    def kind(self) -> int:
        """In a row for the driver: REPORT, PRINT or COLLECT."""
        return self.edge
