"""Every function of a program is opened once in each subtask before its first record, closed once after its last one,
and told where it is: a table of all kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    AllWindowFunction,
    AsyncBatchFunction,
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatJoinFunction,
    FlatMapFunction,
    Function,
    JoinFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    MapStateDescriptor,
    ParallelSourceFunction,
    Partitioner,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    ValueStateDescriptor,
    WindowFunction,
    functions,
)
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import JobExecutionError
from penstock.testing import OneInputTestHarness, TwoInputTestHarness

pytestmark = pytest.mark.filterwarnings("ignore:These settings are neither")
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())
WAYS = [(mode, form) for mode in ("STREAMING", "BATCH") for form in ("fused", "listed")]
P = 2


# --- functions of every kind that take down what happens to them ------------------------------------------------------

RECORDS = [("abcd"[time % 4], time) for time in range(12)]
EVENTS: list[tuple[int, str]] = []
"""(object, what happens to it), in the order of happening. Tasks run in this process, one after the other."""
ALIVE: list[Any] = []
"""Keeps the functions, so that no two of them have one id."""
FACTS: dict[int, tuple[Any, ...]] = {}


class Life:
    fails = False

    def open(self, runtime_context: RuntimeContext) -> None:
        ALIVE.append(self)
        EVENTS.append((id(self), "open"))
        FACTS[id(self)] = (
            runtime_context.get_index_of_this_subtask(),
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_max_number_of_parallel_subtasks(),
            runtime_context.get_attempt_number(),
            runtime_context.get_job_parameter("my.parameter", "none"),
            runtime_context.get_task_name_with_subtasks().removeprefix(runtime_context.get_task_name()),
        )
        self.counter = runtime_context.get_metrics_group().counter("calls")

    def called(self) -> None:
        self.counter.inc()
        EVENTS.append((id(self), "call"))
        if self.fails:
            raise ValueError("on purpose")

    def close(self) -> None:
        EVENTS.append((id(self), "close"))


def _kind(name: str, base: type, **methods: Any) -> Any:
    """A function of a kind that takes down its life."""
    return type(name, (Life, base) if base is not object else (Life,), {"__module__": __name__, **methods})


def gives(self: Life, value: Any) -> Any:
    self.called()
    return value


def gives_list(self: Life, value: Any) -> list[Any]:
    self.called()
    return [value]


def gives_second(self: Life, value1: Any, value2: Any) -> Any:
    self.called()
    return value2


def gives_first(self: Life, value1: Any, value2: Any) -> Any:
    self.called()
    return value1


def keeps(self: Life, value: Any) -> bool:
    self.called()
    return True


def yields(self: Life, value: Any, ctx: Any) -> Iterator[Any]:
    self.called()
    yield value


def takes(self: Life, value: Any, context: Any = None) -> None:
    self.called()


def lists_second(self: Life, context: Any, elements: Any) -> Any:
    self.called()
    return list(elements)


def lists_third(self: Life, key: Any, window: Any, elements: Any) -> Any:
    self.called()
    return list(elements)


def joins(self: Life, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
    self.called()
    yield left


async def awaits(self: Life, value: Any) -> list[Any]:
    self.called()
    return [value]


async def awaits_all(self: Life, values: list[Any]) -> list[Any]:
    self.called()
    return values


def runs(self: Life, ctx: Any) -> None:
    for record in RECORDS:
        self.called()
        ctx.collect_with_timestamp(record, record[1])


def partitions(self: Life, key: Any, num_partitions: int) -> int:
    self.called()
    return ord(key) % num_partitions


Map = _kind("Map", MapFunction, map=gives)
FlatMap = _kind("FlatMap", FlatMapFunction, flat_map=gives_list)
Filter = _kind("Filter", FilterFunction, filter=keeps)
Process = _kind("Process", ProcessFunction, process_element=yields)
KeyedProcess = _kind("KeyedProcess", KeyedProcessFunction, process_element=yields)
Reduce = _kind("Reduce", ReduceFunction, reduce=gives_second)
Folder = _kind("Folder", object, fold=gives_second)
Sink = _kind("Sink", SinkFunction, invoke=takes)
Source = _kind("Source", SourceFunction, run=runs)
ParallelSource = type("ParallelSource", (Source, ParallelSourceFunction), {"__module__": __name__})
CoMap = _kind("CoMap", CoMapFunction, map1=gives, map2=gives)
CoFlatMap = _kind("CoFlatMap", CoFlatMapFunction, flat_map1=gives_list, flat_map2=gives_list)
CoProcess = _kind("CoProcess", CoProcessFunction, process_element1=yields, process_element2=yields)
KeyedCoProcess = _kind("KeyedCoProcess", KeyedCoProcessFunction, process_element1=yields, process_element2=yields)
Broadcast = _kind("Broadcast", BroadcastProcessFunction, process_element=yields, process_broadcast_element=takes)
KeyedBroadcast = _kind(
    "KeyedBroadcast", KeyedBroadcastProcessFunction, process_element=yields, process_broadcast_element=takes
)
Async = _kind("Async", AsyncFunction, async_invoke=awaits)
AsyncBatch = _kind("AsyncBatch", AsyncBatchFunction, async_invoke_batch=awaits_all)
Window = _kind("Window", WindowFunction, apply=lists_third)
ProcessWindow = _kind("ProcessWindow", ProcessWindowFunction, process=lists_third)
AllWindow = _kind("AllWindow", AllWindowFunction, apply=lists_second)
ProcessAllWindow = _kind("ProcessAllWindow", ProcessAllWindowFunction, process=lists_second)
Join = _kind("Join", JoinFunction, join=gives_first)
FlatJoin = _kind("FlatJoin", FlatJoinFunction, join=lambda self, first, second: [gives_first(self, first, second)])
CoGroup = _kind("CoGroup", CoGroupFunction, co_group=lambda self, first, second: list(gives_first(self, first, second)))
ProcessJoin = _kind("ProcessJoin", ProcessJoinFunction, process_element=joins)
Key = _kind("Key", KeySelector, get_key=lambda self, value: gives(self, value)[0])
Part = _kind("Part", Partitioner, partition=partitions)


# --- programs ---------------------------------------------------------------------------------------------------------


class Last(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value2


class Count(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> Any:
        return "a", accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


def environment(mode: str, form: str) -> StreamExecutionEnvironment:
    settings = Configuration.from_dict(
        {"execution.runtime-mode": mode, "penstock.runtime.form": form, "my.parameter": "yes"}
    )
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    env.set_parallelism(P)
    return env


def pairs(env: Any) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[1])
    return env.from_collection(RECORDS, type_info=PAIR).assign_timestamps_and_watermarks(strategy)


def keyed(env: Any) -> Any:
    return pairs(env).key_by(lambda value: value[0], key_type=Types.STRING())


def windows(env: Any) -> Any:
    return keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(100)))


def all_windows(env: Any) -> Any:
    return pairs(env).window_all(TumblingEventTimeWindows.of(Time.milliseconds(100)))


def both(env: Any, call: str, selector: Any = None) -> Any:
    by = selector or (lambda value: value[0])
    joined = getattr(pairs(env), call)(pairs(env)).where(by).equal_to(by)
    return joined.window(TumblingEventTimeWindows.of(Time.milliseconds(100)))


def rules(env: Any) -> Any:
    return env.from_collection(["x"], type_info=Types.STRING()).broadcast(RULES)


Build = Callable[[Any], Any]
BUILD: dict[str, tuple[int, Build]] = {
    "map": (P, lambda env: pairs(env).map(Map())),
    "map of keys": (P, lambda env: keyed(env).map(Map())),
    "flat_map": (P, lambda env: pairs(env).flat_map(FlatMap())),
    "filter": (P, lambda env: pairs(env).filter(Filter())),
    "process": (P, lambda env: pairs(env).process(Process())),
    "keyed process": (P, lambda env: keyed(env).process(KeyedProcess())),
    "reduce": (P, lambda env: keyed(env).reduce(Reduce())),
    "fold": (P, lambda env: keyed(env).fold(("", 0), Folder())),
    "source": (1, lambda env: env.add_source(Source(), type_info=PAIR)),
    "parallel source": (P, lambda env: env.add_source(ParallelSource(), type_info=PAIR)),
    "co-map": (P, lambda env: pairs(env).connect(pairs(env)).map(CoMap())),
    "co-flat_map": (P, lambda env: keyed(env).connect(keyed(env)).flat_map(CoFlatMap())),
    "co-process": (P, lambda env: pairs(env).connect(pairs(env)).process(CoProcess())),
    "keyed co-process": (P, lambda env: keyed(env).connect(keyed(env)).process(KeyedCoProcess())),
    "broadcast": (P, lambda env: pairs(env).connect(rules(env)).process(Broadcast())),
    "keyed broadcast": (P, lambda env: keyed(env).connect(rules(env)).process(KeyedBroadcast())),
    "async batch": (
        P,
        lambda env: AsyncDataStream.ordered_wait_batch(pairs(env), AsyncBatch(), Time.seconds(9), 1, output_type=PAIR),
    ),
    "async": (P, lambda env: AsyncDataStream.ordered_wait(pairs(env), Async(), Time.seconds(9), 9, PAIR)),
    "window apply": (P, lambda env: windows(env).apply(Window())),
    "window process": (P, lambda env: windows(env).process(ProcessWindow())),
    "window reduce and apply": (P, lambda env: windows(env).reduce(Last(), Window())),
    "window aggregate and process": (P, lambda env: windows(env).aggregate(Count(), ProcessWindow())),
    "all windows apply": (1, lambda env: all_windows(env).apply(AllWindow())),
    "all windows process": (1, lambda env: all_windows(env).process(ProcessAllWindow())),
    "join": (P, lambda env: both(env, "join").apply(Join())),
    "flat join": (P, lambda env: both(env, "join").apply(FlatJoin())),
    "co_group": (P, lambda env: both(env, "co_group").apply(CoGroup())),
    "interval join": (P, lambda env: keyed(env).interval_join(keyed(env)).between(-1, 1).process(ProcessJoin())),
    "key selector": (2 * P, lambda env: pairs(env).map(lambda v: v, PAIR).key_by(Key(), Types.STRING()).map(len)),
    "key selector of a reduction": (
        2 * P,
        lambda env: pairs(env).map(lambda v: v, PAIR).key_by(Key(), Types.STRING()).reduce(Last()),
    ),
    "one key selector of two streams": (1 + 1 + P, lambda env: two_by_one_key(env)),
    "key selectors of a join": (1 + 1 + P, lambda env: both(env, "join", Key()).apply(lambda one, other: one)),
    "partitioner": (P, lambda env: custom(env, Part(), lambda v: v[0])),
    "key selector of a partitioner": (P, lambda env: custom(env, lambda key, n: ord(key) % n, Key())),
}
"""How many objects of the function there are, one in each subtask that it runs in, and a program with it."""


def two_by_one_key(env: Any) -> Any:
    key = Key()
    first, second = (pairs(env).key_by(key, Types.STRING()) for _ in range(2))
    return first.connect(second).process(lives_not())


def lives_not() -> Any:
    """A function that is not looked at."""

    class Plain(KeyedCoProcessFunction):
        def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield value

        process_element2 = process_element1

    return Plain()


def custom(env: Any, partitioner: Any, key: Any) -> Any:
    return pairs(env).map(lambda v: v, PAIR).partition_custom(partitioner, key).map(lambda v: v)


def lives() -> list[list[str]]:
    """What has happened to each object."""
    events_of: dict[int, list[str]] = defaultdict(list)
    for one, event in EVENTS:
        events_of[one].append(event)
    return list(events_of.values())


def begin() -> None:
    EVENTS.clear()
    ALIVE.clear()
    FACTS.clear()


@pytest.mark.parametrize(("mode", "form"), WAYS)
@pytest.mark.parametrize("name", [*BUILD, "sink"])
def test_a_function_is_opened_and_closed_once_in_each_subtask(name: str, mode: str, form: str) -> None:
    begin()
    env = environment(mode, form)
    if name == "sink":
        count = P
        pairs(env).add_sink(Sink())
    else:
        count, build = BUILD[name]
        build(env).add_sink(lambda value: None)
    result = env.execute()
    all_lives = lives()
    assert len(all_lives) == count
    calls = 0
    for events in all_lives:
        assert events[0] == "open"
        assert events[-1] == "close"
        assert set(events[1:-1]) <= {"call"}
        calls += len(events) - 2
    assert calls >= count
    assert sum(operator.user.get("calls", 0) for operator in result.metrics.values()) == calls
    for index, parallelism, most, attempt, parameter, suffix in FACTS.values():
        assert 0 <= index < parallelism <= most
        assert (attempt, parameter, suffix) == (0, "yes", f" ({index + 1}/{parallelism})")
    if count == P:
        assert sorted(facts[0] for facts in FACTS.values()) == [*range(P)]


@pytest.mark.parametrize("form", ["fused", "listed"])
@pytest.mark.parametrize("name", [name for name in BUILD if name != "window aggregate and process"])
def test_a_function_that_fails_is_closed(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begin()
    monkeypatch.setattr(Life, "fails", True)
    env = environment("STREAMING", form)
    BUILD[name][1](env).add_sink(lambda value: None)
    with pytest.raises(JobExecutionError, match="on purpose"):
        env.execute()
    for events in lives():
        assert (events[0], events[-1]) == ("open", "close")
        assert (events.count("open"), events.count("close")) == (1, 1)
    assert sum(events.count("call") for events in lives()) == 1 or name.startswith("async")  # two may be under way


KINDS = {
    name
    for name, cls in vars(functions).items()
    if isinstance(cls, type)
    and not hasattr(cls, "__origin__")  # list[str] is a type in Python 3.10
    and issubclass(cls, Function)
    and name not in ("Function", "BaseBroadcastProcessFunction")
}


def test_the_table_has_every_kind() -> None:
    covered = {base.__name__ for cls in Life.__subclasses__() for base in cls.__mro__} | {"ParallelSourceFunction"}
    assert len(KINDS) > 20
    assert KINDS - covered == {"AggregateFunction"}, "they live in windows and states, which refuse those with open()"


# --- order ------------------------------------------------------------------------------------------------------------


class Named(Life, MapFunction):
    def __init__(self, name: str) -> None:
        self.name = name

    def open(self, runtime_context: Any) -> None:
        ORDER.append(f"open {self.name}")

    def map(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        ORDER.append(f"close {self.name}")


class NamedKey(Named, KeySelector):
    def get_key(self, value: Any) -> Any:
        return value[0]


ORDER: list[str] = []


@pytest.mark.parametrize("form", ["fused", "listed"])
def test_the_tail_opens_first_and_a_key_selector_before_its_operator(form: str) -> None:
    ORDER.clear()
    env = environment("STREAMING", form).set_parallelism(1)
    before = env.from_collection(RECORDS, type_info=PAIR).map(Named("a"), PAIR).map(Named("b"), PAIR)
    before.key_by(NamedKey("key"), Types.STRING()).map(Named("c"), PAIR).add_sink(lambda value: None)
    env.execute()
    sender = ["open key", "open b", "open a", "close a", "close b", "close key"]
    receiver = ["open key", "open c", "close c", "close key"]
    assert [*sender, *receiver] == ORDER


# --- state ------------------------------------------------------------------------------------------------------------


class Asking(Key):
    def open(self, runtime_context: RuntimeContext) -> None:
        runtime_context.get_state(ValueStateDescriptor("last"))


class AskingPart(Part):
    open = Asking.open


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda env: pairs(env).key_by(Asking(), Types.STRING()).map(len), r"The key selector of key_by\(\).* behind"),
        (lambda env: custom(env, AskingPart(), lambda v: v[0]), r"The partitioner of partition_custom\(\).* behind"),
    ],
)
def test_what_says_the_key_has_no_state(build: Build, words: str) -> None:
    env = environment("STREAMING", "fused")
    build(env).add_sink(lambda value: None)
    with pytest.raises(JobExecutionError, match=f"{words} operator .* asked for keyed state"):
        env.execute()


@pytest.mark.parametrize("name", ["map", "keyed process", "key selector", "two key selectors"])
def test_a_harness_opens_and_closes_them_too(name: str) -> None:
    begin()
    if name == "two key selectors":
        harness: Any = TwoInputTestHarness(
            lambda one, two: one.connect(two).key_by(Key(), Key(), Types.STRING()).process(lives_not())
        )
        with harness:
            harness.process_element1(("a", 1))
            harness.process_element2(("b", 1))
    else:
        programs: dict[str, Build] = {
            "map": lambda stream: stream.map(Map()),
            "keyed process": lambda stream: stream.key_by(lambda v: v[0], Types.STRING()).process(KeyedProcess()),
            "key selector": lambda stream: stream.key_by(Key(), Types.STRING()).process(KeyedProcess()),
        }
        with OneInputTestHarness(programs[name]) as harness:
            harness.process_element(("a", 1))
    assert lives() == [["open", "call", "close"]] * (2 if "selector" in name else 1)
