"""Two streams: which advertisement was shown before an order, and what was shown and ordered in each hour.

An interval join pairs records of a key whose times are close to each other. A window join pairs all records of a key
that fall into the same window.

    penstock run --local examples/joins.py

Prints::

    within 20 minutes> ann saw shoes, ordered boots 12 minutes later
    same hour> ann: shoes, boots
    same hour> bob: hats, caps
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.common import Time, Types, WatermarkStrategy
from penstock.datastream import DataStream, ProcessJoinFunction, StreamExecutionEnvironment, TimeCharacteristic
from penstock.datastream.window import TumblingEventTimeWindows

Event = tuple[str, int, str]  # user, minute, what
SHOWN: list[Event] = [("ann", 10, "shoes"), ("bob", 5, "hats")]
ORDERED: list[Event] = [("ann", 22, "boots"), ("bob", 50, "caps"), ("ann", 90, "laces")]
MINUTE = 60_000  # milliseconds


class Shortly(ProcessJoinFunction[Event, Event, str]):
    """Describes a pair."""

    def process_element(self, left: Event, right: Event, ctx: ProcessJoinFunction.Context) -> Iterable[str]:
        minutes = (ctx.get_right_timestamp() - ctx.get_left_timestamp()) // MINUTE
        yield f"{left[0]} saw {left[2]}, ordered {right[2]} {minutes} minutes later"


def timed(env: StreamExecutionEnvironment, events: list[Event]) -> DataStream[Event]:
    """The events as a stream that knows their times."""
    in_order: WatermarkStrategy[Event] = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
        lambda event, _: MINUTE * event[1]
    )
    event_type = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
    return env.from_collection(events, type_info=event_type).assign_timestamps_and_watermarks(in_order)


def user(event: Event) -> str:
    return event[0]


def main() -> None:
    """Build the program and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)  # an interval join asks for it, as in Flink
    shown, ordered = timed(env, SHOWN), timed(env, ORDERED)
    (
        shown.key_by(user, key_type=Types.STRING())
        .interval_join(ordered.key_by(user, key_type=Types.STRING()))
        .between(0, 20 * MINUTE)
        .process(Shortly(), output_type=Types.STRING())
        .print("within 20 minutes")
    )
    (
        shown.join(ordered)
        .where(user, key_type=Types.STRING())
        .equal_to(user, key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.hours(1)))
        .apply(lambda left, right: f"{left[0]}: {left[2]}, {right[2]}", output_type=Types.STRING())
        .print("same hour")
    )
    env.execute("advertisements")


if __name__ == "__main__":
    main()
