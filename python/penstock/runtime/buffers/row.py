"""The row of the exchange: a buffer on its way, and where it goes."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A buffer with its address. What order rows are read in, and what the rows for the driver are, stands in
    :mod:`penstock.runtime.exchange.gate`.

    Attributes:
        level, slot: of the task that reads it; in a row for the driver, DRIVER and the sender's vertex.
        edge: of the stream, over which it goes; in a row for the driver, what it is.
        sender: the subtask that has sent it.
        sequence: a running number per (edge, sender, slot), with the round in the high bits.
        data: the bytes of a buffer.
    """

    level: int
    slot: int
    edge: int
    sender: int
    sequence: int
    data: bytes

    @property
    def vertex(self) -> int:
        """Of a row for the driver: the index of the vertex that has sent it."""
        return self.slot

    @property
    def kind(self) -> int:
        """Of a row for the driver: REPORT, PRINT or COLLECT."""
        return self.edge
