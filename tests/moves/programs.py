"""The programs of ``benches/flink`` again, as one would port them: the same uids, states, names and types.

Each is a function from the environment and the stream of records (key, number, time) to the stream of its outputs.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.common import Time, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    DataStream,
    KeyedProcessFunction,
    KeyedStream,
    ListStateDescriptor,
    MapStateDescriptor,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReducingStateDescriptor,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

Program = Callable[[StreamExecutionEnvironment, DataStream], DataStream]
PROGRAMS: dict[str, Program] = {}

STRING, INT, LONG, DOUBLE = Types.STRING(), Types.INT(), Types.LONG(), Types.DOUBLE()
RECORD = Types.TUPLE([STRING, INT, LONG])


def program(function: Program) -> Program:
    """Put a program into the table."""
    PROGRAMS[function.__name__] = function
    return function


def by_key(records: DataStream) -> KeyedStream:
    return records.key_by(lambda record: record[0], key_type=STRING)


# --- states of a key --------------------------------------------------------------------------------------------------


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", LONG))

    def process_element(self, record, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield record[0], self.count.value()


@program
def value_count(env, records):
    return by_key(records).process(Count(), Types.TUPLE([STRING, LONG])).uid("count")


class Bundle(KeyedProcessFunction):
    """The numbers of a key, until one of them is a multiple of three: then their count, and their weighted sum."""

    def open(self, context):
        self.numbers = context.get_list_state(ListStateDescriptor("numbers", INT))

    def process_element(self, record, ctx):
        self.numbers.add(record[1])
        if record[1] % 3 == 0:
            numbers = list(self.numbers.get())
            yield record[0], len(numbers), sum(place * number for place, number in enumerate(numbers, 1))
            self.numbers.clear()


@program
def list_sums(env, records):
    return by_key(records).process(Bundle(), Types.TUPLE([STRING, INT, INT])).uid("bundle")


class CountDigits(KeyedProcessFunction):
    def open(self, context):
        self.counts = context.get_map_state(MapStateDescriptor("counts", STRING, LONG))

    def process_element(self, record, ctx):
        digit = f"d{record[1] % 4}"
        self.counts.put(digit, (self.counts.get(digit) or 0) + 1)
        yield record[0], digit, self.counts.get(digit) * 1000 + sum(self.counts.values())


@program
def map_counts(env, records):
    return by_key(records).process(CountDigits(), Types.TUPLE([STRING, STRING, LONG])).uid("digits")


class Total(KeyedProcessFunction):
    def open(self, context):
        self.total = context.get_reducing_state(ReducingStateDescriptor("total", lambda a, b: a + b, INT))

    def process_element(self, record, ctx):
        self.total.add(record[1])
        yield record[0], self.total.get()


@program
def reducing_total(env, records):
    return by_key(records).process(Total(), Types.TUPLE([STRING, INT])).uid("total")


class Mean(AggregateFunction):
    """Accumulates sum and count."""

    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class RunningMean(KeyedProcessFunction):
    def open(self, context):
        descriptor = AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([LONG, LONG]))
        self.mean = context.get_aggregating_state(descriptor)

    def process_element(self, record, ctx):
        self.mean.add(record[1])
        yield record[0], self.mean.get()


@program
def aggregating_mean(env, records):
    return by_key(records).process(RunningMean(), Types.TUPLE([STRING, DOUBLE])).uid("mean")


# --- timers -----------------------------------------------------------------------------------------------------------


class Later(KeyedProcessFunction):
    """Says 1.2 seconds after each record how many there were by then."""

    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", INT))

    def process_element(self, record, ctx):
        self.seen.update((self.seen.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1200)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.seen.value()


@program
def timers_event(env, records):
    return by_key(records).process(Later(), Types.TUPLE([STRING, LONG, INT])).uid("later")


# --- what Flink keeps for a stream by key -----------------------------------------------------------------------------


@program
def keyed_reduce(env, records):
    return by_key(records).reduce(lambda a, b: (a[0], a[1] * 2 % 1000 + b[1], b[2])).uid("reduce")


@program
def keyed_sum(env, records):
    return by_key(records).sum(1).uid("sum")


# --- windows ----------------------------------------------------------------------------------------------------------


def added(a, b):
    """The numbers added, at the later time."""
    return a[0], a[1] + b[1], max(a[2], b[2])


@program
def tumbling_reduce(env, records):
    return by_key(records).window(TumblingEventTimeWindows.of(Time.milliseconds(1000))).reduce(added).uid("window")


class Describe(ProcessWindowFunction):
    """Key, start, end, and the sum of the numbers, each weighted by its place."""

    def process(self, key, context, elements):
        weighted = sum(place * record[1] for place, record in enumerate(elements, 1))
        yield key, context.window().start, context.window().end, weighted


DESCRIBED = Types.TUPLE([STRING, LONG, LONG, INT])


@program
def session_process(env, records):
    windows = by_key(records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(500)))
    return windows.process(Describe(), DESCRIBED).uid("window")


# --- two inputs -------------------------------------------------------------------------------------------------------


def halves(records: DataStream) -> tuple[DataStream, DataStream]:
    """The records with even numbers, and those with odd ones."""
    evens = records.filter(lambda record: record[1] % 2 == 0).uid("evens")
    return evens, records.filter(lambda record: record[1] % 2 != 0).uid("odds")


class Pair(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left[0], left[1], right[1], ctx.get_timestamp()


@program
def interval_join(env, records):
    evens, odds = map(by_key, halves(records))
    joined = evens.interval_join(odds).between(-200, 500)
    return joined.process(Pair(), Types.TUPLE([STRING, INT, INT, LONG])).uid("join")
