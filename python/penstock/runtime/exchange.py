"""The exchange: records leave a chain in buffers, and arrive in an order that does not depend on timing.

A row of the exchange is ``(lv, tg, e, snd, seq, p)``: the level and slot that consume it, the stream edge, the sender's
subtask, a running number per (edge, sender, target), and the bytes of up to 2,000 records. A receiver works in the
order (seq, e, snd): senders are read fairly, and a retried task sees the same input in the same order.

Watermarks and idleness travel in the buffers, in every channel. The end of a channel is MAX_WATERMARK and needs no row.
The high bits of a sequence number are the *round*: a receiver reads everything of a round, from all its channels,
before anything of the next one. Programs have one round unless a source begins another.

Rows for the driver have the level :data:`DRIVER`; then ``tg`` is the index of the vertex and ``e`` says what the row
is.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from typing import IO, Any, NamedTuple

from penstock.errors import PenstockError
from penstock.runtime.codec import Stamps, decode_value, dumps, encode, freezer, text_size
from penstock.runtime.config import InputEdge, NetworkOutput
from penstock.runtime.partition import POINTWISE, channel_selector, pointwise_consumers, seed_of
from penstock.runtime.signals import MAX_WATERMARK, STATUS, WATERMARK, Signal

Row = tuple[int, int, int, int, int, bytes]
Emit = Callable[[Row], None]
Fail = Callable[[BaseException], BaseException]

DRIVER = -1
REPORT, PRINT, COLLECT = -1, -2, -3

MAX_RECORDS = 2_000
"""Records per buffer: 1,000 to 2,000 measured best."""
FIRST_RECORDS = 64
"""Records of a writer's first buffer, before the size of a record is known."""
TARGET_BYTES = 1 << 20
"""A buffer is closed near this size; the number of records follows the mean size seen so far."""
_LOOK = 128
"""Records between two looks at how large they are; each look takes a few of them."""
MAX_BYTES = 64 << 20
"""A buffer larger than this is cut in halves (one record can still be larger: up to 2 GiB, Arrow's limit)."""
MAX_SIGNALS = 4_000
"""Watermarks per buffer."""
ROUND_BITS = 40
"""Sequence numbers below a round."""
_NUMBER = (1 << ROUND_BITS) - 1
MEMORY = 64 << 20
"""Bytes that a receiver holds in memory; the rest waits in a temporary file."""


class ExchangeError(PenstockError):
    """Rows of the exchange were lost, repeated or swapped: a defect, never the program's fault."""


def check_sequence(edge: int, sender: int, sequence: int, expected: int) -> int:
    """The number of the next buffer of a sender, if this one is the one expected."""
    if sequence & _NUMBER != expected:
        raise ExchangeError(
            f"Buffer {sequence & _NUMBER} of edge {edge} from subtask {sender} arrived where buffer {expected} was "
            "due: rows were lost, repeated or swapped between two stages. This is a defect of Penstock or Spark; "
            "please report it."
        )
    return expected + 1


