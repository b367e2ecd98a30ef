"""Programs with state of a key, of each kind."""

from __future__ import annotations

from penstock.common import OutputTag, Time, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapFunction,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream.window import TumblingEventTimeWindows
from tests.moves.programs.table import DOUBLE, INT, LONG, STRING, by_key, program

CENTURY = StateTtlConfig.new_builder(Time.days(36500)).update_ttl_on_read_and_write().build()


class Stateful(KeyedProcessFunction):
    """A function with one state that may have a time to live."""

    def __init__(self, time_to_live=None):
        self.time_to_live = time_to_live

    def living(self, descriptor):
        if self.time_to_live:
            descriptor.enable_time_to_live(self.time_to_live)
        return descriptor


class Count(Stateful):
    def open(self, context):
        self.count = context.get_state(self.living(ValueStateDescriptor("count", LONG)))

    def process_element(self, record, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield record[0], self.count.value()


@program
def value_count(env, records):
    return by_key(records).process(Count(), Types.TUPLE([STRING, LONG])).uid("count")


class Bundle(Stateful):
    """The numbers of a key, until one of them is a multiple of three: then their count, and their weighted sum."""

    def open(self, context):
        self.numbers = context.get_list_state(self.living(ListStateDescriptor("numbers", INT)))

    def process_element(self, record, ctx):
        self.numbers.add(record[1])
        if record[1] % 3 == 0:
            numbers = list(self.numbers.get())
            yield record[0], len(numbers), sum(place * number for place, number in enumerate(numbers, 1))
            self.numbers.clear()


@program
def list_sums(env, records):
    return by_key(records).process(Bundle(), Types.TUPLE([STRING, INT, INT])).uid("bundle")


class CountDigits(Stateful):
    def open(self, context):
        self.counts = context.get_map_state(self.living(MapStateDescriptor("counts", STRING, LONG)))

    def process_element(self, record, ctx):
        digit = f"d{record[1] % 4}"
        self.counts.put(digit, (self.counts.get(digit) or 0) + 1)
        yield record[0], digit, self.counts.get(digit) * 1000 + sum(self.counts.values())


@program
def map_counts(env, records):
    return by_key(records).process(CountDigits(), Types.TUPLE([STRING, STRING, LONG])).uid("digits")


class Total(Stateful):
    def open(self, context):
        self.total = context.get_reducing_state(
            self.living(ReducingStateDescriptor("total", lambda a, b: a + b, INT)),
        )

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


class RunningMean(Stateful):
    def open(self, context):
        descriptor = AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([LONG, LONG]))
        self.mean = context.get_aggregating_state(self.living(descriptor))

    def process_element(self, record, ctx):
        self.mean.add(record[1])
        yield record[0], self.mean.get()


@program
def aggregating_mean(env, records):
    return by_key(records).process(RunningMean(), Types.TUPLE([STRING, DOUBLE])).uid("mean")


class Several(KeyedProcessFunction):
    """The last number, the latest numbers up to four, how often each came, and the largest."""

    def open(self, context):
        self.last = context.get_state(ValueStateDescriptor("last", LONG))
        self.latest = context.get_list_state(ListStateDescriptor("latest", INT))
        self.often = context.get_map_state(MapStateDescriptor("often", INT, INT))
        self.largest = context.get_reducing_state(ReducingStateDescriptor("largest", max, INT))

    def process_element(self, record, ctx):
        key, number, time = record
        self.latest.update([*self.latest.get(), number][-4:])
        total = 0
        for latest in self.latest.get():
            total = total * 2 + latest
        self.often.put(number, (self.often.get(number) or 0) + 1)
        self.largest.add(number)
        gap = -1 if self.last.value() is None else time - self.last.value()
        self.last.update(time)
        yield key, gap, total, self.largest.get() * 100 + self.often.get(number)


@program
def several_states(env, records):
    return by_key(records).process(Several(), Types.TUPLE([STRING, LONG, INT, INT])).uid("several")


@program
def two_operators(env, records):
    counts = by_key(records).process(Count(), Types.TUPLE([STRING, LONG])).uid("count")
    windows = counts.key_by(lambda count: count[1] % 3, LONG).window(
        TumblingEventTimeWindows.of(Time.milliseconds(1000))
    )
    sums = windows.reduce(lambda a, b: ("sum", a[1] + b[1] + 3)).uid("window")
    return sums.map(lambda count: count[1], LONG)


class Average(FlatMapFunction):
    """The average of each three numbers of a key."""

    def open(self, context):
        self.sum = context.get_state(ValueStateDescriptor("sum", Types.TUPLE([LONG, LONG])))

    def flat_map(self, record):
        count, total = self.sum.value() or (0, 0)
        self.sum.update((count + 1, total + record[1]))
        if count == 2:
            yield record[0], self.sum.value()[1] // 3
            self.sum.clear()


