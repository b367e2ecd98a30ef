"""Native segments: the operators of a fused chain that run on columns, and where their results go.

A chain is cut here, and by one rule. A segment begins where columns come in, from a source or from the exchange, and has
all operators from there that are a stage of a native pipeline: compiled functions, each the only reader of the one
before. It ends at a writer, which takes columns, or at the first operator that wants objects; they are made per batch.

Where native code cannot vouch for a record, that one goes through the generated functions of the chain (:mod:`.fusion`),
in its place; all before it has been handed on. So order, counts and exceptions are those of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from penstock.runtime.chain.fusion import Fusion
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput, Output, Target
from penstock.runtime.exchange.writer import RecordWriter
from penstock.runtime.native import ColumnarRecords

_TRIAL = 1_000  # records before a segment may find that too many are in doubt
_MOST_DOUBTS = 8  # in a segment that goes on, one record in so many at the most is in doubt

HandOver = Callable[[Any], None]  # takes a batch


class Segment:
    """Takes batches into a pipeline; ``collect`` takes records in doubt, ``hand_over`` the results. ``stages`` have an
    operator each; without a stage the batches are handed over as they are."""

    def __init__(
        self, functions: ModuleType, stages: list[tuple[LiveOperator, Any]], hand_over: HandOver, collect: Collector
    ) -> None:
        self._run = functions.Pipeline([stage for _, stage in stages]).run if stages else None
        self._counted = [(index, op) for index, (op, _) in enumerate(stages) if op.emitted is not None]
        self._functions, self._hand_over, self._collect = functions, hand_over, collect
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

    def take(self, batch: Any, start: int, end: int) -> None:
        """Take some records of a batch, in order. What a user's function raises comes out as its operator's failure."""
        if self._run is None:
            self._hand_over(batch.slice(start, end))
            return
        self._done += end - start
        while start < end:
            results, counts, start, in_doubt = self._run(batch, start, end)
            for index, operator in self._counted:
                operator.emitted += counts[index]  # type: ignore[operator]
            if results is not None:
                self._hand_over(results)
            if in_doubt:
                self._doubts += 1
                times = batch.times
                self._collect(batch[start], None if times is None else times[start])
                start += 1


def segment_into(fusion: Fusion, number: int) -> Segment | None:
    """The segment for an input of the head; None where objects are wanted from the start."""
    return _segment(fusion, [Target(None, None, 0, number)], fusion.into(0, number).collector)


def segment_behind(fusion: Fusion, position: int) -> Segment | None:
    """The same for the records that an operator emits."""
    return _segment(fusion, fusion.targets[position], fusion.behind(position).collector)


def _segment(fusion: Fusion, targets: list[Target], collector: Callable[[], Collector]) -> Segment | None:
    functions = fusion.functions
    if functions is None or not fusion.native:
        return None
    stages: list[tuple[LiveOperator, Any]] = []
    position = hand_over = None
    while hand_over is None:
        main = [target for target in targets if target.tag is None]
        stage = None
        if len(main) == 1 and not main[0].crosses:
            writer, position_below = main[0].writer, main[0].position
            if isinstance(writer, RecordWriter) and writer.takes_columns:
                hand_over = writer.write_columns
                break
            if writer is None and main[0].number == 0:
                stage = fusion.operators[position_below].stage(functions)
                operator = fusion.operators[position_below]
        if stage is None:
            if not stages:
                return None
            hand_over = _objects(fusion, position)
            break
        stages.append((operator, stage))
        position, targets = position_below, fusion.targets[position_below]
    return Segment(functions, stages, hand_over, collector())


def _objects(fusion: Fusion, position: int) -> HandOver:
    """Hands the objects of a batch to what is behind an operator."""
    text = fusion.behind(position)
    feed, timed_feed = text.feed(), fusion.behind(position).timed_feed()

    def hand_over(batch: Any) -> None:
        if batch.times is None:
            feed(batch.objects(), None)
        else:
            timed_feed(batch.objects(), batch.times)

    return hand_over


class FusedOutput(CountingOutput):
    """The output of an operator in the fused form: generated functions, made when first asked for. They do not
    count: operators know what they emit."""

    __slots__ = ("_fusion", "_position", "_sides", "collect", "columns", "feed")  # type: ignore[misc]

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
