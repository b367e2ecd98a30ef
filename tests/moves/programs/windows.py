"""Programs with windows."""

from __future__ import annotations

from penstock.common import OutputTag, Time, Types
from penstock.datastream import (
    AggregateFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ValueStateDescriptor,
    WindowFunction,
)
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.moves.programs.rolling import as_records, readings
from tests.moves.programs.table import DOUBLE, INT, LONG, RECORD, STRING, by_key, program

DESCRIBED = Types.TUPLE([STRING, LONG, LONG, INT])
MEAN = Types.TUPLE([LONG, LONG])


def tumbling(size: int, offset: int = 0) -> TumblingEventTimeWindows:
    return TumblingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(offset))


def sliding(size: int, slide: int) -> SlidingEventTimeWindows:
    return SlidingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(slide))


def session(gap: int) -> EventTimeSessionWindows:
    return EventTimeSessionWindows.with_gap(Time.milliseconds(gap))


def added(a, b):
    """The numbers added, at the later time."""
    return a[0], a[1] + b[1], max(a[2], b[2])


def weighted(records) -> int:
    """The sum of the numbers, each weighted by its place."""
    return sum(place * record[1] for place, record in enumerate(records, 1))


class Describe(ProcessWindowFunction):
    """Key, start, end, and the weighted sum."""

    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, weighted(elements)


