"""Programs written for PyFlink whose state is in the golden savepoints. They run unchanged on PyFlink and on Penstock.

Each is a function from a stream of lines, which are records in JSON, to a stream of texts in JSON. A function with
state gives all the state of a key after each of its records, as ``[uid, key, {state: value}]``, values by ``repr``. So
the last such text of a key is what a savepoint has of it.
"""

import datetime
import decimal
import fractions
import json

from pyflink.common import Instant, Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import functions, window
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

NEVER = 4_000_000_000_000  # a time in the next century


def records(count=60):
    """Records of five keys with rising times: a key, a number, a time in milliseconds."""
    return [["abcde"[number * number % 5], number * 37 % 50, 1_000 + 100 * number] for number in range(count)]


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


def timed(lines):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    types = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
    return lines.map(lambda line: tuple(json.loads(line)), types).assign_timestamps_and_watermarks(strategy)


def by_key(lines):
    return timed(lines).key_by(lambda record: record[0], Types.STRING())


def add(first, second):
    return first + second


class Mean(functions.AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, first, second):
        return first[0] + second[0], first[1] + second[1]


class Shown(functions.KeyedProcessFunction):
    """Shows the state of a key after each record."""

    def __init__(self, uid):
        self.uid = uid

    def process_element(self, value, ctx):
        self.take(value, ctx)
        yield json.dumps([self.uid, repr(ctx.get_current_key()), {name: repr(it) for name, it in self.shown().items()}])


# --- kinds of state ---------------------------------------------------------------------------------------------------


class Kinds(Shown):
    """A state of each kind, some cleared again."""

    def types(self):
        return {
            "last": Types.LONG(),
            "numbers": Types.INT(),
            "counts": (Types.STRING(), Types.LONG()),
            "total": Types.LONG(),
            "mean": Types.TUPLE([Types.LONG(), Types.LONG()]),
        }

    def lives(self, descriptor):
        return descriptor

    def open(self, runtime_context):
        types, lives = self.types(), self.lives
        self.last = runtime_context.get_state(lives(ValueStateDescriptor("last", types["last"])))
        self.numbers = runtime_context.get_list_state(lives(ListStateDescriptor("numbers", types["numbers"])))
        self.counts = runtime_context.get_map_state(lives(MapStateDescriptor("counts", *types["counts"])))
        self.total = runtime_context.get_reducing_state(lives(ReducingStateDescriptor("total", add, types["total"])))
        mean = AggregatingStateDescriptor("mean", Mean(), types["mean"])
        self.mean = runtime_context.get_aggregating_state(lives(mean))

    def take(self, value, ctx):
        number = value[1]
        if number % 7:
            self.last.update(number)
        else:
            self.last.clear()
        self.numbers.add(number)
        self.counts.put(f"m{number % 3}", (self.counts.get(f"m{number % 3}") or 0) + 1)
        self.total.add(number)
        self.mean.add(number)

    def shown(self):
        return {
            "last": self.last.value(),
            "numbers": list(self.numbers.get()),
            "counts": sorted(self.counts.items()),
            "total": self.total.get(),
            "mean": self.mean.get(),
        }


class Pickled(Kinds):
    """The same with values that are pickled."""

    def types(self):
        pickled = Types.PICKLED_BYTE_ARRAY()
        return {**dict.fromkeys(["last", "numbers", "total", "mean"], pickled), "counts": (Types.STRING(), pickled)}

    def take(self, value, ctx):
        number = value[1]
        self.last.update({"number": number, "parts": [number, str(number), None]})
        self.numbers.add((number, number / 2))
        self.counts.put(f"m{number % 3}", {number})
        self.total.add(f"{number},")
        self.mean.add(number)


class Objects(Shown):
    """Pickled objects: those of PyFlink, and of a class of somebody else's."""

    def open(self, runtime_context):
        pickled = Types.PICKLED_BYTE_ARRAY()
        self.row = runtime_context.get_state(ValueStateDescriptor("row", pickled))
        self.instant = runtime_context.get_state(ValueStateDescriptor("instant", pickled))
        self.fraction = runtime_context.get_state(ValueStateDescriptor("fraction", pickled))

    def take(self, value, ctx):
        number = value[1]
        self.row.update(Row(number=number, day=datetime.date(2000, 1, 1 + number % 28), row=Row(None, number)))
        self.instant.update(Instant(number, number + 1))
        self.fraction.update(fractions.Fraction(number, 7))

    def shown(self):
        instant = self.instant.value()
        shown = {"row": self.row.value(), "fraction": self.fraction.value()}
        return {**shown, "instant": instant and (instant.seconds, instant.nanos)}


