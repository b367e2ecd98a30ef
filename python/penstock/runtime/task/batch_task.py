"""A task whose input comes sorted by key, or whose one input is read before the other (BATCH mode). First the early
inputs are read to their end. Then come the sorted ones, key by key: the records of a key, then its end, at which its
timers fire and its state is forgotten, so that there is never the state of two keys. Whoever brings the rows sorts
them (Spark's external sort); the local executor's rows are sorted here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

from penstock.runtime import native
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Store
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.config.tasks import JobConfig, VertexConfig
from penstock.runtime.exchange.gate import InputGate
from penstock.runtime.exchange.sorted_merge import KeyMerge, Run, SlotsOf
from penstock.runtime.exchange.sorted_rows import NO_TIME, SORTED, sort_key
from penstock.runtime.exchange.writer import Fail
from penstock.runtime.keys.field_selectors import quick
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.operators.reduce import BatchReduce
from penstock.runtime.task.task import Task

_FEW = 8  # records that go into the chain without a look in between at what comes out
_TEXTS = frozenset({str})


def task_of(vertex: VertexConfig, subtask: int, attempt: int, job: JobConfig, *, presorted: bool = False) -> Task:
    """The task of a subtask; ``presorted`` says that rows come sorted by (sequence number, data)."""
    if any(edge.sorted or edge.early for edge in vertex.inputs):
        return BatchTask(vertex, subtask, attempt, job, presorted=presorted)
    return Task(vertex, subtask, attempt, job)


class BatchTask(Task):
    """A subtask in BATCH mode with sorted or early inputs. It begins when all its input is there."""

    def __init__(
        self, vertex: VertexConfig, subtask: int, attempt: int, job: JobConfig, *, presorted: bool = False
    ) -> None:
        super().__init__(vertex, subtask, attempt, job)
        self._early = InputGate((edge for edge in vertex.inputs if edge.early), vertex.parallelism, subtask)
        self._early_edges = {edge.edge for edge in vertex.inputs if edge.early}
        self._presorted = presorted
        self._store = Store()
        self._late: list[tuple[Any, Row]] = []  # rows that nobody has sorted, their bytes in the store, by sort_key
        self._merge: KeyMerge | None = None

    def receive(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Take rows. If they are sorted, those that carry records by key come after all others, and leave at once."""
        return self._guarded(self._receive(rows))

    def _receive(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            if row.sequence < SORTED:
                (self._early if row.edge in self._early_edges else self._gate).add(row)
            elif self._presorted:
                yield from self._read_early()
                yield from self._by_key(self._add(row))
            else:
                row = row._replace(data=self._store.look(row.data))
                self._late.append((sort_key(row), row._replace(data=self._store.put(row.data))))

    def _work(self, chain: OperatorChain) -> Iterator[Row]:
        yield from self._read_early()
        self._late.sort(key=itemgetter(0), reverse=True)
        while self._late:
            row = self._late.pop()[1]
            yield from self._by_key(self._add(row._replace(data=self._store.take(row.data))))
        assert self._merge is not None
        yield from self._by_key(self._merge.finish())
        yield from super()._work(chain)

    def _read_early(self) -> Iterator[Row]:
        if self._merge is None:
            chain = self._open()
            slots = {
                edge.edge: _slots_of(chain.spec, edge.input, chain.head.context.fail)
                for edge in self._vertex.inputs
                if edge.sorted
            }
            self._merge = KeyMerge(slots, native.functions(self._job.settings.native))
            yield from self._process(arrival._replace(round=None) for arrival in self._early.drain())

    def _add(self, row: Row) -> Iterator[Run]:
        assert self._merge is not None
        self._entries[row.edge].bytes += len(row.data)
        return self._merge.add(row)

    def _by_key(self, runs: Iterator[Run]) -> Iterator[Row]:
        head = self._open().head
        for edge, values, times, last in runs:
            if values:
                entry = self._entries[edge]
                if isinstance(head, BatchReduce):
                    head.take(values)
                    entry.records += len(values)
                elif times is None and len(values) <= _FEW:
                    entry.put(values)
                    entry.records += len(values)
                else:
                    stamps = None if times is None else (None if time == NO_TIME else time for time in times)
                    yield from self._drain_between(entry.feed(values, stamps))
            if last:
                head.end_key()
            if self._backlog():
                yield from self._drain()

    def close(self) -> None:
        self._early.close()
        self._store.close()
        super().close()


def _slots_of(spec: StreamOperator, number: int, fail: Fail) -> SlotsOf:
    """A function that makes the canonical keys of records, as the operator's state does: by the type of the first."""
    keyed = spec.key_of_input(number)
    assert keyed is not None
    key_of, canonical = quick(keyed.selector()), KeyHash((spec.keyed or keyed).key_type).canonical

    def slots_of(values: list[Any]) -> list[Any]:
        try:
            keys = list(map(key_of, values))
            return keys if set(map(type, keys)) <= _TEXTS else list(map(canonical, keys))
        except Exception as error:
            raise fail(keyed.failure(error)) from error

    return slots_of
