"""Native segments: the operators of a fused chain that run on columns, and where their results go.

A chain is cut here, by one rule. A segment begins where columns come in, from a source or from the exchange. It has all
operators from there that are a stage of a native pipeline: compiled functions, each the only reader of the one before.
The head may be a :class:`~.operator.KeyedStage`. The segment ends at a writer or an operator that take columns, or at
the first operator that wants objects; they are made per batch.

Where several read the same records, a :class:`Fork` has a branch for each of them.

Where native code cannot vouch for a record, it goes through the generated functions of the chain (:mod:`.fusion`), in
its place; all before it has been handed on. So order, counts and exceptions are those of Python."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby, repeat
from types import ModuleType
from typing import Any, NamedTuple

from penstock.runtime.chain.fusion import Fusion, Text
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput, Output, Target
from penstock.runtime.exchange.writer import RecordWriter
from penstock.runtime.native import ColumnarRecords

_MOST_STAGES = 64  # of a pipeline
_TRIAL = 1_000  # records before a segment may find that too many are in doubt
_LONG = 16  # records of one timestamp, on average, that are better handed over together
_MOST_DOUBTS = 8  # in a segment that goes on, one record in so many at the most is in doubt

HandOver = Callable[[Any], None]  # takes a batch
Run = Callable[[Any, int, int], tuple[Any, list[int], int, bool]]
"""Takes a batch and a range of its records. Returns what came out, as a batch or None; the number of records out of
each operator; the index behind the last record that is done; and whether the next one is in doubt."""


class Columnar(NamedTuple):
    """A way for columns that leads into a segment after some other work, with the segment."""

    segment: Segment | Fork
    take: Callable[[Any, int, int], None]

    @property
    def closed(self) -> bool:
        """As that of the segment."""
        return self.segment.closed

    @property
    def broad(self) -> bool:
        """As that of the segment."""
        return self.segment.broad

    @property
    def shows(self) -> bool:
        """As that of the segment."""
        return self.segment.shows

    @property
    def works(self) -> bool:
        """As that of the segment."""
        return self.segment.works

    def columns_of(self, values: Sequence[Any], times: Sequence[int | None] | None) -> Any:
        """As :meth:`Segment.columns_of`."""
        return self.segment.columns_of(values, times)

    def take_all(self, batch: Any) -> None:
        """Take a batch."""
        self.take(batch, 0, len(batch))


class Taker(NamedTuple):
    """A way for columns into an operator that runs code of the user, or if it is ``closed`` none. ``shows`` is whether
    what it has taken can be seen although the task fails; ``broad`` whether code of the user takes many records at a
    time; ``works`` whether columns are worth making of objects for it."""

    take_all: HandOver
    closed: bool = False
    shows: bool = False
    broad: bool = False
    works: bool = False


class Segment:
    """Takes batches; ``run`` is that of a native pipeline or a keyed stage, ``collect`` takes records in doubt, and
    ``hand_over`` the results. ``operators`` are those that it stands for, in order. Without ``run`` the batches are
    handed over as they are. ``flush`` is to be called before objects go into a keyed stage's operator; ``leave`` says
    how many of the next records, at the most so many, are better taken as objects. It is ``closed`` if no code of the
    user runs behind it in this chain, and ``shows`` if what came through can be seen although the task fails. Few
    records cost as much as many where it is ``broad``: closed, or if that code takes many records at a time. It
    ``works`` if columns are worth making of objects for it."""

    def __init__(
        self,
        functions: ModuleType,
        run: Run | None,
        operators: Sequence[LiveOperator],
        hand_over: HandOver,
        collect: Collector,
        flush: Callable[[], None] | None = None,
        leave: Callable[[int], int] | None = None,
        closed: bool = False,
        shows: bool = False,
        broad: bool = False,
        works: bool = False,
    ) -> None:
        self._functions, self._run, self._hand_over, self._collect = functions, run, hand_over, collect
        self.shows = shows
        self._counted = [(index, op) for index, op in enumerate(operators) if op.emitted is not None]
        self.flush, self._leave, self.closed, self.broad = flush, leave, closed, closed or broad
        self.works = works or run is not None
        self._done = self._doubts = 0

    @property
    def gives_up(self) -> bool:
        """Whether so many records were in doubt that objects are cheaper."""
        return self._done > _TRIAL and self._doubts * _MOST_DOUBTS > self._done

    def columns_of(self, values: Sequence[Any], times: Sequence[int | None] | None) -> Any:
        """Some records as a batch; None where they cannot be one, or it would save nothing."""
        return None if self.gives_up else _columns_of(self._functions, values, times, self.works)

    def take_all(self, batch: Any) -> None:
        """Take a batch."""
        self.take(batch, 0, len(batch))

    def take(self, batch: Any, start: int, end: int) -> None:
        """Take some records of a batch, in order. What a user's function raises comes out as its operator's failure."""
        if self._run is None:
            self._hand_over(batch.slice(start, end))
            return
        self._done += end - start
        while start < end:
            if self._leave is not None and (left := self._leave(end - start)):
                _collect_all(self._collect, batch, start, start + left)
                start += left
                continue
            results, counts, start, in_doubt = self._run(batch, start, end)
            for index, operator in self._counted:
                operator.emitted += counts[index]  # type: ignore[operator]
            if results is not None:
                self._hand_over(results)
            if in_doubt:
                self._doubts += 1
                if self.flush is not None:
                    self.flush()
                _collect_all(self._collect, batch, start, start + 1)
                start += 1


class ColumnsEmitter(NamedTuple):
    """Emits the records of a batch from one position to another."""

    way: Columnar | Segment | Fork
    batch: Any

    def __call__(self, start: int, end: int) -> None:
        self.way.take(self.batch, start, end)


class Fork:
    """The same batches into several branches, one after the other: all but the last are closed segments, so that nobody
    can tell it from record by record. The last one is too, or it takes objects; no other code of the user runs in the
    branches. ``collect`` takes a record into all of them, in the order of Python."""

    flush = None
    shows = False  # no branch of a closed one does

    def __init__(
        self, functions: ModuleType, branches: Sequence[Segment], last: HandOver | None, collect: Collector
    ) -> None:
        self._functions, self._branches, self._last, self._collect = functions, branches, last, collect
        self.closed = self.broad = last is None
        self.works = any(branch.works for branch in branches)

    @property
    def gives_up(self) -> bool:
        """Whether so many records were in doubt in a branch that objects are cheaper."""
        return any(branch.gives_up for branch in self._branches)

    def columns_of(self, values: Sequence[Any], times: Sequence[int | None] | None) -> Any:
        """As :meth:`Segment.columns_of`."""
        return None if self.gives_up else _columns_of(self._functions, values, times, self.works)

    def take_all(self, batch: Any) -> None:
        """Take a batch."""
        self.take(batch, 0, len(batch))

    def take(self, batch: Any, start: int, end: int) -> None:
        """Take some records of a batch. If functions of several branches fail, the failure is that of the first record
        that one of them fails for: the compiled ones, which have no effects, are called again to find it."""
        failure: Exception | None = None
        for branch in self._branches:
            try:
                branch.take(batch, start, end)
            except Exception as error:
                failure = error
                break
        if failure is not None:
            _collect_all(self._collect, batch, start, end)
            raise failure
        if self._last is not None:
            self._last(batch.slice(start, end))


def _columns_of(functions: ModuleType, values: Sequence[Any], times: Sequence[int | None] | None, works: bool) -> Any:
    """Some records as a batch; None where they cannot be one, or have no columns so far and nothing works on them."""
    if isinstance(values, ColumnarRecords):
        batch = values.columns(functions)
        return batch if batch is None or times is None else batch.with_times(list(times))
    return functions.Batch.of(list(values), times) if works else None


def _collect_all(collect: Collector, batch: Any, start: int, end: int) -> None:
    """Hand over the objects of some records of a batch."""
    some = batch.slice(start, end)
    for value, time in zip(some.objects(), some.times or repeat(None), strict=False):
        collect(value, time)


def segment_into(fusion: Fusion, number: int) -> Segment | Fork | None:
    """The segment for an input of the head; None where objects are wanted from the start."""
    functions, collector = fusion.functions, fusion.into(0, number).collector
    if functions is None or not fusion.native:
        return None
    head = fusion.operators[0]
    stage = head.keyed_stage(functions, number)
    if stage is None:
        return _segment(fusion, functions, [Target(None, None, 0, number)], collector)
    rest = segment_behind(fusion, 0)
    hand_over = _objects(partial(fusion.behind, 0)) if rest is None else rest.take_all
    leave, broad = getattr(stage, "leave", None), rest is not None and rest.broad
    return Segment(functions, stage.run, [head], hand_over, collector(), stage.flush, leave, broad=broad)


def segment_behind(fusion: Fusion, position: int) -> Segment | Fork | None:
    """The same for the records that an operator emits."""
    if fusion.functions is None or not fusion.native:
        return None
    targets = [target for target in fusion.targets[position] if target.tag is None]
    if len(targets) > 1:
        return _fork(fusion, fusion.functions, targets, fusion.behind(position).collector)
    return _segment(fusion, fusion.functions, targets, fusion.behind(position).collector)


def _fork(
    fusion: Fusion, functions: ModuleType, targets: list[Target], collector: Callable[[], Collector]
) -> Fork | None:
    """The branches for several targets; None where the order among them could be seen, or columns save nothing."""
    if any(target.crosses for target in targets) or any(operator.toggling for operator in fusion.operators.values()):
        return None
    branches, others = list[Segment](), list[HandOver]()
    for target in targets:
        branch = _segment(fusion, functions, [target._replace(copy=None)], fusion.of([target]).collector)
        if branch is not None and branch.closed and not branch.shows:  # a failure takes records again
            branches.append(branch)
        else:
            others.append(_objects(partial(fusion.of, [target])) if branch is None else branch.take_all)
    if not branches or len(others) > 1:
        return None
    return Fork(functions, branches, others[0] if others else None, collector())


def _segment(
    fusion: Fusion, functions: ModuleType, targets: list[Target], collector: Callable[[], Collector]
) -> Segment | None:
    operators, stages, last = list[LiveOperator](), list[Any](), -1
    while (target := _only(targets)) is not None and target.writer is None and not target.number:
        operator = fusion.operators[target.position]
        stage = operator.stage(functions) if len(stages) < _MOST_STAGES else None
        if stage is None:
            break
        operators.append(operator)
        stages.append(stage)
        last, targets = target.position, fusion.targets[target.position]
    taker = _taker(fusion, target)
    if taker is None and stages:
        behind = segment_behind(fusion, last) if target is None else None
        if isinstance(behind, Fork):
            taker = Taker(behind.take_all, behind.closed)
        else:
            taker = Taker(_objects(partial(fusion.behind, last)))
    if taker is None:
        return None
    run = functions.Pipeline(stages).run if stages else None
    take_all, *flags = taker
    return Segment(functions, run, operators, take_all, collector(), None, None, *flags)


def _only(targets: list[Target]) -> Target | None:
    """The one that records go to, if there is one alone, and they go there as they are."""
    main = [target for target in targets if target.tag is None]
    return main[0] if len(main) == 1 and not main[0].crosses else None


def _taker(fusion: Fusion, target: Target | None) -> Taker | None:
    """Takes batches for a target; None where it wants objects."""
    if target is None:
        return None
    writer = target.writer
    if writer is not None:
        takes = isinstance(writer, RecordWriter) and writer.takes_columns
        return Taker(writer.write_columns, closed=True) if takes else None  # type: ignore[union-attr]
    columnar = fusion.operators[target.position].columns(target.number)
    if columnar is None:
        return None
    return Taker(columnar.take_all, columnar.closed, columnar.shows, columnar.broad, columnar.works)


def _objects(text: Callable[[], Text]) -> HandOver:
    """Hands the objects of a batch to generated functions; each has a text of its own."""
    feed, timed_feed = text().feed(), text().timed_feed()

    def hand_over(batch: Any) -> None:
        values, times = batch.objects(), batch.times
        if times is None:
            feed(values, None)
            return
        runs = [(time, len(list(run))) for time, run in groupby(times)]
        if len(runs) * _LONG > len(values):
            timed_feed(values, times)
            return
        start = 0
        for time, length in runs:
            feed(values[start : start + length], time)
            start += length

    return hand_over


class FusedOutput(CountingOutput):
    """The output of an operator in the fused form: generated functions, made when first asked for. They do not
    count: operators know what they emit."""

    __slots__ = ("_fusion", "_position", "_sides", "collect", "columns", "feed", "timed_feed")  # type: ignore[misc]

    def __init__(self, inner: Output, fusion: Fusion, position: int) -> None:
        super().__init__(inner)
        self._fusion, self._position = fusion, position
        self._sides: dict[str, Collector] = {}

    def __getattr__(self, name: str) -> Any:
        text = self._fusion.behind(self._position)
        if name == "collect":
            self.collect = text.collector()  # type: ignore[method-assign]
            return self.collect
        if name == "feed":
            self.feed = text.feed()  # type: ignore[method-assign]
            return self.feed
        if name == "timed_feed":
            self.timed_feed = text.timed_feed()  # type: ignore[method-assign]
            return self.timed_feed
        if name == "columns":
            self.columns = segment_behind(self._fusion, self._position)
            return self.columns
        raise AttributeError(name)

    def timers(self, fragment: Any, *, event_time: bool) -> Any:
        return self._fusion.behind(self._position).timers(fragment, event_time=event_time)

    def forget_columns(self) -> None:
        with contextlib.suppress(AttributeError):
            del self.columns

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        self.count_side(tag_id)
        side = self._sides.get(tag_id)
        if side is None:
            side = self._sides[tag_id] = self._fusion.behind(self._position, tag_id).collector()
        side(value, timestamp)
