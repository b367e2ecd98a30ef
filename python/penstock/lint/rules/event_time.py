"""PS2xx, the first half: where timestamps and watermarks come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.lint.event_time import Lack, of_source, strategy_of
from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.operators.window import WindowOperator

_KEEPS_ORDER = frozenset({"FORWARD"})


class EventTimeWithoutWatermarks(Rule):
    """Something waits for event time, and on one of its inputs event time does not advance.

    A window of event time fires when a watermark passes its end, and takes the least watermark of all that it reads.
    Without a watermark strategy on the way from each source there is none: of records that never end, nothing ever
    comes out, and state grows; records that end have no timestamp, and the job fails.

    Bad::

        clicks = env.from_source(endless, WatermarkStrategy.no_watermarks(), "clicks")
        windows = clicks.key_by(lambda click: click[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.sum(1).print()

    Good::

        clicks = env.from_source(endless, in_order, "clicks")
        windows = clicks.key_by(lambda click: click[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
        windows.sum(1).print()
    """

    code = "PS201"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of((WindowOperator, IntervalJoin)):
            by_event_time = not isinstance(operator, WindowOperator) or _waits_for_event_time(operator)
            lack = subject.lacking_input(node.id) if by_event_time else Lack.NOTHING
            if Lack.WATERMARKS in lack:
                yield Found(
                    f"{node.name!r} waits for event time, which never advances: a source that never ends has no "
                    "watermark strategy. Give one: from_source(…, strategy, …) or assign_timestamps_and_watermarks().",
                    node.id,
                )
            elif Lack.TIMESTAMPS in lack:
                yield Found(
                    f"{node.name!r} needs timestamps, and records of one of its sources have none: the job fails at "
                    "the first of them. Call assign_timestamps_and_watermarks() before it.",
                    node.id,
                )


def _waits_for_event_time(operator: WindowOperator) -> bool:
    return operator.assigner.event_time


class EventTimeTimerWithoutWatermarks(Rule):
    """A function sets timers of event time, and event time does not advance.

    A timer fires when the watermark gets there. Without a watermark strategy between a source that never ends and the
    function it never fires; what it should clear stays for ever.

    Bad::

        class Later(KeyedProcessFunction):
            def process_element(self, value, ctx):
                ctx.timer_service().register_event_time_timer(value[1] + 60_000)

            def on_timer(self, timestamp, ctx):
                yield ctx.get_current_key()


        clicks = env.from_source(endless, WatermarkStrategy.no_watermarks(), "clicks")
        clicks.key_by(lambda click: click[0]).process(Later()).print()

    Good::

        class Later(KeyedProcessFunction):
            def process_element(self, value, ctx):
                ctx.timer_service().register_event_time_timer(value[1] + 60_000)

            def on_timer(self, timestamp, ctx):
                yield ctx.get_current_key()


        clicks = env.from_source(endless, in_order, "clicks")
        clicks.key_by(lambda click: click[0]).process(Later()).print()
    """

    code = "PS202"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, _, uses in subject.uses:
            sets = "register_event_time_timer" in uses.attributes and subject.keyed(node)
            if sets and Lack.WATERMARKS in subject.lacking_input(node.id):
                yield Found(
                    f"The timers of {node.name!r} never fire: a source that never ends has no watermark strategy, so "
                    "event time does not advance. Give one: from_source(…, strategy, …).",
                    node.id,
                )


class StrategyWithoutTimestampAssigner(Rule):
    """A watermark strategy has no timestamp assigner, and the records have no timestamps.

    Watermarks follow from timestamps. Records of Kafka bring them along; those of collections, files, sockets and
    generators do not, so the strategy has to take them from the records, or the job fails at the first one.

    Bad::

        lines.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps()).print()

    Good::

        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda line, _: len(line))
        lines.assign_timestamps_and_watermarks(strategy).print()
    """

    code = "PS203"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of((StreamSource, TimestampsAndWatermarks)):
            strategy = strategy_of(operator)
            if strategy is None or strategy.kind not in ("monotonous", "bounded") or strategy.assigner is not None:
                continue
            bare = of_source(operator) if isinstance(operator, StreamSource) else subject.lacking_input(node.id)
            if Lack.TIMESTAMPS in bare:
                yield Found(
                    f"The watermark strategy of {node.name!r} has no timestamp assigner, and its records have no "
                    "timestamps. Add with_timestamp_assigner(…) to the strategy.",
                    node.id,
                )


class StrategyReplaced(Rule):
    """Records go through two watermark strategies, and the first one's watermarks are thrown away.

    An operator of `assign_timestamps_and_watermarks` takes no watermarks from above: it makes its own. What the source
    knew, such as a watermark for each partition of a topic, is lost, and more records are late. Keep one of the two,
    that of the source if it can be.

    Bad::

        env.from_source(endless, in_order, "clicks").assign_timestamps_and_watermarks(in_order).print()

    Good::

        env.from_source(endless, in_order, "clicks").print()
    """

    code = "PS204"

    def find(self, subject: Subject) -> Iterator[Found]:
        timed: set[int] = set()
        for number, node in subject.nodes.items():
            operator = subject.operator(number)
            above = any(edge.source in timed for edge in subject.inputs[number])
            strategy = strategy_of(operator)
            if above and strategy is not None and strategy.kind != "none":
                yield Found(
                    f"{node.name!r} makes watermarks, and those from above, of another strategy, are thrown away. "
                    "Keep one of the two.",
                    number,
                )
            if above or (strategy is not None and strategy.kind != "none"):
                timed.add(number)


class MonotonousBehindExchange(Rule):
    """Timestamps are said to only grow, of records that several subtasks have sent.

    Each sender's records may be in order; their mixture is not. Behind a repartitioning, or a union, the strategy
    `for_monotonous_timestamps` takes what comes from the slower sender for late, and windows drop it. Apply it where
    the records are read, or allow for disorder.

    Bad::

        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda order, _: order[2])
        orders.rebalance().assign_timestamps_and_watermarks(strategy).print()

    Good::

        bound = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
        strategy = bound.with_timestamp_assigner(lambda order, _: order[2])
        orders.rebalance().assign_timestamps_and_watermarks(strategy).print()
    """

    code = "PS205"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.of(TimestampsAndWatermarks):
            if operator.strategy.kind == "monotonous" and operator.parts == 1 and self._mixed(subject, node.id):
                yield Found(
                    f"The strategy of {node.name!r} says that timestamps only grow, but its records come from "
                    "several senders, in turn. Use for_bounded_out_of_orderness(…), or apply it before they are mixed.",
                    node.id,
                )

    @staticmethod
    def _mixed(subject: Subject, node: int) -> bool:
        edges = subject.inputs[node]
        sent = (subject.nodes[edge.source].parallelism > 1 and edge.partitioner not in _KEEPS_ORDER for edge in edges)
        return len(edges) > 1 or any(sent)


class SplitsWithoutIdleness(Rule):
    """Partitions of a topic have watermarks, and one without records holds all others back.

    Event time is the least of all partitions. One that is empty, or silent at night, has none that advances: windows
    of all keys wait for it. `with_idleness` leaves a partition out of account that has been silent for a while.

    Bad::

        env.from_source(topic, WatermarkStrategy.for_monotonous_timestamps(), "clicks").print()

    Good::

        strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_minutes(1))
        env.from_source(topic, strategy, "clicks").print()
    """

    code = "PS206"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, operator in subject.sources_of_splits():
            readers: list[Any] = [(node, operator)] if operator.unbounded else []
            for edge in subject.outputs[node.id] if operator.unbounded else ():
                readers.append((subject.nodes[edge.target], subject.operator(edge.target)))
            for reader, applied in readers:
                strategy = strategy_of(applied)
                if strategy is not None and strategy.kind in ("monotonous", "bounded") and strategy.idle_ms is None:
                    yield Found(
                        f"The watermarks of {reader.name!r} stand still as long as one partition is silent. Add "
                        "with_idleness(Duration.of_minutes(1)), say, to the strategy.",
                        reader.id,
                    )