class Living(Kinds):
    """The same with times to live."""

    def lives(self, descriptor):
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(36_500)).build())
        return descriptor


def kinds(lines):
    return by_key(lines).process(Kinds("kinds"), Types.STRING()).uid("kinds")


def parallel(lines):
    return by_key(lines).process(Kinds("parallel"), Types.STRING()).uid("parallel").set_parallelism(2)


def parallel_windows(lines):
    windows = by_key(lines).window(window.TumblingEventTimeWindows.of(Time.seconds(2)))
    return windows.process(Listed("tumbling"), Types.STRING()).uid("tumbling").set_parallelism(3)


def pickled(lines):
    keyed = timed(lines).key_by(lambda record: (record[0], record[1] % 2))
    return keyed.process(Pickled("pickled"), Types.STRING()).uid("pickled")


def objects(lines):
    keyed = timed(lines).key_by(lambda record: Row(key=record[0]))
    return keyed.process(Objects("objects"), Types.STRING()).uid("objects")


def ttl(lines):
    return by_key(lines).process(Living("ttl"), Types.STRING()).uid("ttl")


# --- types ------------------------------------------------------------------------------------------------------------


def parts(value):
    """A value whose rows have no names: before they are written, positional ones have none."""
    if isinstance(value, Row):
        return ("Row", *map(parts, value))
    return type(value)(map(parts, value)) if isinstance(value, list | tuple) else value


class Values(Shown):
    """A value state of each type."""

    def cases(self, number):
        """Types, each with a value, by name."""
        moment = datetime.datetime(1900 + number * 5, 1 + number % 12, 1 + number % 28, 3, number, 59, number * 1_000)
        return {
            "byte": (Types.BYTE(), number - 128),
            "short": (Types.SHORT(), -number),
            "int": (Types.INT(), 1 - (1 << 31) + number),
            "boolean": (Types.BOOLEAN(), number % 2 == 0),
            "float": (Types.FLOAT(), number / 4),
            "double": (Types.DOUBLE(), number / 7),
            "string": (Types.STRING(), "žluťoučký 🐎 "[: number % 13]),
            "char": (Types.CHAR(), "xyž"[number % 3]),
            "big_int": (Types.BIG_INT(), -(1 << 62) + number),
            "big_dec": (Types.BIG_DEC(), decimal.Decimal(number - 20) / decimal.Decimal(7)),
            "date": (Types.SQL_DATE(), moment.date()),
            "time": (Types.SQL_TIME(), moment.time()),
            "timestamp": (Types.SQL_TIMESTAMP(), moment),
            "instant": (Types.INSTANT(), Instant(number - 30, number * 1_001)),
            "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), bytes(range(number % 4))),
            "ints": (Types.PRIMITIVE_ARRAY(Types.INT()), [number, -number]),
            "doubles": (Types.BASIC_ARRAY(Types.DOUBLE()), [number / 3, None]),
            "strings": (Types.BASIC_ARRAY(Types.STRING()), [str(number), None, ""]),
            "rows": (
                Types.OBJECT_ARRAY(Types.ROW([Types.INT(), Types.STRING()])),
                [Row(number, "r"), None, Row(None, None)],
            ),
            "tuple": (
                Types.TUPLE([Types.STRING(), Types.TUPLE([Types.INT(), Types.BOOLEAN()])]),
                ("t", (number, number % 3 == 0)),
            ),
            "row": (
                Types.ROW([Types.INT(), Types.STRING(), Types.DOUBLE()]),
                Row(number, None if number % 2 else "even", number / 2),
            ),
            "named": (
                Types.ROW_NAMED(["x", "y"], [Types.LONG(), Types.ROW_NAMED(["z"], [Types.STRING()])]),
                Row(x=number, y=Row(z=f"z{number}")),
            ),
            "wide": (
                Types.ROW([Types.INT()] * 15),
                Row(*[None if (number >> bit % 6) & 1 else bit for bit in range(15)]),
            ),
            "list": (Types.LIST(Types.LONG()), [number, None, number + 1]),
            "map": (Types.MAP(Types.STRING(), Types.LIST(Types.INT())), {"a": [number], "b": None}),
        }

    def open(self, runtime_context):
        types = {name: kind for name, (kind, _) in self.cases(0).items()}
        self.states = {it: runtime_context.get_state(ValueStateDescriptor(it, kind)) for it, kind in types.items()}

    def take(self, value, ctx):
        for name, (_, it) in self.cases(value[1]).items():
            self.states[name].update(it)

    def shown(self):
        return {name: parts(state.value()) for name, state in self.states.items()}


