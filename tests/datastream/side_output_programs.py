"""Side outputs of every operator that can emit to one, with what they give, for both executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.common import OutputTag, Types, WatermarkStrategy
from penstock.datastream import (
    AllWindowFunction,
    BroadcastProcessFunction,
    CoProcessFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapStateDescriptor,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    SourceFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    WindowFunction,
)
from penstock.datastream.window import TumblingEventTimeWindows

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
PAIRS = [("a", 1), ("b", 2), ("a", 3)]
SIDE = OutputTag("side", Types.STRING())
RULES = MapStateDescriptor("rules", Types.INT(), Types.INT())


def outputs(what: str, value: Any) -> Iterable[Any]:
    """A record for the side output, and one for the main one."""
    yield SIDE, f"{what} {value}"
    yield value


def saying(what: str, timer: Callable[[int], int] | None = None) -> Any:
    """A method that says the number of its first argument, and may set a timer."""

    def method(self: Any, value: Any, ctx: Any) -> Iterable[Any]:
        number = value[1] if isinstance(value, tuple) else value
        if timer is not None:
            ctx.timer_service().register_event_time_timer(timer(number))
        return outputs(what, number)

    return method


def function(base: type, **methods: Any) -> Any:
    return type(f"Saying{base.__name__}", (base,), methods)()


def of_key(self: Any, key: str, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
    return outputs(key, sorted(n for _, n in inputs))


def of_all(self: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
    return outputs("all", sorted(n for _, n in inputs))


PLAIN = function(ProcessFunction, process_element=saying("plain"))
WITH_TIMER = function(
    KeyedProcessFunction, process_element=saying("keyed", lambda number: number), on_timer=saying("timer")
)
BOTH = function(CoProcessFunction, process_element1=saying("first"), process_element2=saying("second"))
KEYED_BOTH = function(
    KeyedCoProcessFunction,
    process_element1=saying("first"),
    process_element2=saying("second", lambda number: 7),
    on_timer=lambda self, timestamp, ctx: outputs("timer", ctx.get_current_key()),
)
RULED_BY = {"process_element": saying("element"), "process_broadcast_element": saying("rule")}
BY_RULE, BY_RULE_AND_KEY = (
    function(base, **RULED_BY) for base in (BroadcastProcessFunction, KeyedBroadcastProcessFunction)
)
OF_ALL, OF_ALL_BY_PROCESS = (
    function(AllWindowFunction, apply=of_all),
    function(ProcessAllWindowFunction, process=of_all),
)
JOINED = function(
    ProcessJoinFunction, process_element=lambda self, left, right, ctx: outputs(left[0], left[1] + right[1])
)
OF_WINDOW, OF_PROCESS_WINDOW = function(WindowFunction, apply=of_key), function(ProcessWindowFunction, process=of_key)


class Late(SourceFunction):
    def run(self, ctx: Any) -> None:
        for n in (1, 30, 2):
            ctx.collect_with_timestamp(("a", n), n)
            ctx.emit_watermark(n)


def pairs(env: StreamExecutionEnvironment) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda pair, _: pair[1])
    return env.from_collection(PAIRS, PAIR).assign_timestamps_and_watermarks(strategy)


def keyed(env: StreamExecutionEnvironment) -> Any:
    return pairs(env).key_by(lambda pair: pair[0], Types.STRING())


def windows(env: StreamExecutionEnvironment) -> Any:
    return keyed(env).window(TumblingEventTimeWindows.of(10))


def rules(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection([9], Types.INT()).broadcast(RULES)


def largest(one: Any, other: Any) -> Any:
    return max(one, other, key=lambda pair: pair[1])


def joined(env: StreamExecutionEnvironment) -> Any:
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    return keyed(env).interval_join(keyed(env)).between(-2, 2).process(JOINED)


def late(env: StreamExecutionEnvironment) -> Any:
    source = env.add_source(Late(), type_info=PAIR).key_by(lambda pair: pair[0], Types.STRING())
    return source.window(TumblingEventTimeWindows.of(10)).side_output_late_data(OutputTag("side", PAIR)).sum(1)


EMITTED: dict[str, tuple[Callable[[StreamExecutionEnvironment], Any], list[Any]]] = {
    "process": (lambda env: pairs(env).process(PLAIN), ["plain 1", "plain 2", "plain 3"]),
    "keyed process and timer": (
        lambda env: keyed(env).process(WITH_TIMER),
        [f"{what} {n}" for what in ("keyed", "timer") for n in (1, 2, 3)],
    ),
    "co process": (
        lambda env: pairs(env).connect(pairs(env)).process(BOTH),
        [f"{what} {n}" for what in ("first", "second") for n in (1, 2, 3)],
    ),
    "keyed co process and timer": (
        lambda env: keyed(env).connect(keyed(env)).process(KEYED_BOTH),
        [*(f"{what} {n}" for what in ("first", "second") for n in (1, 2, 3)), "timer a", "timer b"],
    ),
    "broadcast": (
        lambda env: pairs(env).connect(rules(env)).process(BY_RULE).set_parallelism(1),
        None,
    ),
    "keyed broadcast": (
        lambda env: keyed(env).connect(rules(env)).process(BY_RULE_AND_KEY).set_parallelism(1),
        None,
    ),
    "window apply": (lambda env: windows(env).apply(OF_WINDOW), ["a [1, 3]", "b [2]"]),
    "window process": (lambda env: windows(env).process(OF_PROCESS_WINDOW), ["a [1, 3]", "b [2]"]),
    "window reduce and apply": (lambda env: windows(env).reduce(largest, OF_WINDOW), ["a [3]", "b [2]"]),
    "window reduce and process": (lambda env: windows(env).reduce(largest, OF_PROCESS_WINDOW), ["a [3]", "b [2]"]),
    "count window": (lambda env: keyed(env).count_window(2).process(OF_PROCESS_WINDOW), ["a [1, 3]"]),
    "all windows apply": (
        lambda env: pairs(env).window_all(TumblingEventTimeWindows.of(10)).apply(OF_ALL),
        ["all [1, 2, 3]"],
    ),
    "all windows process": (
        lambda env: pairs(env).window_all(TumblingEventTimeWindows.of(10)).process(OF_ALL_BY_PROCESS),
        ["all [1, 2, 3]"],
    ),
    "interval join": (
        joined,
        ["a 2", "a 4", "a 4", "a 6", "b 4"],
    ),
}
"""By name: the operator, and what it emits to its side output; None stands for all elements and the rule."""

RULED = ["element 1", "element 2", "element 3", "rule 9"]


def side(build: Callable[[StreamExecutionEnvironment], Any]) -> Callable[[StreamExecutionEnvironment], DataStream[Any]]:
    return lambda env: build(env).get_side_output(SIDE)


PROGRAMS = {f"side output of {name}": (side(build), result or RULED) for name, (build, result) in EMITTED.items()}
PROGRAMS["side output of late data"] = (lambda env: late(env).get_side_output(OutputTag("side", PAIR)), [("a", 2)])
PROGRAMS["collect from a keyed stream"] = (keyed, PAIRS)
"""By name: what builds the stream, and its records in any order."""
