"""Programs with two inputs: the records with even numbers, and those with odd ones."""

from __future__ import annotations

from penstock.common import Types
from penstock.datastream import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ProcessJoinFunction,
    ValueStateDescriptor,
)
from penstock.datastream.window import WindowAssigner
from tests.moves.programs.table import INT, LONG, STRING, by_key, program
from tests.moves.programs.windows import added, session, sliding, tumbling

RESULT = Types.TUPLE([STRING, INT, INT])
PAIR = Types.TUPLE([STRING, INT, INT, LONG])
RULES = MapStateDescriptor("rules", STRING, INT)
PAST = MapStateDescriptor("past", INT, Types.TUPLE([STRING, LONG]))


def halves(records: DataStream) -> tuple[DataStream, DataStream]:
    """The records with even numbers, and those with odd ones."""
    evens = records.filter(lambda record: record[1] % 2 == 0).set_parallelism(1).uid("evens")
    return evens, records.filter(lambda record: record[1] % 2 != 0).set_parallelism(1).uid("odds")


# --- joins ------------------------------------------------------------------------------------------------------------


class Pair(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left[0], left[1], right[1], ctx.get_timestamp()


@program
def interval_join(env, records):
    evens, odds = map(by_key, halves(records))
    return evens.interval_join(odds).between(-200, 500).process(Pair(), PAIR).uid("join")


@program
def interval_join_exclusive(env, records):
    evens, odds = map(by_key, halves(records))
    joined = evens.interval_join(odds).between(0, 800).lower_bound_exclusive().upper_bound_exclusive()
    return joined.process(Pair(), PAIR).uid("join")


def joined(records: DataStream, assigner: WindowAssigner) -> DataStream:
    evens, odds = halves(records)
    keyed = evens.join(odds).where(lambda record: record[0], STRING).equal_to(lambda record: record[0], STRING)
    return keyed.window(assigner).apply(lambda left, right: (left[0], left[1], right[1]), RESULT).uid("join")


@program
def join_tumbling(env, records):
    return joined(records, tumbling(1000))


@program
def join_sliding(env, records):
    return joined(records, sliding(1000, 500))


@program
def join_session(env, records):
    return joined(records, session(300))


class Group(CoGroupFunction):
    """A window's sum of the one side, and its number of records on the other."""

    def co_group(self, first, second):
        yield [*first, *second][0][0], sum(record[1] for record in first), len(second)


def grouped(records: DataStream, assigner: WindowAssigner) -> DataStream:
    evens, odds = halves(records)
    keyed = evens.co_group(odds).where(lambda record: record[0], STRING).equal_to(lambda record: record[0], STRING)
    return keyed.window(assigner).apply(Group(), RESULT).uid("co-group")


@program
def co_group(env, records):
    return grouped(records, tumbling(800))


@program
def co_group_session(env, records):
    return grouped(records, session(300))


# --- connected streams ------------------------------------------------------------------------------------------------


class Between(KeyedCoProcessFunction):
    """Of each even number the last odd one; and when an odd number comes, the sum of the even ones since the last."""

    def open(self, context):
        self.last = context.get_state(ValueStateDescriptor("last", INT))
        self.waiting = context.get_list_state(ListStateDescriptor("waiting", INT))

    def process_element1(self, even, ctx):
        self.waiting.add(even[1])
        yield even[0], even[1], -1 if self.last.value() is None else self.last.value()

    def process_element2(self, odd, ctx):
        total = sum(self.waiting.get())
        self.waiting.clear()
        self.last.update(odd[1])
        yield odd[0], odd[1], total


@program
def co_process(env, records):
    evens, odds = map(by_key, halves(records))
    return evens.connect(odds).process(Between(), RESULT).uid("between")


class Balance(KeyedCoProcessFunction):
    """At the end of all time: the sum of the even numbers, and of the odd ones."""

    def open(self, context):
        self.sums = context.get_state(ValueStateDescriptor("sums", Types.TUPLE([INT, INT])))

    def process_element1(self, even, ctx):
        self.add(even[1], 0, ctx)

    def process_element2(self, odd, ctx):
        self.add(0, odd[1], ctx)

    def add(self, even, odd, ctx):
        evens, odds = self.sums.value() or (0, 0)
        self.sums.update((evens + even, odds + odd))
        ctx.timer_service().register_event_time_timer(2**63 - 2)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), *self.sums.value()


