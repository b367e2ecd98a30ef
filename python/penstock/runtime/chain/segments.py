"""Native segments: the operators of a fused chain that run on columns, and where their results go.

A chain is cut here, by one rule. A segment begins where columns come in, from a source or from the exchange. It has all
operators from there that are a stage of a native pipeline: compiled functions, each the only reader of the one before.
The head may be a :class:`~.operator.KeyedStage`. The segment ends at a writer or an operator that take columns, or at
the first operator that wants objects; they are made per batch.

Where native code cannot vouch for a record, it goes through the generated functions of the chain (:mod:`.fusion`), in
its place; all before it has been handed on. So order, counts and exceptions are those of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, repeat
from types import ModuleType
from typing import Any, NamedTuple

from penstock.runtime.chain.fusion import Fusion
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

    segment: Segment
    take: Callable[[Any, int, int], None]

    def columns_of(self, values: Sequence[Any], times: Sequence[int | None] | None) -> Any:
        """As :meth:`Segment.columns_of`."""
        return self.segment.columns_of(values, times)

    def take_all(self, batch: Any) -> None:
        """Take a batch."""
        self.take(batch, 0, len(batch))


class Segment:
    """Takes batches; ``run`` is that of a native pipeline or a keyed stage, ``collect`` takes records in doubt, and
    ``hand_over`` the results. ``operators`` are those that it stands for, in order. Without ``run`` the batches are
    handed over as they are. ``flush`` is to be called before objects go into a keyed stage's operator; ``leave`` says
    how many of the next records, at the most so many, are better taken as objects."""

    def __init__(
        self,
        functions: ModuleType,
        run: Run | None,
        operators: Sequence[LiveOperator],
        hand_over: HandOver,
        collect: Collector,
        flush: Callable[[], None] | None = None,
        leave: Callable[[int], int] | None = None,
    ) -> None:
        self._functions, self._run, self._hand_over, self._collect = functions, run, hand_over, collect
        self._counted = [(index, op) for index, op in enumerate(operators) if op.emitted is not None]
        self.flush, self._leave = flush, leave
        self._done = self._doubts = 0

    @property
    def gives_up(self) -> bool:
        """Whether so many records were in doubt that objects are cheaper."""
        return self._done > _TRIAL and self._doubts * _MOST_DOUBTS > self._done

    def columns_of(self, values: Sequence[Any], times: Sequence[int | None] | None) -> Any:
        """Some records as a batch; None where they cannot be one, or it would save nothing."""
        if self.gives_up:
            return None
        if isinstance(values, ColumnarRecords):
            batch = values.columns(self._functions)
            return batch if batch is None or times is None else batch.with_times(list(times))
        return self._functions.Batch.of(list(values), times) if self._run is not None else None

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
                self._take_objects(batch, start, start + left)
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
                self._take_objects(batch, start, start + 1)
                start += 1

    def _take_objects(self, batch: Any, start: int, end: int) -> None:
        collect, some = self._collect, batch.slice(start, end)
        for value, time in zip(some.objects(), some.times or repeat(None), strict=False):
            collect(value, time)


def segment_into(fusion: Fusion, number: int) -> Segment | None:
    """The segment for an input of the head; None where objects are wanted from the start."""
    functions, collector = fusion.functions, fusion.into(0, number).collector
    if functions is None or not fusion.native:
        return None
    head = fusion.operators[0]
    stage = head.keyed_stage(functions, number)
    if stage is None:
        return _segment(fusion, functions, [Target(None, None, 0, number)], collector)
    rest = segment_behind(fusion, 0)
    hand_over = _objects(fusion, 0) if rest is None else rest.take_all
    return Segment(functions, stage.run, [head], hand_over, collector(), stage.flush, getattr(stage, "leave", None))


def segment_behind(fusion: Fusion, position: int) -> Segment | None:
    """The same for the records that an operator emits."""
    if fusion.functions is None or not fusion.native:
        return None
    return _segment(fusion, fusion.functions, fusion.targets[position], fusion.behind(position).collector)


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
    hand_over = _columns(fusion, target)
    if hand_over is None:
        if not stages:
            return None
        hand_over = _objects(fusion, last)
    run = functions.Pipeline(stages).run if stages else None
    return Segment(functions, run, operators, hand_over, collector())


def _only(targets: list[Target]) -> Target | None:
    """The one that records go to, if there is one alone, and they go there as they are."""
    main = [target for target in targets if target.tag is None]
    return main[0] if len(main) == 1 and not main[0].crosses else None


def _columns(fusion: Fusion, target: Target | None) -> HandOver | None:
    """Hands batches to a target; None where it wants objects."""
    if target is None:
        return None
    writer = target.writer
    if writer is not None:
        return writer.write_columns if isinstance(writer, RecordWriter) and writer.takes_columns else None
    columnar = None if target.number else fusion.operators[target.position].columns(0)
    return None if columnar is None else columnar.take_all


def _objects(fusion: Fusion, position: int) -> HandOver:
    """Hands the objects of a batch to what is behind an operator."""
    feed, timed_feed = fusion.behind(position).feed(), fusion.behind(position).timed_feed()

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

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        self.count_side(tag_id)
        side = self._sides.get(tag_id)
        if side is None:
            side = self._sides[tag_id] = self._fusion.behind(self._position, tag_id).collector()
        side(value, timestamp)