class ThreadValues(Values):
    """Those that PyFlink can keep in thread mode."""

    def cases(self, number):
        names = ["byte", "int", "boolean", "float", "double", "string", "big_dec", "tuple", "row", "named", "wide"]
        return {name: case for name, case in super().cases(number).items() if name in names}


class Collections(Shown):
    """Lists and maps of some types."""

    def open(self, runtime_context):
        row, day = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()]), Types.SQL_DATE()
        self.rows = runtime_context.get_list_state(ListStateDescriptor("rows", row))
        self.days = runtime_context.get_map_state(MapStateDescriptor("days", day, Types.BIG_DEC()))
        tuples = Types.TUPLE([Types.STRING(), Types.INT()])
        self.tuples = runtime_context.get_map_state(MapStateDescriptor("tuples", tuples, Types.LIST(Types.LONG())))
        pickled = Types.PICKLED_BYTE_ARRAY()
        self.pickles = runtime_context.get_map_state(MapStateDescriptor("pickles", pickled, pickled))

    def take(self, value, ctx):
        number = value[1]
        self.rows.add(Row(x=number, y=None if number % 3 else "third"))
        self.days.put(datetime.date(2000, 1, 1 + number % 4), decimal.Decimal(number) / 4)
        self.tuples.put(("t", number % 3), [number])  # None would be lost: PyFlink takes no savepoint of it
        self.pickles.put((number % 2, "p"), [number, {"of": number}])
        if number % 4 == 0:
            self.tuples.remove(("t", (number + 1) % 3))

    def shown(self):
        maps = {name: sorted(getattr(self, name).items()) for name in ("days", "tuples", "pickles")}
        return {"rows": list(self.rows.get()), **maps}


def values(lines):
    return by_key(lines).process(Values("values"), Types.STRING()).uid("values")


def thread_values(lines):
    return by_key(lines).process(ThreadValues("values"), Types.STRING()).uid("values")


def collections(lines):
    return by_key(lines).process(Collections("collections"), Types.STRING()).uid("collections")


