"""Process functions that are compiled, with all that they may do."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import Any

from penstock.common import Row, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ReduceFunction,
    ReducingStateDescriptor,
    TimeDomain,
    ValueStateDescriptor,
)

LONG, PAIR = Types.LONG(), Types.TUPLE([Types.STRING(), Types.LONG()])


class Counting(KeyedProcessFunction):
    """Numbers the records of a key, and ends with a timer that moves."""

    def open(self, runtime_context: Any) -> None:
        self.number = runtime_context.get_state(ValueStateDescriptor("number", LONG))
        self.due = runtime_context.get_state(ValueStateDescriptor("due", LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        number = (self.number.value() or 0) + 1
        self.number.update(number)
        timers = ctx.timer_service()
        due = self.due.value()
        if due is not None:
            timers.delete_event_time_timer(due)
        if value[1] % 5 == 4:
            self.due.clear()
        else:
            due = ctx.timestamp() + 5
            self.due.update(due)
            timers.register_event_time_timer(due)
        yield ctx.get_current_key(), number, timers.current_watermark()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), -self.number.value(), ctx.timestamp()
        self.number.clear()
        self.due.update(None)


class Lists(KeyedProcessFunction):
    """All that can be done with lists."""

    def open(self, runtime_context: Any) -> None:
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", PAIR))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        before = list(self.items.get())
        if value[1] < 0:
            self.items.clear()
        elif value[1] == 1:
            self.items.add_all([value, value])
            self.items.add(("more", 0))
        elif value[1] == 2:
            self.items.update(before[1:])
            self.items.add(value)
        elif value[1] == 3:
            self.items.clear()
            self.items.add(value)
            self.items.add_all([])
        elif value[1] == 4:
            self.items.update([])
        else:
            insort(before, value, key=by_number)
            self.items.update(before[:4])
        self.last.update([value[1], (value[0], [None, 0.5])] if value[1] % 2 else None)
        yield value[0], sum(item[1] for item in self.items.get()), self.last.value()

    def on_timer(self, timestamp: int, ctx: Any) -> list[Any]:
        return [timestamp]


def by_number(item: Any) -> Any:
    return -item[1]


class Waiting(KeyedCoProcessFunction):
    """Pairs of both inputs, whichever comes first."""

    def open(self, runtime_context: Any) -> None:
        self.known = runtime_context.get_state(ValueStateDescriptor("known", PAIR))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", PAIR))

    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.known.update(value)
        self.remind(ctx, value[1])
        for other in self.waiting.get():
            yield value[1], other[1]
        self.waiting.clear()

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        known = self.known.value()
        if known is None:
            self.waiting.add(value)
            return
        yield known[1], value[1], known[1] * value[1]

    def remind(self, ctx: Any, number: int) -> None:
        if 0 <= number < 10:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + int(number))

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        known = self.known.value()
        if known is not None and 6 < known[1] < 10:
            ctx.timer_service().register_event_time_timer(timestamp + 1)
            self.known.update((known[0], known[1] - 1))
        else:
            self.known.clear()
        yield timestamp, ctx.get_current_key()


class Rows(KeyedProcessFunction):
    """State of rows and dicts; no results, and no timers."""

    def open(self, runtime_context: Any) -> None:
        self.row = runtime_context.get_state(ValueStateDescriptor("row", Types.PICKLED_BYTE_ARRAY()))
        self.rows = runtime_context.get_list_state(ListStateDescriptor("rows", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> None:
        row = self.row.value()
        if row is None or value[1] > row.n:
            self.row.update(Row(key=value[0], n=value[1]))
        self.rows.add(Row(value[1], value))
        if value[1] == 0:
            self.rows.update([{"a": value}, 1, "b"])


class MapStates(KeyedProcessFunction):
    """All that can be done with maps; the second one has many keys."""

    def open(self, runtime_context: Any) -> None:
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", LONG, PAIR))
        self.many = runtime_context.get_map_state(MapStateDescriptor("many", PAIR, LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        few = self.map
        number = value[1]
        few.put(number, value)
        if number in few and few[number + 1] is None:
            few[number + 1] = ("next", 0)
        for key in list(few):
            if key not in (number, 3) and key % 3 == number % 3:
                del few[key]
                few.remove(key + 1)
        few[11], few[12] = value, value
        if number == 2:
            few.put_all({7: value, 2: None, 1: value})
        if number == -1:
            few.clear()
        if number == -2:
            few.clear()
            few[5] = value
            few.remove(5)
        if number % 2:
            for at in range(25):
                self.many[(value[0], at)] = number + at
            self.many.remove((value[0], 3))
        for pair in self.many:
            if pair[1] > number:
                self.many.remove(pair)
                if pair[1] % 4 == 0:
                    self.many.put(pair, -1)
        self.many[("count", number)] = (self.many.get(("count", number)) or 0) + 1
        self.many[("count", number)] += 1
        yield [key for key, _ in few.items()], list(few.values()), few.is_empty(), few.get(True), few.contains(2.0)
        yield list(self.many.values()), self.many.keys()[-12:], self.many.is_empty(), (value[0], number), True

    def on_timer(self, timestamp: int, ctx: Any) -> None:
        self.map.clear()


class Mean(AggregateFunction):
    """The mean of numbers but the first; its accumulator may be None."""

    def create_accumulator(self) -> Any:
        return None

    def add(self, value: Any, accumulator: Any) -> Any:
        if accumulator is None:
            return (0, 3) if value[1] == 1 else None if value[1] == 3 else (value[1], 1)
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return -1.0 if accumulator is None else accumulator[0] / accumulator[1]

    def merge(self, a: Any, b: Any) -> Any:
        raise NotImplementedError


class Tally(AggregateFunction):
    """Counts numbers in a dict that it changes."""

    def create_accumulator(self) -> Any:
        return {}

    def add(self, value: Any, accumulator: Any) -> Any:
        if value[1] == 8:
            return {8: 100}
        accumulator[value[1]] = accumulator.get(value[1], 0) + 1
        if value[1] in (2, 3):
            accumulator[2] += 10
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return len(accumulator), list(accumulator.items()), accumulator.get(2, -1), max(accumulator)

    def merge(self, a: Any, b: Any) -> Any:
        raise NotImplementedError


class Recent(AggregateFunction):
    """The last values, in a list that it changes."""

    def create_accumulator(self) -> Any:
        return [("first", 0)]

    def add(self, value: Any, accumulator: Any) -> Any:
        accumulator.append(value)
        accumulator[0] = value[0], accumulator[0][1] + value[1]
        return accumulator[-3:] if len(accumulator) > 5 else accumulator

    def get_result(self, accumulator: Any) -> Any:
        return [item[1] for item in accumulator] if accumulator else None

    def merge(self, a: Any, b: Any) -> Any:
        raise NotImplementedError


class Larger(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1 if value1 is not None and value1[1] > value2[1] else self.other(value2)

    def other(self, value: Any) -> Any:
        return None if value[1] == 2 else value


class Combined(KeyedProcessFunction):
    """States that combine what is added to them, whose functions are given in several ways."""

    def open(self, runtime_context: Any) -> None:
        mean = AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())
        self.mean = runtime_context.get_aggregating_state(mean)
        self.largest = runtime_context.get_reducing_state(ReducingStateDescriptor("largest", Larger(), PAIR))
        self.sum = runtime_context.get_reducing_state(
            ReducingStateDescriptor("sum", lambda one, other: one + other, type_info=LONG)
        )
        self.by_name = runtime_context.get_reducing_state(ReducingStateDescriptor("by name", take_less, LONG))
        self.digits = runtime_context.get_reducing_state(ReducingStateDescriptor("digits", self.together, LONG))

    def together(self, one: int, other: int) -> int:
        return (10 * one + other) % 1000

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.mean.add(value)
        if value[1] % 3:
            self.largest.add(value)
        self.sum.add(value[1])
        self.by_name.add(value[1])
        self.digits.add(value[1] % 10)
        yield value[0], self.mean.get(), self.largest.get(), self.sum.get(), self.by_name.get(), self.digits.get()
        if value[1] > 7:
            self.mean.clear()
            self.sum.clear()
            self.sum.add(1000)
            self.sum.add(1)
            self.digits.clear()

    def on_timer(self, timestamp: int, ctx: Any) -> None:
        self.largest.clear()


class Changing(KeyedProcessFunction):
    """States whose accumulators are changed where they are."""

    def open(self, runtime_context: Any) -> None:
        self.tally = runtime_context.get_aggregating_state(AggregatingStateDescriptor("tally", Tally()))
        self.recent = runtime_context.get_aggregating_state(AggregatingStateDescriptor("recent", Recent()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        if value[1] != 3:
            self.tally.add(value)
        self.recent.add(value)
        yield value[0], self.tally.get(), self.recent.get()
        if value[1] > 7:
            self.tally.clear()
            self.recent.add(("more", 1))

    def on_timer(self, timestamp: int, ctx: Any) -> None:
        self.recent.clear()


class ByClock(KeyedProcessFunction):
    """Counts down by the clock, and by event time as well; both have a timer of the same time."""

    def open(self, runtime_context: Any) -> None:
        self.left = runtime_context.get_state(ValueStateDescriptor("left", LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        timers = ctx.timer_service()
        now = timers.current_processing_time()
        if value[1] == 3:
            timers.delete_processing_time_timer(now + 2)
        elif value[1] > 0:
            self.left.update(value[1])
            timers.register_processing_time_timer(now + 2)
            timers.register_event_time_timer(now + 2)
        yield "record", now, ctx.time_domain() == TimeDomain.EVENT_TIME

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        if ctx.time_domain() == TimeDomain.EVENT_TIME:
            yield "event", timestamp, ctx.timestamp() == timestamp
            return
        left = (self.left.value() or 0) - 1
        self.left.update(left)
        if left > 0:
            ctx.timer_service().register_processing_time_timer(timestamp + 1)
        yield ctx.get_current_key(), left, ctx.time_domain() != TimeDomain.PROCESSING_TIME


class Last(KeyedProcessFunction):
    """Keeps lists in value states, and changes them where they are; and a number."""

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LIST(LONG)))
        self.pairs = runtime_context.get_state(ValueStateDescriptor("pairs", Types.PICKLED_BYTE_ARRAY()))
        self.number = runtime_context.get_state(ValueStateDescriptor("number", LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        number = self.number.value()
        if number is None:
            self.number.update(0)
            number = self.number.value()
        number += 1
        last = self.last.value()
        if last is None:
            last = []
            self.last.update(last)
        last.append(value[1])
        pairs = self.pairs.value() or []
        insort(pairs, value, key=by_number)
        if len(pairs) > 3:
            pairs = pairs[-3:]
            pairs.append(value)
        if len(last) > 6:
            self.last.clear()
            last.append(1000)
        if value[1] > 6:
            self.last.update([])
            last[0] = -1000
        if value[1] > -3:
            self.pairs.update(pairs)
            pairs += [value]
        self.number.update(number)
        yield number, sum(last), list(last), list(pairs)

    def on_timer(self, timestamp: int, ctx: Any) -> None:
        last = self.last.value()
        if last:
            last += [timestamp]


class Dicts(KeyedProcessFunction):
    """Keeps dicts in value states, and changes them where they are."""

    def open(self, runtime_context: Any) -> None:
        self.counts = runtime_context.get_state(ValueStateDescriptor("counts", Types.MAP(LONG, LONG)))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        key, number = value
        counts = self.counts.value() or {}
        counts[number] = counts.get(number, 0) + 1
        if number == 3:
            counts = {other: count for other, count in counts.items() if other != 1}
        if number == 4:
            counts = {}
        self.counts.update(counts)
        if number > 6:
            counts[100] = number
        last = self.last.value()
        if last is None:
            last = {"key": ("", 0)}
        last["number"] = key, number
        last.update({str(number): value})
        if number == 2:
            last = {}
            last[key] = key, number
        if number != 5:
            self.last.update(last)
        if number < 0:
            self.counts.clear()
            counts[101] = number
        yield key, list(counts.items()), sum(counts.values()), list(last.items()), number in counts

    def on_timer(self, timestamp: int, ctx: Any) -> None:
        counts = self.counts.value()
        if counts is not None:
            counts[timestamp] = 0


class Defaults(KeyedProcessFunction):
    """Value states that are not None where there is nothing."""

    def open(self, runtime_context: Any) -> None:
        self.least = runtime_context.get_state(ValueStateDescriptor("least", LONG, 4))
        self.items = runtime_context.get_state(ValueStateDescriptor("items", Types.LIST(LONG), [1, 2]))
        self.row = runtime_context.get_state(ValueStateDescriptor("row", Types.PICKLED_BYTE_ARRAY(), Row(a=1, b=None)))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.least.update(min(self.least.value(), value[1]))
        items = self.items.value()
        items.append(value[1])
        if value[1] % 2:
            self.items.update(items)
        items.append(1000)
        row = self.row.value()
        yield value[0], self.least.value(), list(items), row.a, row.b
        if value[1] > 5:
            self.least.update(None)
            self.row.update(Row(a=2, b=value))
        if value[1] < 0:
            self.items.clear()
            self.row.clear()
            yield value[0], self.least.value(), self.items.value() is None, self.row.value().a, None


def take_less(one: int, other: int) -> int:
    return min(one, other)


FUNCTIONS = {
    "counting": Counting,
    "lists": Lists,
    "waiting": Waiting,
    "rows": Rows,
    "maps": MapStates,
    "combined": Combined,
    "changing": Changing,
    "by clock": ByClock,
    "last": Last,
    "defaults": Defaults,
    "dicts": Dicts,
}