@program
def co_process_timers(env, records):
    evens, odds = map(by_key, halves(records))
    return evens.connect(odds).process(Balance(), RESULT).uid("balance")


class Differences(CoFlatMapFunction):
    """The difference to the last number of the other side."""

    def open(self, context):
        self.even = context.get_state(ValueStateDescriptor("even", INT))
        self.odd = context.get_state(ValueStateDescriptor("odd", INT))

    def flat_map1(self, record):
        self.even.update(record[1])
        if self.odd.value() is not None:
            yield record[0], record[1], record[1] - self.odd.value()

    def flat_map2(self, record):
        self.odd.update(record[1])
        if self.even.value() is not None:
            yield record[0], record[1], record[1] - self.even.value()


@program
def co_flat_map(env, records):
    evens, odds = halves(records)
    keyed = evens.connect(odds).key_by(lambda record: record[0], lambda record: record[0], STRING)
    return keyed.flat_map(Differences(), RESULT).uid("differences")


@program
def union_window(env, records):
    evens, odds = halves(records)
    return by_key(evens.union(odds)).window(tumbling(1000)).reduce(added).uid("window")


# --- broadcast state --------------------------------------------------------------------------------------------------


class Look(BroadcastProcessFunction):
    """Of each even number its key's rule: the last odd number."""

    def process_element(self, even, ctx):
        rule = ctx.get_broadcast_state(RULES).get(even[0])
        yield even[0], even[1], -1 if rule is None else rule

    def process_broadcast_element(self, odd, ctx):
        ctx.get_broadcast_state(RULES).put(odd[0], odd[1])


@program
def broadcast(env, records):
    evens, odds = halves(records)
    return evens.connect(odds.broadcast(RULES)).process(Look(), RESULT).uid("look")


class LookBack(BroadcastProcessFunction):
    """Of each even number the sum of all rules, and the time since the rule whose number is one more."""

    def process_element(self, even, ctx):
        rules = sum(rule for _, rule in ctx.get_broadcast_state(RULES).items())
        past = ctx.get_broadcast_state(PAST).get(even[1] + 1)
        yield (even[0], rules, -1) if past is None else (even[0] + past[0], rules, even[2] - past[1])

    def process_broadcast_element(self, odd, ctx):
        ctx.get_broadcast_state(RULES).put(odd[0], odd[1])
        ctx.get_broadcast_state(PAST).put(odd[1], (odd[0], odd[2]))


@program
def broadcast_two(env, records):
    evens, odds = halves(records)
    return evens.connect(odds.broadcast(RULES, PAST)).process(LookBack(), RESULT).uid("look")


class Collect(KeyedBroadcastProcessFunction):
    """Sums even numbers by key; an odd one above ten takes all sums of all keys and leaves its rule."""

    SUM = ValueStateDescriptor("sum", INT)

    def open(self, context):
        self.sum = context.get_state(self.SUM)

    def process_element(self, even, ctx):
        self.sum.update((self.sum.value() or 0) + even[1])
        rule = ctx.get_broadcast_state(RULES).get("last")
        yield even[0], self.sum.value(), -1 if rule is None else rule

    def process_broadcast_element(self, odd, ctx):
        if odd[1] <= 10:
            return
        ctx.get_broadcast_state(RULES).put("last", odd[1])
        collected = []

        def take(key, state):
            collected.append((f"collected {key}", state.value(), odd[1]))
            state.clear()

        ctx.apply_to_keyed_state(self.SUM, take)
        yield from collected


@program
def broadcast_applied(env, records):
    evens, odds = halves(records)
    return by_key(evens).connect(odds.broadcast(RULES)).process(Collect(), RESULT).uid("collect")


class ApplyRules(KeyedBroadcastProcessFunction):
    """Counts the even numbers of a key, and says the count with the sum of all rules, at once and 1 second later."""

    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", INT))

    def process_element(self, even, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(even[2] + 1000)
        yield even[0], self.count.value(), sum(rule for _, rule in ctx.get_broadcast_state(RULES).items())

    def process_broadcast_element(self, odd, ctx):
        rules = ctx.get_broadcast_state(RULES)
        if odd[1] % 5 == 0:
            rules.remove(odd[0])
        else:
            rules.put(odd[0], odd[1])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), -self.count.value(), timestamp % 1000


@program
def broadcast_keyed(env, records):
    evens, odds = halves(records)
    return by_key(evens).connect(odds.broadcast(RULES)).process(ApplyRules(), RESULT).uid("apply")
