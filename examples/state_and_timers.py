"""Doors that are left open: an alarm when a door has not been closed for a minute.

Each door has state of its own (when its alarm is due) and a timer, which is deleted when the door is closed in time.

    penstock run --local examples/state_and_timers.py

Prints::

    front door: open for 60 s at second 130
    back door: open for 60 s at second 160
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import (
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)

Event = tuple[str, int, str]  # door, second, what happened
EVENTS: list[Event] = [
    ("front door", 10, "opened"),
    ("front door", 40, "closed"),  # after 30 seconds: no alarm
    ("front door", 70, "opened"),  # and left open
    ("back door", 100, "opened"),
]
PATIENCE = 60_000  # milliseconds


class LeftOpen(KeyedProcessFunction[str, Event, str]):
    """One alarm for each time that a door stays open."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.alarm = runtime_context.get_state(ValueStateDescriptor("alarm", Types.LONG()))

    def process_element(self, value: Event, ctx: KeyedProcessFunction.Context[str]) -> None:
        timers = ctx.timer_service()
        due = self.alarm.value()
        if due is not None:
            timers.delete_event_time_timer(due)
            self.alarm.clear()
        if value[2] == "opened":
            due = 1_000 * value[1] + PATIENCE
            timers.register_event_time_timer(due)
            self.alarm.update(due)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[str]) -> Iterable[str]:
        self.alarm.clear()
        yield f"{ctx.get_current_key()}: open for {PATIENCE // 1_000} s at second {timestamp // 1_000}"


def main() -> None:
    """Build the program and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    in_order: WatermarkStrategy[Event] = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
        lambda event, _: 1_000 * event[1]
    )
    (
        env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()]))
        .assign_timestamps_and_watermarks(in_order)
        .key_by(lambda event: event[0], key_type=Types.STRING())
        .process(LeftOpen(), output_type=Types.STRING())
        .print()
    )
    env.execute("doors")


if __name__ == "__main__":
    main()
