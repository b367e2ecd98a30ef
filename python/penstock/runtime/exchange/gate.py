"""The exchange: records leave a chain in buffers (:mod:`.writer`) and arrive in an order that timing does not change.

A receiver reads its rows in the order (sequence, edge, sender): senders are read fairly, and a retried task sees the
same input in the same order. Watermarks and idleness travel in the buffers, in every channel. The end of a channel is
MAX_WATERMARK and needs no row. The high bits of a sequence number are the *round*: a receiver reads everything of a
round, from all its channels, before anything of the next one. Programs have one round unless a source begins another.

Rows for the driver have the level :data:`DRIVER`; then the slot is the index of the vertex, and the edge says what the
row is: :data:`REPORT`, :data:`PRINT`, :data:`COLLECT`, :data:`SPOKEN`, or for the n-th table that the job writes
``TABLE - n``; the rows of tables stay on executors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from penstock.errors import PenstockError
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import MEMORY, Rows, Store
from penstock.runtime.config.tasks import InputEdge

Emit = Callable[[Row], None]

DRIVER = -1
REPORT, PRINT, COLLECT, SPOKEN = -1, -2, -3, -4
TABLE = -16

ENDED = b""  # the data of the row that says, in a job that runs in steps, that its channel has ended

ROUND_BITS = 40  # sequence numbers below a round
_NUMBER = (1 << ROUND_BITS) - 1
_ORDER = attrgetter("sequence", "edge", "sender")  # senders take turns


class ExchangeError(PenstockError):
    """Rows of the exchange were lost, repeated or swapped: a defect, never the program's fault."""


Channel = tuple[int, int]  # an edge and the subtask that sends over it


class Arrival(NamedTuple):
    """A buffer that is due, or without data the end of a channel."""

    channel: Channel
    round: int | None
    data: bytes | None
    last: bool
    """Whether the channel ends with it, where that is known."""


class InputGate:
    """Collects the rows of a subtask and gives them back in the order (seq, edge, sender). ``channels`` are by type
    number of the input; ``ordered`` says that rows come in order by themselves, as there is but one channel. Above
    ``memory`` bytes rows wait in a temporary file, so a gate takes O(memory + rows) of memory."""

    def __init__(
        self, inputs: Iterable[InputEdge], parallelism: int = 1, subtask: int = 0, memory: int = MEMORY
    ) -> None:
        self.channels: dict[int, list[Channel]] = {}
        for edge in inputs:
            senders = [(edge.edge, sender) for sender in edge.senders_of(parallelism, subtask)]
            self.channels.setdefault(edge.input, []).extend(senders)
        self.ordered = sum(map(len, self.channels.values())) <= 1
        self._store = Store(memory)
        self._rows = Rows(self._store)
        self._left: Counter[Channel] = Counter()  # rows by channel
        self._expected: dict[Channel, int] = {}
        self._ended: set[Channel] = set()

    def begin_step(self, ended: Iterable[Channel]) -> None:
        """Rows are numbered from 0 again; these channels have ended before."""
        self._expected.clear()
        self._ended.update(ended)

    def add(self, row: Row) -> None:
        self._rows.append(row)
        self._left[row.edge, row.sender] += 1

    def drain(self, ended: Container[Channel] | None = None) -> Iterator[Arrival]:
        """All buffers in order; they leave the gate as they are read. A channel that has ended says so once, with
        its last buffer, or without data before all others if no buffer is left. With None all channels have ended.
        ExchangeError if a buffer is missing, or came twice."""
        left, self._left = self._left, Counter()
        channels = chain.from_iterable(self.channels.values())
        ending = {channel for channel in channels if ended is None or channel in ended} - self._ended
        self._ended |= ending
        for channel in sorted(ending - left.keys()):
            yield Arrival(channel, None, None, True)
        for row in self._rows.take(_ORDER):
            channel = row.edge, row.sender
            left[channel] -= 1
            yield self._arrival(row, last=channel in ending and not left[channel])

    def pass_on(self, rows: Iterable[Row]) -> Iterator[Arrival]:
        """:meth:`add` and :meth:`drain` at once, for the rows of a single sender, which come in order."""
        for row in rows:
            yield self._arrival(row, last=False)

    def _arrival(self, row: Row, *, last: bool) -> Arrival:
        channel = row.edge, row.sender
        number, expected = row.sequence & _NUMBER, self._expected.get(channel, 0)
        if number != expected:
            raise ExchangeError(
                f"Buffer {number} of edge {row.edge} from subtask {row.sender} arrived where buffer {expected} was "
                "due: rows were lost, repeated or swapped between two stages. This is a defect of Penstock or Spark; "
                "please report it."
            )
        self._expected[channel] = expected + 1
        return Arrival(channel, row.sequence >> ROUND_BITS, self._store.look(row.data), last)

    def close(self) -> None:
        self._store.close()
