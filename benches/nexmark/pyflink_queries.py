"""``penstock_queries.py`` on PyFlink: the same text with its imports exchanged, but for the co-group of ``q8``, and for
methods that PyFlink's aggregates and triggers must have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyflink.common import Time, Types
from pyflink.datastream import DataStream, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows
from pyflink_events import LONG, STRING, Events, code, in_time

exec(code("penstock_queries.py"))


class Unmerged:
    """Of windows that never merge."""

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        raise NotImplementedError

    def on_merge(self, window: Any, ctx: Any) -> None:
        raise NotImplementedError


class Highest(Unmerged, Highest):  # noqa: F821
    pass


class Statistics(Unmerged, Statistics):  # noqa: F821
    pass


class ByClockOrAtEnd(Unmerged, ByClockOrAtEnd):  # noqa: F821
    pass


PERSON_OR_SELLER = Types.TUPLE([LONG, STRING, LONG])
SELLER = ""
"""The name of those that stand for an auction."""


class Newcomers(ProcessWindowFunction):
    """Persons that opened an auction, with the start of the window."""

    def process(self, key: int, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        both = list(elements)
        if any(name == SELLER for _, name, _ in both):
            for person, name, time in both:
                if name != SELLER:
                    yield person, name, time - time % 10_000


def q8(events: Events) -> DataStream:
    """A union with a window: what Flink makes of a co-group, which PyFlink does not have."""
    persons = in_time(events.persons(), 6).map(lambda person: (person[0], person[1], person[6]), PERSON_OR_SELLER)
    sellers = in_time(events.auctions(), 5).map(lambda auction: (auction[7], SELLER, 0), PERSON_OR_SELLER)
    windows = persons.union(sellers).key_by(lambda either: either[0], LONG)
    return windows.window(TumblingEventTimeWindows.of(Time.seconds(10))).process(Newcomers(), PERSON_OR_SELLER)


QUERIES["q8"] = q8  # noqa: F821