class Apply(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.start, window.max_timestamp(), weighted(inputs)


class Firings(ProcessWindowFunction):
    """Key, how often this window has fired and how many of its key have, and the sum."""

    FIRED = ValueStateDescriptor("fired", LONG)
    WINDOWS = ValueStateDescriptor("windows", LONG)

    def process(self, key, context, elements):
        fired = context.window_state().get_state(self.FIRED)
        windows = context.global_state().get_state(self.WINDOWS)
        if fired.value() is None:
            windows.update((windows.value() or 0) + 1)
        fired.update((fired.value() or 0) + 1)
        yield key, fired.value(), windows.value(), weighted(elements)

    def clear(self, context):
        context.window_state().get_state(self.FIRED).clear()


class DescribeAll(ProcessAllWindowFunction):
    """The number of records, and the weighted sum."""

    def process(self, context, elements):
        records = list(elements)
        yield len(records), weighted(records)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Numbers(AggregateFunction):
    """All numbers, in a list."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value[1]]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Remember(ProcessWindowFunction):
    """What windows keep in a list, and their key in a map."""

    FIRINGS = ListStateDescriptor("firings", LONG)
    SUMS = MapStateDescriptor("sums", LONG, INT)

    def process(self, key, context, elements):
        firings = context.window_state().get_list_state(self.FIRINGS)
        sums = context.global_state().get_map_state(self.SUMS)
        total = weighted(elements)
        firings.add(total)
        sums.put(context.window().start, total)
        fired = 0
        for firing in firings.get():
            fired = fired * 3 + firing
        yield key, context.window().start, fired, sum(sums.values())

    def clear(self, context):
        context.window_state().get_list_state(self.FIRINGS).clear()


class Name(ProcessWindowFunction):
    def process(self, key, context, elements):
        (mean,) = elements
        yield key, context.window().end, mean


# --- tumbling and sliding ---------------------------------------------------------------------------------------------


@program
def tumbling_reduce(env, records):
    return by_key(records).window(tumbling(1000)).reduce(added).uid("window")


@program
def tumbling_aggregate(env, records):
    windows = by_key(records).window(tumbling(1000))
    return windows.aggregate(Mean(), accumulator_type=MEAN, output_type=DOUBLE).uid("window")


@program
def tumbling_process(env, records):
    return by_key(records).window(tumbling(1500, 400)).process(Describe(), DESCRIBED).uid("window")


@program
def tumbling_apply(env, records):
    return by_key(records).window(tumbling(1000)).apply(Apply(), DESCRIBED).uid("window")


@program
def tumbling_sum(env, records):
    return by_key(records).window(tumbling(1000)).sum(1).uid("window")


@program
def tumbling_max_by(env, records):
    return by_key(records).window(tumbling(1000)).max_by(1).uid("window")


@program
def tumbling_reduce_process(env, records):
    return by_key(records).window(tumbling(1000)).reduce(added, Describe(), DESCRIBED).uid("window")


@program
def tumbling_aggregate_process(env, records):
    windows = by_key(records).window(tumbling(1000))
    return windows.aggregate(Mean(), Name(), MEAN, Types.TUPLE([STRING, LONG, DOUBLE])).uid("window")


@program
def tumbling_by_tuple(env, records):
    keyed = records.key_by(lambda record: (record[0], record[1] % 2), Types.TUPLE([STRING, INT]))
    return keyed.window(tumbling(1000)).reduce(added).uid("window")


@program
def tumbling_list(env, records):
    numbers = Types.LIST(INT)
    windows = by_key(records).window(tumbling(1000))
    return windows.aggregate(Numbers(), accumulator_type=numbers, output_type=numbers).uid("window")


@program
def tumbling_states(env, records):
    windows = by_key(records).window(tumbling(2000)).trigger(CountTrigger.of(1))
    return windows.process(Remember(), DESCRIBED).uid("window")


@program
def tumbling_pojo(env, records):
    return as_records(readings(records).window(tumbling(1000)).sum("number").uid("window"))


@program
def sliding_reduce(env, records):
    return by_key(records).window(sliding(1200, 400)).reduce(added).uid("window")


@program
def sliding_process(env, records):
    return by_key(records).window(sliding(1000, 700)).process(Describe(), DESCRIBED).uid("window")


# --- sessions ---------------------------------------------------------------------------------------------------------


@program
def session_process(env, records):
    return by_key(records).window(session(500)).process(Describe(), DESCRIBED).uid("window")


@program
def session_reduce(env, records):
    return by_key(records).window(session(400)).reduce(added).uid("window")


@program
def session_aggregate(env, records):
    windows = by_key(records).window(session(600))
    return windows.aggregate(Mean(), accumulator_type=MEAN, output_type=DOUBLE).uid("window")


@program
def session_dynamic(env, records):
    def gap(record):
        return 200 + record[1] * 40

    windows = by_key(records).window(EventTimeSessionWindows.with_dynamic_gap(gap))
    return windows.process(Describe(), DESCRIBED).uid("window")


# --- late records -----------------------------------------------------------------------------------------------------


@program
def late_dropped(env, records):
    return by_key(records).window(tumbling(500)).process(Describe(), DESCRIBED).uid("window")


@program
def late_side_output(env, records):
    late = OutputTag("late", RECORD)
    windows = by_key(records).window(tumbling(500)).allowed_lateness(200).side_output_late_data(late)
    sums = windows.reduce(added).uid("window")
    return sums.union(sums.get_side_output(late))


@program
def late_process(env, records):
    windows = by_key(records).window(tumbling(500)).allowed_lateness(400)
    return windows.process(Firings(), DESCRIBED).uid("window")


@program
def late_session(env, records):
    windows = by_key(records).window(session(200)).allowed_lateness(300)
    return windows.process(Describe(), DESCRIBED).uid("window")


# --- without a key ----------------------------------------------------------------------------------------------------


@program
def all_reduce(env, records):
    return records.window_all(tumbling(700)).reduce(added).uid("window")


@program
def all_process(env, records):
    return records.window_all(sliding(1000, 500)).process(DescribeAll(), Types.TUPLE([INT, INT])).uid("window")


@program
def all_count(env, records):
    return records.count_window_all(5).process(DescribeAll(), Types.TUPLE([INT, INT])).uid("window")


@program
def all_session(env, records):
    small = records.filter(lambda record: record[1] < 12).set_parallelism(1)
    return small.window_all(session(300)).process(DescribeAll(), Types.TUPLE([INT, INT])).uid("window")
