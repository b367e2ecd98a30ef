"""The average temperature of each room and minute, by the time of a reading, not by the order in which they arrive.

Readings come out of order. Windows wait ten seconds for late ones; what is later still goes to a stream of its own,
so that nothing is lost in silence.

    penstock run --local examples/event_time_windows.py

Prints::

    average> kitchen, minute 0: 21.0 degrees
    average> cellar, minute 0: 12.0 degrees
    average> kitchen, minute 1: 24.0 degrees
    too late> (cellar,50,11.0)
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.common import OutputTag, Time, Types, WatermarkGenerator, WatermarkStrategy
from penstock.common.watermark_strategy import WatermarkOutput
from penstock.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import TimeWindow, TumblingEventTimeWindows

Reading = tuple[str, int, float]  # room, second, degrees
READING = Types.TUPLE([Types.STRING(), Types.LONG(), Types.DOUBLE()])
READINGS: list[Reading] = [
    ("kitchen", 5, 20.0),
    ("cellar", 12, 12.0),
    ("kitchen", 62, 24.0),
    ("kitchen", 55, 22.0),  # seven seconds behind the one before: in time
    ("kitchen", 75, 24.0),  # now it is 75 - 10 = 65: the first minute is over
    ("cellar", 50, 11.0),  # too late
]


class TenSecondsBehind(WatermarkGenerator[Reading]):
    """After each reading, says that none is to come that is ten seconds older."""

    def on_event(self, event: Reading, event_timestamp: int | None, output: WatermarkOutput) -> None:
        if event_timestamp is not None:
            output.emit_watermark(event_timestamp - 10_000)


class Average(AggregateFunction[Reading, tuple[float, int], float]):
    """Keeps a sum and a count per window, not the readings."""

    def create_accumulator(self) -> tuple[float, int]:
        return 0.0, 0

    def add(self, value: Reading, accumulator: tuple[float, int]) -> tuple[float, int]:
        return accumulator[0] + value[2], accumulator[1] + 1

    def get_result(self, accumulator: tuple[float, int]) -> float:
        return accumulator[0] / accumulator[1]


class WithRoomAndMinute(ProcessWindowFunction[float, str, str, TimeWindow]):
    """Sees the one average of a window, with its key and its time."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[float]
    ) -> Iterable[str]:
        for average in elements:
            yield f"{key}, minute {context.window().start // 60_000}: {average} degrees"


def main() -> None:
    """Build the program and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    too_late = OutputTag("too late", READING)
    by_time: WatermarkStrategy[Reading] = WatermarkStrategy.for_generator(TenSecondsBehind).with_timestamp_assigner(
        lambda reading, _: 1_000 * reading[1]
    )
    averages = (
        env.from_collection(READINGS, type_info=READING)
        .assign_timestamps_and_watermarks(by_time)
        .key_by(lambda reading: reading[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.minutes(1)))
        .side_output_late_data(too_late)
        .aggregate(Average(), WithRoomAndMinute(), output_type=Types.STRING())
    )
    averages.print("average")
    averages.get_side_output(too_late).print("too late")
    env.execute("average temperatures")


if __name__ == "__main__":
    main()
