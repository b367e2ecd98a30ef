"""Process functions that are written at random."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import strategies as st

from penstock.datastream import OutputTag
from tests.runtime.operators import process_functions
from tests.runtime.operators.process_functions import LONG

HELD = "items = self.held.value() or []\n        "
KNOWN = "counts = self.known.value() or {}\n        "
STATEMENTS = [
    "self.number.update(value[1] + (self.number.value() or 0))",
    "self.number.update(self.number.value())",
    "self.number.clear()",
    "self.pair.update(value)",
    "self.pair.clear()",
    "self.pairs.add(value)",
    "self.pairs.add_all([value, (value[0], 7)])",
    "self.pairs.update([pair for pair in self.pairs.get() if pair[1] != value[1]])",
    "self.pairs.update(sorted(self.pairs.get(), key=lambda pair: pair[1])[-3:])",
    "self.pairs.clear()",
    "self.map.put(value[1], value)",
    "self.map[ctx.timestamp() // 10] = value[0], (self.map.get(value[1]) or (0, 0))[1]",
    "self.map.put_all({number: (value[0], number) for number in range(int(value[1]) % 5)})",
    "self.map.remove(value[1])",
    "del self.map[value[1] + 1]",
    "self.map.clear()",
    "for key in self.map.keys():\n            if key % 2:\n                self.map.remove(key)",
    "for key in list(self.map):\n            self.map[key] = (self.map[key][0], key)",
    "yield value[0], value[1] in self.map, self.map.contains(value[1] + 1), self.map.is_empty(), len(self.map.keys())",
    "yield value[0], [(key, item) for key, item in self.map.items()], list(self.map.values()), self.map[value[1]]",
    "self.counts[value] = (self.counts[value] or 0) + 1",
    "self.counts[(value[0], 1)] = len(self.counts.values())",
    "yield list(self.counts.items()),",
    "self.total.add(value)",
    "self.total.clear()",
    "self.mean.add(value)",
    "self.mean.add((value[0], 2 * value[1]))",
    "self.mean.clear()",
    "if value[1] != 3:\n            self.tally.add(value)",
    "self.tally.clear()",
    "self.recent.add((value[0], 1))",
    "yield self.recent.get(), self.tally.get(), value[0]",
    "yield self.total.get(), self.mean.get(), value[1]",
    HELD + "items.append(value)\n        self.held.update(items[-5:])",
    HELD + "items.append(value)\n        self.held.update(items)\n        items.append((value[0], 0))",
    HELD + "yield value[0], len(items), sum(item[1] for item in items)",
    """items = self.held.value()
        if items is None:
            items = []
        items.extend([value, value])
        if value[1] % 2:
            self.held.update(items)""",
    """items = self.held.value()
        if items:
            items[0] = value
            items += [(value[0], 7)]
            for item in items:
                yield item""",
    "items = []\n        items.append(value)\n        self.held.update(items)\n        insort(items, value)",
    "if self.held.value() is not None:\n            yield value[0], 1, 2",
    "self.held.clear()",
    KNOWN + "counts[value[1]] = counts.get(value[1], 0) + 1\n        self.known.update(counts)",
    KNOWN + "counts[value[1] + 1] = 0\n        yield value[0], len(counts), list(counts.items())",
    "self.known.update({value[1]: 1, 2: 2})",
    "self.known.clear()",
    "timers.register_event_time_timer(ctx.timestamp() + int(value[1]))",
    "timers.register_event_time_timer(ctx.timestamp() + 3)",
    "timers.delete_event_time_timer(ctx.timestamp() + 3)",
    "timers.register_processing_time_timer(timers.current_processing_time() + int(value[1]))",
    "timers.register_processing_time_timer(max(30, timers.current_processing_time() + 1))",
    "timers.delete_processing_time_timer(30)",
    "timers.delete_processing_time_timer(timers.current_processing_time() + 2)",
    "yield value[0], timers.current_processing_time(), ctx.time_domain() == TimeDomain.EVENT_TIME",
    "if ctx.time_domain() is not TimeDomain.PROCESSING_TIME:\n            yield value",
    "yield value[0], value[1], timers.current_watermark()",
    "yield ctx.get_current_key(), self.number.value(), ctx.timestamp()",
    "yield value[0], self.last(), len(list(self.pairs.get()))",
    "self.forget(value, ctx)",
    "yield TAG, value[1]",
    "yield OTHER, (value, sum(pair[1] for pair in self.pairs))",
    "for pair in list(self.pairs)[:2]:\n            self.pairs.add((pair[0], -pair[1]))\n            yield pair[1],",
    "if self.number.value() is not None and self.number.value() > 20:\n            return",
]
"""What a written function may do with a value, which is a pair, and its context."""
OF_STATES = [statement for statement in STATEMENTS if "self." in statement]
CLASS = """
class Written({base}):
    def open(self, runtime_context):
        number, held = ValueStateDescriptor("number", LONG), ValueStateDescriptor("held", Types.LIST(PAIR))
        pair, pairs = ValueStateDescriptor("pair", PAIR), ListStateDescriptor("pairs", PAIR)
        entries, counts = MapStateDescriptor("map", LONG, PAIR), MapStateDescriptor("counts", PAIR, LONG)
        total = ReducingStateDescriptor("total", lambda one, other: (one[0], one[1] + other[1]), PAIR)
        mean = AggregatingStateDescriptor("mean", Mean())
        known = ValueStateDescriptor("known", Types.MAP(LONG, LONG))
        tally = AggregatingStateDescriptor("tally", Tally())
        recent = AggregatingStateDescriptor("recent", Recent())
        for descriptor in [tally, recent, known, number, held, pair, pairs, entries, counts, total, mean]:
            expire(descriptor)
        self.number = runtime_context.get_state(number)
        self.held = runtime_context.get_state(held)
        self.tally = runtime_context.get_aggregating_state(tally)
        self.recent = runtime_context.get_aggregating_state(recent)
        self.known = runtime_context.get_state(known)
        self.pair = runtime_context.get_state(pair)
        self.pairs = runtime_context.get_list_state(pairs)
        self.map = runtime_context.get_map_state(entries)
        self.counts = runtime_context.get_map_state(counts)
        self.total = runtime_context.get_reducing_state(total)
        self.mean = runtime_context.get_aggregating_state(mean)

    def last(self):
        pair = self.pair.value()
        return -1 if pair is None else pair[1]

    def forget(self, value, ctx):
        if value[1] > 4:
            self.pair.clear()
            ctx.timer_service().delete_event_time_timer(ctx.timestamp() + 3)
{methods}
"""
NUMBERS = count()
TAG, OTHER = OutputTag("tag", LONG), OutputTag("other", LONG)
BODY = st.lists(st.tuples(st.integers(-1, 3), st.sampled_from(STATEMENTS)), min_size=1, max_size=6)


def written(bodies: dict[str, list[tuple[int, str]]], expire: Callable[[Any], None] = lambda descriptor: None) -> Any:
    """A function whose methods do these statements, each for values of one rest by 4, or for all. ``expire`` may give a
    descriptor a time to live."""
    methods = ""
    for method, body in bodies.items():
        parameter = "timestamp" if method == "on_timer" else "value"
        methods += f"\n    def {method}(self, {parameter}, ctx):\n        timers = ctx.timer_service()\n"
        if method == "on_timer":
            methods += "        value = ctx.get_current_key(), timestamp % 7 + 1\n"
        for rest, statement in body:
            guard = "True" if rest < 0 else f"value[1] % 4 == {rest}"
            if method == "on_timer":
                guard += " and timestamp < 90 and timers.current_processing_time() < 90"  # or they would go on for ever
            lines = statement.replace("\n", "\n    ")
            methods += f"        if {guard}:\n            {lines}\n"
        methods += "        if False:\n            yield\n"
    base = "KeyedCoProcessFunction" if "process_element1" in bodies else "KeyedProcessFunction"
    source, name = CLASS.format(base=base, methods=methods), f"<written {next(NUMBERS)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    variables = {**vars(process_functions), "TAG": TAG, "OTHER": OTHER, "__name__": "written", "expire": expire}
    exec(compile(source, name, "exec"), variables)
    return variables["Written"]()