@program
def flat_map_average(env, records):
    return by_key(records).flat_map(Average(), Types.TUPLE([STRING, LONG])).uid("average")


class Number(MapFunction):
    def open(self, context):
        self.number = context.get_state(ValueStateDescriptor("number", INT))

    def map(self, record):
        before = self.number.value()
        self.number.update(0 if before is None else before + 1)
        return record[0], record[1], self.number.value()


@program
def map_numbered(env, records):
    return by_key(records).map(Number(), Types.TUPLE([STRING, INT, INT])).uid("numbered")


class First(FilterFunction):
    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def filter(self, record):
        first = self.seen.value() is None
        self.seen.update(True)
        return first


@program
def filter_first(env, records):
    return records.key_by(lambda record: record[1], INT).filter(First()).uid("first")


@program
def ttl_value(env, records):
    return by_key(records).process(Count(CENTURY), Types.TUPLE([STRING, LONG])).uid("count")


@program
def ttl_list(env, records):
    return by_key(records).process(Bundle(CENTURY), Types.TUPLE([STRING, INT, INT])).uid("bundle")


@program
def ttl_map(env, records):
    return by_key(records).process(CountDigits(CENTURY), Types.TUPLE([STRING, STRING, LONG])).uid("digits")


@program
def ttl_reducing(env, records):
    return by_key(records).process(Total(CENTURY), Types.TUPLE([STRING, INT])).uid("total")


@program
def ttl_aggregating(env, records):
    return by_key(records).process(RunningMean(CENTURY), Types.TUPLE([STRING, DOUBLE])).uid("mean")


class Grow(KeyedProcessFunction):
    """A text that grows until it does not fit beside the metadata of a savepoint."""

    def open(self, context):
        self.text = context.get_state(ValueStateDescriptor("text", STRING))

    def process_element(self, record, ctx):
        before = self.text.value() or ""
        self.text.update(before + f"{record[0]}ü{record[1]}," * 1000)
        yield record[0], len(before), ord(before[-2]) if before else 0


@program
def large_state(env, records):
    return by_key(records).process(Grow(), Types.TUPLE([STRING, INT, INT])).uid("grow")


@program
def many_keys(env, records):
    keyed = records.key_by(lambda record: record[2] * 7919 % 1_000_003 % 24, LONG)
    return keyed.map(Number(), Types.TUPLE([STRING, INT, INT])).uid("numbered")


SIDE = OutputTag("side", Types.TUPLE([STRING, LONG]))


class Aside(Count):
    """Counts, and puts every third count aside."""

    def process_element(self, record, ctx):
        for key, count in super().process_element(record, ctx):
            if count % 3 == 0:
                yield SIDE, (f"side {key}", count)
            else:
                yield key, count


@program
def side_output(env, records):
    counts = by_key(records).process(Aside(), Types.TUPLE([STRING, LONG])).uid("aside")
    return counts.union(counts.get_side_output(SIDE))


@program
def uid_hash(env, records):
    counts = by_key(records).process(Count(), Types.TUPLE([STRING, LONG]))
    return counts.set_uid_hash("0123456789abcdef0123456789abcdef").map(lambda count: count, Types.TUPLE([STRING, LONG]))


@program
def without_uids(env, records):
    counted = Types.TUPLE([STRING, LONG])
    some = records.filter(lambda record: record[1] > 2).set_parallelism(1)
    sums = by_key(by_key(some).process(Count(), counted)).sum(1)
    return sums.map(lambda count: count, counted)  # an ID depends on what is chained behind: on no sink


class Rising(FilterFunction):
    """Lets through what is larger than half of the largest."""

    def open(self, context):
        self.largest = context.get_reducing_state(ReducingStateDescriptor("largest", max, INT))

    def filter(self, record):
        self.largest.add(record[1])
        return record[1] * 2 > self.largest.get()


class Latest(KeyedProcessFunction):
    """Sums by time, in a map, said one second later: what was added by then at this time."""

    def open(self, context):
        self.sums = context.get_map_state(MapStateDescriptor("sums", LONG, INT))

    def process_element(self, record, ctx):
        time = ctx.timestamp()
        self.sums.put(time, (self.sums.get(time) or 0) + record[1])
        ctx.timer_service().register_event_time_timer(time + 1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.sums.get(timestamp - 1000)
        self.sums.remove(timestamp - 1000)


@program
def pipeline(env, records):
    large = by_key(records).filter(Rising()).uid("rising")
    windows = by_key(large).window(TumblingEventTimeWindows.of(Time.milliseconds(500)))
    sums = windows.reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2]))).uid("sums")
    first = sums.key_by(lambda record: record[0] == "k0", Types.BOOLEAN())
    return first.process(Latest(), Types.TUPLE([Types.BOOLEAN(), LONG, INT])).uid("latest")
