"""Visits to a web site: clicks of a user belong together until nothing is clicked for half an hour.

``visits`` is the program without its source and sink, so that test_sessions.py can feed it clicks of its own.

    penstock run --local examples/sessions.py

Prints::

    bob: 1 pages in 0 minutes, from / to /
    ann: 3 pages in 25 minutes, from / to /cart
    ann: 1 pages in 0 minutes, from /help to /help
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from penstock.common import Time, Types, WatermarkStrategy
from penstock.datastream import DataStream, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import EventTimeSessionWindows, TimeWindow

Click = tuple[str, int, str]  # user, minute, page
CLICK = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
CLICKS: list[Click] = [
    ("ann", 0, "/"),
    ("ann", 10, "/shoes"),
    ("bob", 12, "/"),
    ("ann", 25, "/cart"),
    ("ann", 90, "/help"),
]


class Visit(ProcessWindowFunction[Click, str, str, TimeWindow]):
    """Describes all clicks of one visit."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Click]
    ) -> Iterable[str]:
        clicks = sorted(elements, key=itemgetter(1))
        first, last = clicks[0], clicks[-1]
        yield f"{key}: {len(clicks)} pages in {last[1] - first[1]} minutes, from {first[2]} to {last[2]}"


def visits(clicks: DataStream[Click]) -> DataStream[str]:
    """One line for each visit."""
    in_order: WatermarkStrategy[Click] = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
        lambda click, _: 60_000 * click[1]
    )
    return (
        clicks.assign_timestamps_and_watermarks(in_order)
        .key_by(lambda click: click[0], key_type=Types.STRING())
        .window(EventTimeSessionWindows.with_gap(Time.minutes(30)))
        .process(Visit(), output_type=Types.STRING())
    )


def main() -> None:
    """Build the program and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    visits(env.from_collection(CLICKS, type_info=CLICK)).print()
    env.execute("visits")


if __name__ == "__main__":
    main()