class RecordWriter:
    """Writes the records of one output to its channels.

    Args:
        output: what to write where.
        parallelism: of the sending vertex.
        subtask: of the sender.
        emit: takes finished rows.
        fail: wraps an exception of user code (key selector, partitioner, pickling) in the emitting operator's failure.

    Attributes:
        write: (value, timestamp) → None.
    """

    def __init__(self, output: NetworkOutput, parallelism: int, subtask: int, emit: Emit, fail: Fail) -> None:
        self._output = output
        self._subtask = subtask
        self._emit = emit
        self._fail = fail
        kind, consumers = output.partitioner, output.parallelism
        self._targets = list(range(consumers))
        if kind in POINTWISE:
            self._targets = pointwise_consumers(parallelism, consumers, subtask, exact=output.exact_shares)
        self._count = 1 if kind == "BROADCAST" else len(self._targets)
        self._values: list[list[Any]] = [[] for _ in range(self._count)]
        self._stamps: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        self._signals: list[list[Signal]] = [[] for _ in range(self._count)]
        self._last: list[int | None] = [None] * self._count
        self._round = 0
        self._sent = [0] * self._count  # the round of the last row
        self._active = True
        self._sequence = [0] * self._count
        self._limit = FIRST_RECORDS
        self._marks = [1] * self._count  # the number of records at which to look next
        self._looked = [0] * self._count  # records that looks have covered
        self._sizes = [0] * self._count  # and their estimated bytes
        self.write = self._to_one() if self._count == 1 and kind != "CUSTOM" else self._to_selected()

    def _selector(self) -> Callable[[Any], int]:
        output = self._output
        partition = decode_value(output.partition) if output.partition is not None else None
        seed = seed_of(output.seed, self._subtask)
        return channel_selector(output.partitioner, partition, output.max_parallelism, self._count, seed)

    def _to_one(self) -> Callable[[Any, int | None], None]:
        """One channel, or all of them together (BROADCAST): nothing to select. HASH still checks its keys."""
        if self._output.partitioner == "HASH":
            return self._to_selected()
        values, last, marks, look, fail = self._values, self._last, self._marks, self._look, self._fail
        freeze, stamp = freezer(self._output.record_type), self._stamp

        def write(value: Any, timestamp: int | None) -> None:
            if freeze is not None:
                try:
                    value = freeze(value)
                except Exception as error:
                    raise fail(error) from error
            if timestamp is not last[0]:
                stamp(0, timestamp)
            buffer = values[0]
            buffer.append(value)
            if len(buffer) >= marks[0]:
                look(0)

        return write

    def _to_selected(self) -> Callable[[Any, int | None], None]:
        values, last, marks, look, fail = self._values, self._last, self._marks, self._look, self._fail
        freeze, stamp, select = freezer(self._output.record_type), self._stamp, self._selector()

        def write(value: Any, timestamp: int | None) -> None:
            try:
                channel = select(value)
                if freeze is not None:
                    value = freeze(value)
            except Exception as error:
                raise fail(error) from error
            if timestamp is not last[channel]:
                stamp(channel, timestamp)
            buffer = values[channel]
            buffer.append(value)
            if len(buffer) >= marks[channel]:
                look(channel)

        return write

    def _stamp(self, channel: int, timestamp: int | None) -> None:
        """Begin a run of equal timestamps; most streams have one run, of None."""
        self._stamps[channel].append((len(self._values[channel]), timestamp))  # type: ignore[arg-type]
        self._last[channel] = timestamp

    def _look(self, channel: int) -> None:
        """Send a buffer that has its number of records, or its bytes, as some of those since the last look tell."""
        values = self._values[channel]
        count = len(values)
        some = values[self._looked[channel] :: _LOOK // 4 - 1]
        self._sizes[channel] += sum(map(text_size, some)) * (count - self._looked[channel]) // len(some)
        if self._sizes[channel] >= TARGET_BYTES:
            self._flush(channel)
            self._marks[channel] = 1
        elif count >= self._limit:
            self._flush(channel)
            self._marks[channel] = min(_LOOK, self._limit)  # the next records are probably as small as these
        else:
            self._looked[channel] = count
            self._marks[channel] = min(2 * count, count + _LOOK, self._limit)

    def watermark(self, watermark: int) -> None:
        """Write a watermark into every channel, unless this task is idle."""
        if self._active:
            self._signal(WATERMARK, watermark)

    def status(self, active: bool) -> None:
        """Tell every channel that this task has fallen idle, or has come back."""
        self._active = active
        self._signal(STATUS, int(active))

    def _signal(self, kind: int, payload: int) -> None:
        for channel, signals in enumerate(self._signals):
            signals.append((len(self._values[channel]), kind, payload))
            if len(signals) >= MAX_SIGNALS:
                self._flush(channel)

    def send(self) -> None:
        """Send everything so far; more may follow."""
        for channel in range(self._count):
            self._flush(channel)

    def begin_round(self, number: int) -> None:
        """Send everything, and mark what follows as of another round."""
        self.send()
        self._round = number

    def _flush(self, channel: int) -> None:
        self._looked[channel], self._sizes[channel] = 0, 0
        values, stamps, signals = self._values[channel], self._stamps[channel], self._signals[channel]
        if not values and not signals:
            return
        last = self._last[channel]
        self._values[channel] = []
        self._stamps[channel] = [] if last is None else [(0, last)]
        self._signals[channel] = []
        try:
            pieces = [encode(values, stamps, signals)]
        except Exception as error:
            raise self._fail(error) from error
        if len(pieces[0]) > MAX_BYTES and len(values) > 1:
            pieces = list(_halves(values, stamps, signals))
        if values:
            size = sum(map(len, pieces)) // len(values)
            self._limit = max(1, min(MAX_RECORDS, TARGET_BYTES // max(size, 1), self._limit * 8))
        for piece in pieces:
            self._emit_row(channel, piece)

    def _emit_row(self, channel: int, data: bytes) -> None:
        number = self._sequence[channel]
        self._sequence[channel] = number + 1
        self._sent[channel] = self._round
        sequence = self._round << ROUND_BITS | number
        targets = self._targets if self._output.partitioner == "BROADCAST" else (self._targets[channel],)
        for to in self._output.destinations:
            for target in targets:
                self._emit((to.level, to.offset + target, to.edge, self._subtask, sequence, data))

    def finish(self) -> None:
        """Send what is left, channel by channel. A last MAX_WATERMARK is left out: the end of the channel says it. A
        channel that ends in a later round than it has sent anything in says so by an empty row."""
        for channel, signals in enumerate(self._signals):
            end = len(self._values[channel]), WATERMARK, MAX_WATERMARK
            while signals and signals[-1] == end:
                signals.pop()
            self._flush(channel)
            if self._sent[channel] != self._round:
                self._emit_row(channel, encode([], []))


def _halves(values: list[Any], stamps: Stamps, signals: list[Signal]) -> Iterator[bytes]:
    """The records in pieces below MAX_BYTES where that is possible, in order; halves of halves, from a stack."""
    times = list(timestamps(stamps, len(values)))
    stack = [(0, len(values))]
    while stack:
        start, end = stack.pop()
        stop = end + (end == len(values))
        own = [(index - start, kind, payload) for index, kind, payload in signals if start <= index < stop]
        data = encode(values[start:end], _runs(times[start:end]), own)
        if len(data) <= MAX_BYTES or end - start == 1:
            yield data
            continue
        middle = (start + end) // 2
        stack += [(middle, end), (start, middle)]


def _runs(times: list[int | None]) -> list[tuple[int, int]]:
    runs: list[tuple[int, Any]] = []
    last: int | None = None
    for index, time in enumerate(times):
        if time != last:
            runs.append((index, time))
            last = time
    return runs


def timestamps(stamps: list[tuple[int, int]], count: int) -> Iterator[int | None]:
    """The timestamp of each of ``count`` records, from the runs of a buffer."""
    position, current = 0, None
    for start, timestamp in stamps:
        for _ in range(position, start):
            yield current
        position, current = start, timestamp
    for _ in range(position, count):
        yield current


Channel = tuple[int, int]
"""An edge and the subtask that sends over it."""


class Arrival(NamedTuple):
    """A buffer that is due, or without data the end of a channel."""

    channel: Channel
    round: int | None
    data: bytes | None
    last: bool
    """Whether the channel ends with it, where that is known."""


class InputGate:
    """Collects the rows of a subtask and gives them back in the order (seq, edge, sender).

    Args:
        inputs: the edges into the vertex.
        parallelism: of the vertex.
        subtask: that receives.
        memory: bytes to hold; more waits in an unlinked temporary file, so a gate takes O(memory + rows) of memory.

    Attributes:
        channels: by type number of the input.
        ordered: whether rows come in order by themselves, as there is but one channel.
    """

    def __init__(
        self, inputs: Iterable[InputEdge], parallelism: int = 1, subtask: int = 0, memory: int = MEMORY
    ) -> None:
        self.channels: dict[int, list[Channel]] = {}
        for each in inputs:
            senders = [(each.edge, sender) for sender in each.senders_of(parallelism, subtask)]
            self.channels.setdefault(each.input, []).extend(senders)
        self.ordered = sum(map(len, self.channels.values())) <= 1
        self._memory = memory
        self._held = 0
        self._rows: list[tuple[int, int, int, bytes | None, int, int]] = []
        self._file: IO[bytes] | None = None
        self._expected: dict[Channel, int] = {}
        self._ended: set[Channel] = set()

    def add(self, edge: int, sender: int, sequence: int, data: bytes) -> None:
        """Take one buffer."""
        if self._held + len(data) <= self._memory:
            self._held += len(data)
            self._rows.append((sequence, edge, sender, data, 0, 0))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="penstock-")  # noqa: SIM115 - lives as long as the gate
        self._rows.append((sequence, edge, sender, None, self._file.tell(), len(data)))
        self._file.write(data)

    def drain(self, ended: Container[Channel] | None = None) -> Iterator[Arrival]:
        """All buffers in order; they leave the gate as they are read. A channel that has ended says so once, with its
        last buffer, or without data before all others if none is left.

        Args:
            ended: channels that have sent everything; None: all have.

        Raises:
            ExchangeError: a buffer is missing, or came twice.
        """
        rows = sorted(self._rows, key=lambda row: row[:3], reverse=True)
        self._rows, self._held = [], 0
        left = Counter((edge, sender) for _, edge, sender, *_ in rows)
        ending = {c for each in self.channels.values() for c in each if ended is None or c in ended} - self._ended
        self._ended |= ending
        for channel in sorted(ending - left.keys()):
            yield Arrival(channel, None, None, True)
        while rows:
            sequence, edge, sender, data, offset, length = rows.pop()
            channel = edge, sender
            expected = self._expected.get(channel, 0)
            self._expected[channel] = check_sequence(edge, sender, sequence, expected)
            if data is None:
                assert self._file is not None
                self._file.seek(offset)
                data = self._file.read(length)
            left[channel] -= 1
            yield Arrival(channel, sequence >> ROUND_BITS, data, channel in ending and not left[channel])
        self._give_back()

    def pass_on(self, rows: Iterable[Row]) -> Iterator[Arrival]:
        """What :meth:`add` and :meth:`drain` do, at once, for the rows of a single sender, which come in order.

        Raises:
            ExchangeError: they do not.
        """
        for _, _, edge, sender, sequence, data in rows:
            expected = self._expected.get((edge, sender), 0)
            self._expected[edge, sender] = check_sequence(edge, sender, sequence, expected)
            yield Arrival((edge, sender), sequence >> ROUND_BITS, data, False)

    def _give_back(self) -> None:
        """The temporary file is read."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Forget everything."""
        self._give_back()
        self._rows, self._held = [], 0


def payload(value: Any) -> bytes:
    """Bytes of a row for the driver."""
    return dumps(value)