class Counter(Shown):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def take(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(NEVER + value[1])

    def shown(self):
        return {"count": self.count.value()}

    def on_timer(self, timestamp, ctx):
        yield json.dumps(["timer", self.uid, repr(ctx.get_current_key()), timestamp])


def key_types():
    """A key type, and the key of a record, by uid."""
    return {
        "by_int": (Types.INT(), lambda it: it[1] % 7 - 3),
        "by_long": (Types.LONG(), lambda it: (1 << 40) * (it[1] % 5 - 2)),
        "by_boolean": (Types.BOOLEAN(), lambda it: it[1] % 2 == 0),
        "by_double": (Types.DOUBLE(), lambda it: it[1] % 4 / 8),
        "by_tuple": (Types.TUPLE([Types.STRING(), Types.LONG()]), lambda it: (it[0], it[1] % 2)),
        "by_row": (Types.ROW([Types.STRING(), Types.INT()]), lambda it: Row(it[0], it[1] % 2)),
        "by_pickle": (None, lambda it: ["p", it[1] % 3]),
        "by_text": (None, lambda it: it[0]),
    }


def keys(lines):
    records, results = timed(lines), []
    for uid, (kind, key) in key_types().items():
        keyed = records.key_by(key) if kind is None else records.key_by(key, kind)
        results.append(keyed.process(Counter(uid), Types.STRING()).uid(uid))
    return results[0].union(*results[1:])


class Timers(Counter):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def take(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        timers, time = ctx.timer_service(), value[2]
        timers.register_event_time_timer((time + 350 + 499) // 500 * 500)
        timers.register_event_time_timer(NEVER)
        timers.register_event_time_timer(NEVER + time)
        timers.delete_event_time_timer(NEVER + time - 300)
        timers.register_processing_time_timer(NEVER + value[1])

    def on_timer(self, timestamp, ctx):
        if timestamp >= NEVER:
            yield json.dumps(["last", ctx.get_current_key(), timestamp, self.count.value()])
        else:
            yield json.dumps(["timer", ctx.get_current_key(), timestamp])


def timers(lines):
    return by_key(lines).process(Timers("timers"), Types.STRING()).uid("timers")


class Numbered(functions.MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return json.dumps(["mapped", value[0], self.count.value()])


def mapped(lines):
    return by_key(lines).map(Numbered(), Types.STRING()).uid("mapped")


def folds(lines):
    keyed = by_key(lines)
    longest = keyed.reduce(lambda a, b: a if a[1] > b[1] else b).uid("reduce")
    total = keyed.sum(1).uid("sum")
    return longest.map(lambda it: json.dumps(["reduce", *it]), Types.STRING()).union(
        total.map(lambda it: json.dumps(["sum", *it]), Types.STRING())
    )


# --- windows ----------------------------------------------------------------------------------------------------------


class Listed(functions.ProcessWindowFunction):
    """Gives the numbers of a window."""

    def __init__(self, uid):
        self.uid = uid

    def process(self, key, context, elements):
        its = context.window()
        span = [its.start, its.end] if hasattr(its, "start") else []
        yield json.dumps([self.uid, key, *span, sorted(it[1] for it in elements)])


class AllListed(functions.ProcessAllWindowFunction):
    def process(self, context, elements):
        yield json.dumps(["all", context.window().start, sorted(it[1] for it in elements)])


class Aggregated(Listed):
    """Gives what a window has been aggregated to."""

    def process(self, key, context, elements):
        its = context.window()
        yield json.dumps([self.uid, key, its.start, its.end, list(elements)])


class Remembered(functions.ProcessWindowFunction):
    """Counts how often a window has fired, and how often those of a key have."""

    def descriptors(self):
        return ValueStateDescriptor("fires", Types.INT()), ListStateDescriptor("all_fires", Types.LONG())

    def process(self, key, context, elements):
        one, every = self.descriptors()
        fires, all_fires = context.window_state().get_state(one), context.global_state().get_list_state(every)
        fires.update((fires.value() or 0) + 1)
        all_fires.add(context.window().start)
        yield json.dumps(["windows", key, context.window().start, fires.value(), len(list(elements))])

    def clear(self, context):
        one, _ = self.descriptors()
        context.window_state().get_state(one).clear()


def all_windows(lines):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    records = lines.map(json.loads).assign_timestamps_and_watermarks(strategy)
    windows = records.window_all(window.TumblingEventTimeWindows.of(Time.seconds(2)))
    return windows.process(AllListed(), Types.STRING()).uid("all")


class MeanOfRecords(Mean):
    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1


def tumbling(lines):
    windows = by_key(lines).window(window.TumblingEventTimeWindows.of(Time.seconds(2)))
    listed = windows.process(Listed("tumbling"), Types.STRING()).uid("tumbling")
    larger = by_key(lines).window(window.TumblingEventTimeWindows.of(Time.seconds(2)))
    reduced = larger.reduce(lambda a, b: (a[0], a[1] + b[1], a[2]), Aggregated("reduced"), Types.STRING())
    return listed.union(reduced.uid("reduced"))


def sliding(lines):
    windows = by_key(lines).window(window.SlidingEventTimeWindows.of(Time.seconds(3), Time.seconds(1)))
    return windows.aggregate(MeanOfRecords(), Aggregated("sliding"), None, Types.STRING()).uid("sliding")


def typed_windows(lines):
    windows = (
        timed(lines)
        .key_by(lambda it: it[1] % 3, Types.INT())
        .window(window.SlidingEventTimeWindows.of(Time.seconds(3), Time.seconds(1)))
    )
    pair = Types.TUPLE([Types.LONG(), Types.INT()])
    return windows.aggregate(MeanOfRecords(), Aggregated("typed"), pair, Types.STRING()).uid("typed")


def sessions(lines):
    windows = by_key(lines).window(window.EventTimeSessionWindows.with_gap(Time.milliseconds(350)))
    listed = windows.process(Listed("sessions"), Types.STRING()).uid("sessions")
    others = by_key(lines).window(window.EventTimeSessionWindows.with_gap(Time.milliseconds(550)))
    return listed.union(others.aggregate(MeanOfRecords(), Aggregated("means"), None, Types.STRING()).uid("means"))


def count_windows(lines):
    listed = by_key(lines).count_window(4).process(Listed("counted"), Types.STRING()).uid("counted")
    slid = by_key(lines).count_window(5, 2).process(Listed("slid"), Types.STRING()).uid("slid")
    return listed.union(slid)


def window_states(lines):
    windows = (
        by_key(lines).window(window.TumblingEventTimeWindows.of(Time.seconds(2))).trigger(window.CountTrigger.of(2))
    )
    return windows.process(Remembered(), Types.STRING()).uid("windows")


class Started(functions.ProcessWindowFunction):
    """Tells once of each window: how often it fires depends on when watermarks come."""

    def seen(self, context):
        return context.window_state().get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def process(self, key, context, elements):
        if not self.seen(context).value():
            self.seen(context).update(True)
            yield json.dumps(["continuous", key, context.window().start])

    def clear(self, context):
        self.seen(context).clear()


def continuous(lines):
    windows = by_key(lines).window(window.TumblingEventTimeWindows.of(Time.seconds(3)))
    windows = windows.trigger(window.ContinuousEventTimeTrigger.of(Time.seconds(1))).allowed_lateness(500)
    return windows.process(Started(), Types.STRING()).uid("continuous")


# --- two inputs -------------------------------------------------------------------------------------------------------


class Both(functions.KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.left = runtime_context.get_state(ValueStateDescriptor("left", Types.LONG()))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", Types.INT()))

    def process_element1(self, value, ctx):
        self.left.update((self.left.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(NEVER)
        yield json.dumps(["co", repr(ctx.get_current_key()), {"left": repr(self.left.value())}])

    def process_element2(self, value, ctx):
        self.right.add(value[1])
        yield json.dumps(["co", repr(ctx.get_current_key()), {"right": repr(list(self.right.get()))}])

    def on_timer(self, timestamp, ctx):
        yield json.dumps(["last", ctx.get_current_key(), self.left.value(), list(self.right.get())])


def co(lines):
    records = timed(lines)
    left = records.filter(lambda it: it[1] % 2 == 0).key_by(lambda it: it[0], Types.STRING())
    right = records.filter(lambda it: it[1] % 2 == 1).key_by(lambda it: it[0], Types.STRING())
    return left.connect(right).process(Both(), Types.STRING()).uid("co")


def rules_descriptor():
    return MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class Ruled(functions.KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value, ctx):
        self.total.update((self.total.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(NEVER)
        yield json.dumps(["ruled", repr(ctx.get_current_key()), {"total": repr(self.total.value())}])

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(rules_descriptor()).put(value[0], value[1])
        yield json.dumps(["rule", *value])

    def on_timer(self, timestamp, ctx):
        rules = ctx.get_broadcast_state(rules_descriptor())
        yield json.dumps(["last", ctx.get_current_key(), self.total.value(), sorted(rules.items())])


class RulesOnly(functions.BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield json.dumps(["plain", *value])

    def process_broadcast_element(self, value, ctx):
        rules = ctx.get_broadcast_state(rules_descriptor())
        rules.put(value[0], value[1])
        yield json.dumps(["rules", sorted(rules.items())])


def broadcast(lines):
    records = timed(lines)
    rules = records.filter(lambda it: it[1] % 3 == 0).broadcast(rules_descriptor())
    rest = records.filter(lambda it: it[1] % 3 != 0)
    keyed = rest.key_by(lambda it: it[0], Types.STRING()).connect(rules).process(Ruled(), Types.STRING()).uid("ruled")
    return keyed.union(rest.connect(rules).process(RulesOnly(), Types.STRING()).uid("rules"))


THREAD = {"settings": {"python.execution-mode": "thread"}}
PLAIN = (kinds, pickled, objects, ttl, values, collections, keys, timers, mapped, folds, co, broadcast)
WINDOWS = (tumbling, sliding, typed_windows, sessions, count_windows, window_states, continuous, all_windows)
PROGRAMS = {
    **{define.__name__: (define, {}) for define in (*PLAIN, *WINDOWS)},
    "parallel": (parallel, {"max_parallelism": 64}),
    "parallel_windows": (parallel_windows, {"max_parallelism": 300}),
    "thread_values": (thread_values, THREAD),
    **{
        f"thread_{define.__name__}": (define, THREAD)
        for define in (kinds, pickled, keys, timers, sliding, ttl, broadcast)
    },
}
"""The programs, each with what it is run with besides."""
