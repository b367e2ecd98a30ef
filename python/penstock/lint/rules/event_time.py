"""PS201 to PS206, and PS220: where timestamps and watermarks come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.lint.event_time import Lack, of_source, strategy_of
from penstock.lint.rule import Found, Message, operators, program, rule, uses
from penstock.lint.subject import Subject
from penstock.plan import StreamNode
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.operators.window import WindowOperator


@rule("PS201", operators(WindowOperator, IntervalJoin))
def event_time_without_watermarks(subject: Subject, node: StreamNode, operator: Any) -> Message:
    """An operator waits for event time, and on one of its inputs event time does not advance.

    An event time window fires when a watermark passes its end; the watermark is the minimum over all inputs. A source
    without a watermark strategy has none: if it never ends, nothing comes out and state grows; if it ends, its records
    have no timestamp and the job fails.

        - clicks = env.from_source(endless, WatermarkStrategy.no_watermarks(), "clicks")
        + clicks = env.from_source(endless, in_order, "clicks")
          windows = clicks.key_by(lambda click: click[0]).window(TumblingEventTimeWindows.of(Time.minutes(1)))
          windows.sum(1).print()
    """
    by_event_time = not isinstance(operator, WindowOperator) or operator.assigner.event_time
    lack = subject.lacking_input(node.id) if by_event_time else Lack.NOTHING
    if Lack.WATERMARKS in lack:
        return (
            f"{node.name!r} waits for event time, which never advances: a source that never ends has no watermark "
            "strategy. Give one: from_source(…, strategy, …) or assign_timestamps_and_watermarks()."
        )
    if Lack.TIMESTAMPS in lack:
        return (
            f"{node.name!r} needs timestamps, and records of one of its sources have none: the job fails at the first "
            "of them. Call assign_timestamps_and_watermarks() before it."
        )
    return ""


@rule("PS202", uses)
def event_time_timer_without_watermarks(subject: Subject, node: StreamNode, function: Any, used: Any) -> Iterator[str]:
    """A function sets event time timers, and event time does not advance.

    A timer fires when the watermark reaches it. Without a watermark strategy between an endless source and the function
    it never fires, and state that it should clear stays for ever.

          class Later(KeyedProcessFunction):
              def process_element(self, value, ctx):
                  ctx.timer_service().register_event_time_timer(value[1] + 60_000)

              def on_timer(self, timestamp, ctx):
                  yield ctx.get_current_key()

        - clicks = env.from_source(endless, WatermarkStrategy.no_watermarks(), "clicks")
        + clicks = env.from_source(endless, in_order, "clicks")
          clicks.key_by(lambda click: click[0]).process(Later()).print()
    """
    sets = "register_event_time_timer" in used.attributes and subject.keyed(node)
    if sets and Lack.WATERMARKS in subject.lacking_input(node.id):
        yield (
            f"The timers of {node.name!r} never fire: a source that never ends has no watermark strategy, so event "
            "time does not advance. Give one: from_source(…, strategy, …)."
        )


@rule("PS203", operators(StreamSource, TimestampsAndWatermarks))
def strategy_without_timestamp_assigner(subject: Subject, node: StreamNode, operator: Any) -> Iterator[str]:
    """A watermark strategy has no timestamp assigner, and the records have no timestamps.

    Watermarks follow from timestamps. Records of Kafka have timestamps; those of collections, files, sockets and
    generators do not, so the strategy must take them from the records, or the job fails at the first one.

        - lines.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps()).print()
        + strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda line, _: len(line))
        + lines.assign_timestamps_and_watermarks(strategy).print()
    """
    strategy = strategy_of(operator)
    assigns = strategy is None or strategy.kind not in ("monotonous", "bounded") or strategy.assigner is not None
    lack = of_source(operator) if isinstance(operator, StreamSource) else subject.lacking_input(node.id)
    if not assigns and Lack.TIMESTAMPS in lack:
        yield (
            f"The watermark strategy of {node.name!r} has no timestamp assigner, and its records have no timestamps. "
            "Add with_timestamp_assigner(…) to the strategy."
        )


@rule("PS204", program)
def strategy_replaced(subject: Subject) -> Iterator[Found]:
    """Records pass two watermark strategies, and the watermarks of the first are thrown away.

    `assign_timestamps_and_watermarks` ignores watermarks from upstream. What the source knew, such as a watermark for
    each partition of a topic, is lost, and more records are late. Keep one of the two, preferably that of the source.

        - env.from_source(endless, in_order, "clicks").assign_timestamps_and_watermarks(in_order).print()
        + env.from_source(endless, in_order, "clicks").print()
    """
    timed: set[int] = set()
    for number, node in subject.nodes.items():
        strategy = strategy_of(subject.operator(number))
        makes = strategy is not None and strategy.kind != "none"
        upstream = any(edge.source in timed for edge in subject.inputs[number])
        if upstream and makes:
            yield Found(
                f"{node.name!r} makes watermarks, and those from above, of another strategy, are thrown away. Keep one "
                "of the two.",
                number,
            )
        if upstream or makes:
            timed.add(number)


@rule("PS205", operators(TimestampsAndWatermarks))
def monotonous_behind_exchange(subject: Subject, node: StreamNode, operator: TimestampsAndWatermarks) -> Iterator[str]:
    """A strategy for ascending timestamps reads records of several subtasks.

    The records of each sender may be in order; their mixture is not. Behind a repartitioning or a union the strategy
    `for_monotonous_timestamps` treats the records of the slower sender as late, and windows drop them. Apply it where
    the records are read, or allow for disorder.

        - strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda order, _: order[2])
        + bound = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
        + strategy = bound.with_timestamp_assigner(lambda order, _: order[2])
          orders.rebalance().assign_timestamps_and_watermarks(strategy).print()
    """
    edges = subject.inputs[node.id]
    several = (subject.nodes[edge.source].parallelism > 1 and edge.partitioner != "FORWARD" for edge in edges)
    if operator.strategy.kind == "monotonous" and (len(edges) > 1 or any(several)):
        yield (
            f"The strategy of {node.name!r} says that timestamps only grow, but its records come from several senders, "
            "in turn. Use for_bounded_out_of_orderness(…), or apply it before they are mixed."
        )


@rule("PS206", program)
def splits_without_idleness(subject: Subject) -> Iterator[Found]:
    """Partitions of a topic have watermarks, and one without records holds back all others.

    The watermark of an empty partition does not advance, so the windows of all keys wait for it. `with_idleness`
    ignores a partition that has been silent for a while.

        - env.from_source(topic, WatermarkStrategy.for_monotonous_timestamps(), "clicks").print()
        + strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_minutes(1))
        + env.from_source(topic, strategy, "clicks").print()
    """
    for node, operator in subject.of(StreamSource):
        targets = [edge.target for edge in subject.outputs[node.id]]
        splits = getattr(getattr(operator.function, "source", None), "together", False)  # such as partitions of a topic
        for number in (node.id, *targets) if splits and operator.unbounded else ():
            strategy = strategy_of(subject.operator(number))
            if strategy is not None and strategy.kind in ("monotonous", "bounded") and strategy.idle_ms is None:
                yield Found(
                    f"The watermarks of {subject.nodes[number].name!r} stand still as long as one partition is silent. "
                    "Add with_idleness(Duration.of_minutes(1)), say, to the strategy.",
                    number,
                )


@rule("PS220", program)
def strategy_dropped(subject: Subject) -> Iterator[Found]:
    """A method of a watermark strategy is called, and its result is not used.

    `with_timestamp_assigner` and `with_idleness` do not change the strategy: they return another one. The first one
    keeps its own timestamps, and waits for idle sources. Chain the calls, or keep the result. In a program written for
    PyFlink `with_timestamp_assigner` changes the strategy, as it does there, and is not reported.

          strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
        - strategy.with_idleness(Duration.of_minutes(1))
        + strategy = strategy.with_idleness(Duration.of_minutes(1))
          env.from_source(topic, strategy, "clicks").print()
    """
    changing = () if subject.pipeline.settings.pyflink else ("with_timestamp_assigner",)
    for call in subject.dropped_calls("with_idleness", *changing):
        yield Found(
            f"The result of {call} is not used, so it does nothing: the strategy itself stays as it is. Chain the "
            "calls, or keep the result.",
            call=call,
        )
