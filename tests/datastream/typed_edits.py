"""Random edits of the types of one operator: its keys, records, states, windows, and what it is."""

from __future__ import annotations

import contextlib
import io
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from penstock.cli.program import PlanOnlyExecutor
from penstock.common import Configuration, Row, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.functions import AggregateFunction, ProcessWindowFunction
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.datastream.guarding import KEPT, LOST, REFUSED, asked, pipeline_of
from tests.generator import sinks
from tests.generator.programs import Feed

INT, LONG, DOUBLE, TEXT = Types.INT(), Types.LONG(), Types.DOUBLE(), Types.STRING()
FIRST, SECOND = 6, 12
"""Records of a split by the end of each run."""
OVER = 0.1
"""How many of the jobs have ended before they are edited."""


class Thing(NamedTuple):
    key: Any
    count: int


KEYS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "int": (INT, int),
    "long": (LONG, int),
    "text": (TEXT, str),
    "double": (DOUBLE, float),
    "tuple": (Types.TUPLE([INT, TEXT]), lambda number: (number, "k")),
    "wider tuple": (Types.TUPLE([LONG, TEXT]), lambda number: (number, "k")),
    "undeclared int": (None, int),
    "undeclared text": (None, str),
}
"""Types of keys, and what makes one of a number."""


class Shape(NamedTuple):
    make: Callable[[Any, int], Any]
    count: Callable[[Any], int]
    declared: Callable[[Any], Any]
    field: Any = 1


SHAPES: dict[str, Shape] = {
    "pair": Shape(lambda k, n: (k, n), lambda r: r[1], lambda key: Types.TUPLE([key, INT])),
    "wider pair": Shape(lambda k, n: (k, n), lambda r: r[1], lambda key: Types.TUPLE([key, LONG])),
    "triple": Shape(lambda k, n: (k, n, 7), lambda r: r[1], lambda key: Types.TUPLE([key, INT, INT])),
    "row": Shape(
        lambda k, n: Row(key=k, count=n), lambda r: r["count"], lambda key: _row(key, "key", "count"), "count"
    ),
    "other row": Shape(
        lambda k, n: Row(count=n, key=k), lambda r: r["count"], lambda key: _row(key, "count", "key"), "count"
    ),
    "longer row": Shape(
        lambda k, n: Row(key=k, count=n, more=1),
        lambda r: r["count"],
        lambda key: _row(key, "key", "count", "more"),
        "count",
    ),
    "undeclared pair": Shape(lambda k, n: (k, n), lambda r: r[1], lambda key: None),
    "undeclared triple": Shape(lambda k, n: (k, "x", n), lambda r: r[2], lambda key: None, 2),
    "thing": Shape(Thing, lambda r: r.count, lambda key: None, "count"),
}
"""Records by name."""


def _row(key: Any, *names: str) -> Any:
    return Types.ROW_NAMED(list(names), [key if name == "key" else INT for name in names])


TYPES: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "INT": (INT, int),
    "LONG": (LONG, int),
    "DOUBLE": (DOUBLE, float),
    "STRING": (TEXT, str),
    "undeclared": (None, int),
}
"""Types of states, and what makes a value of a count."""
FUNCTIONS = ("value", "list", "map", "reducing", "aggregating")
WINDOWS: dict[str, Any] = {
    "tumbling": TumblingEventTimeWindows.of(Time.milliseconds(10)),
    "wider": TumblingEventTimeWindows.of(Time.milliseconds(20)),
    "sliding": SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10)),
    "session": EventTimeSessionWindows.with_gap(Time.milliseconds(5)),
    "clock": TumblingProcessingTimeWindows.of(Time.days(100)),
}
OF_WINDOWS = ("reduce", "aggregate", "process")
OPERATORS = (
    "sum",
    "reduce",
    *FUNCTIONS,
    "count reduce",
    "count process",
    *(f"{w} {f}" for w in WINDOWS for f in OF_WINDOWS),
)


@dataclass(frozen=True)
class Spec:
    """A program of one operator with state."""

    operator: str = "sum"
    key: str = "int"
    shape: str = "pair"
    type: str = "INT"
    name: str = "state"
    renamed: bool = False
    lives: bool = False
    lowest: int = 0


class _Sum(AggregateFunction):
    def __init__(self, shape: str) -> None:
        self.shape = shape

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + SHAPES[self.shape].count(value)

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, one: int, other: int) -> int:
        return one + other


class _Counts(AggregateFunction):
    """In a state: adds up what it is given."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: Any) -> int:
        return int(accumulator) + int(value)

    def get_result(self, accumulator: Any) -> int:
        return int(accumulator)

    def merge(self, one: int, other: int) -> int:
        return one + other


class _Whole(ProcessWindowFunction):
    def __init__(self, shape: str) -> None:
        self.shape = shape

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield str(key), sum(map(SHAPES[self.shape].count, elements))


class Counted(KeyedProcessFunction):
    """How many records of its key have come."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def open(self, runtime_context: Any) -> None:
        spec, (declared, make) = self.spec, TYPES[self.spec.type]
        context = runtime_context
        if spec.operator == "value":
            self.state = context.get_state(self._described(ValueStateDescriptor(spec.name, declared)))
            self.add = lambda: self.state.update(make(int(float(self.state.value() or 0)) + 1))
            self.total = lambda: int(float(self.state.value()))
        elif spec.operator == "list":
            self.state = context.get_list_state(self._described(ListStateDescriptor(spec.name, declared)))
            self.add, self.total = (lambda: self.state.add(make(1))), (lambda: sum(1 for _ in self.state.get()))
        elif spec.operator == "map":
            self.state = context.get_map_state(self._described(MapStateDescriptor(spec.name, declared, INT)))
            self.add = lambda: self.state.put(make(1), (self.state.get(make(1)) or 0) + 1)
            self.total = lambda: sum(self.state.values())
        elif spec.operator == "reducing":
            descriptor = ReducingStateDescriptor(spec.name, lambda a, b: make(int(float(a)) + int(float(b))), declared)
            self.state = context.get_reducing_state(self._described(descriptor))
            self.add, self.total = (lambda: self.state.add(make(1))), (lambda: int(float(self.state.get())))
        else:
            descriptor = AggregatingStateDescriptor(spec.name, _Counts(), INT if declared is INT else None)
            self.state = context.get_aggregating_state(self._described(descriptor))
            self.add, self.total = (lambda: self.state.add(1)), (lambda: int(self.state.get()))

    def _described(self, descriptor: Any) -> Any:
        if self.spec.lives:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(100)).build())
        return (
            descriptor.renamed_from("other" if self.spec.name == "state" else "state")
            if self.spec.renamed
            else descriptor
        )

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.add()
        yield str(ctx.get_current_key()), self.total()


class _Times(TimestampAssigner):
    def extract_timestamp(self, value: int, timestamp: int) -> int:
        return value + 30


def build(spec: Spec, env: Any, available: int, ends: bool) -> None:
    (key_type, key), shape = KEYS[spec.key], SHAPES[spec.shape]
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(_Times())
    numbers = env.from_source(Feed(7, available, ends), strategy, "numbers", INT).uid("numbers")
    lowest, declared = spec.lowest, shape.declared(KEYS[spec.key][0] or Types.PICKLED_BYTE_ARRAY())
    records = numbers.map(lambda number: shape.make(key(number % 4 + lowest), 1), declared)
    name = spec.shape
    keyed = records.key_by(lambda record: SHAPES_KEY[name](record), key_type=key_type)
    out = _operator(spec, keyed).uid("c").name("c")
    shown = out.map(_shown(spec)) if spec.operator in ("sum", "reduce") or spec.operator.endswith(" reduce") else out
    sinks.collect(shown, "out", None)


SHAPES_KEY: dict[str, Callable[[Any], Any]] = {
    name: (lambda record: record["key"]) if "row" in name else (lambda record: record[0]) for name in SHAPES
}
"""The key of a record."""


def _shown(spec: Spec) -> Callable[[Any], Any]:
    name = spec.shape
    return lambda record: (str(SHAPES_KEY[name](record)), SHAPES[name].count(record))


def _operator(spec: Spec, keyed: Any) -> Any:
    name = spec.shape

    def both(one: Any, other: Any) -> Any:
        return SHAPES[name].make(SHAPES_KEY[name](one), SHAPES[name].count(one) + SHAPES[name].count(other))

    if spec.operator in FUNCTIONS:
        return keyed.process(Counted(spec))
    if spec.operator == "sum" and spec.shape != "thing":
        return keyed.sum(SHAPES[name].field)
    if spec.operator in ("sum", "reduce"):
        return keyed.reduce(both)
    window, what = spec.operator.split()
    windowed = keyed.count_window(1_000) if window == "count" else keyed.window(WINDOWS[window])
    if what == "reduce":
        return windowed.reduce(both)
    return windowed.aggregate(_Sum(name), _Last()) if what == "aggregate" else windowed.process(_Whole(name))


class _Last(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield from ((str(key), element) for element in elements)


def environment(folder: str, ends: bool, executor: Any) -> Any:
    """Where a program is built that goes on in a checkpoint directory."""
    now = {} if ends else {"penstock.step.available-now": "true"}
    configuration = Configuration.from_dict(
        {"execution.checkpointing.dir": folder, "penstock.step.records": "100", **now}
    )
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor)
    return env.set_parallelism(1)


def random_spec(draw: random.Random) -> Spec:
    return Spec(
        draw.choice(OPERATORS),
        draw.choice(list(KEYS)),
        draw.choice(list(SHAPES)),
        draw.choice(list(TYPES)),
        lives=draw.random() < 0.15,
        lowest=draw.choice([0, 0, -2]),
    )


def edited(draw: random.Random, spec: Spec) -> Spec:
    """The same after some edits, or none."""
    of_windows = [name for name in OPERATORS if " " in name] if " " in spec.operator else list(OPERATORS)
    edits: list[Callable[[Spec], Spec]] = [
        lambda spec: replace(spec, operator=draw.choice(of_windows)),
        lambda spec: replace(spec, operator=draw.choice(OPERATORS)),
        lambda spec: replace(spec, key=draw.choice(list(KEYS))),
        lambda spec: replace(spec, shape=draw.choice(list(SHAPES))),
        lambda spec: replace(spec, shape=draw.choice(list(SHAPES))),
        lambda spec: replace(spec, type=draw.choice(list(TYPES))),
        lambda spec: replace(spec, type=draw.choice(list(TYPES))),
        lambda spec: replace(spec, lives=not spec.lives),
        lambda spec: replace(spec, name="other", renamed=draw.random() < 0.5),
    ]
    for edit in draw.choices(edits, k=draw.choice([0, 1, 1, 1, 1, 2])):
        spec = edit(spec)
    return spec


def pipeline(spec: Spec, folder: str, ends: bool) -> Any:
    planner = PlanOnlyExecutor()
    env = environment(folder, ends, planner)
    build(spec, env, SECOND, ends)
    return pipeline_of(env, planner)


def check(seed: int, root: str, executor: Any = "local", *, guard: bool = True) -> Counter[str]:
    """Run a random program, edit it, ask all commands, run it again, and compare."""
    draw = random.Random(f"typed {seed}")
    before = random_spec(draw)
    after, folder = edited(draw, before), f"{root}/job"
    over = random.Random(f"over {seed}").random() < OVER
    first = environment(folder, over, executor)
    build(before, first, FIRST, over)
    with contextlib.redirect_stderr(io.StringIO()):
        first.execute("typed")
    answers = {} if not guard else asked(pipeline(before, folder, False), folder, pipeline(after, folder, True))
    if over:
        answers.pop("lock", None)  # it knows neither that the job has ended nor what is empty since
    outcome, notice, got = _run(after, folder, executor)
    wrong = {name: f"{answer.outcome}: {answer.text}" for name, answer in answers.items() if not answer.allows(outcome)}
    message = f"typed {seed}: {before} -> {after}: the run is {outcome} ({notice})"
    assert not wrong, f"{message}, and they say {wrong}"
    unknown = [f"unknown, {name}" for name, answer in answers.items() if answer.unknown]
    if outcome != REFUSED and not unknown and not over and _tells(before, after):
        assert _totals(after, got) == _expected(after, outcome), f"{message}, but gives {got}"
    says = [f"{name} says {answer.outcome}{', unknown' * answer.unknown}" for name, answer in answers.items()]
    counted = ["edits asked about", f"edit: {outcome}"] if answers else []
    return Counter([f"typed{', ended' * over}: {outcome}", *says, *counted, *_edits(before, after)])


def _edits(before: Spec, after: Spec) -> list[str]:
    changed = [f"typed: {name}" for name, old in asdict(before).items() if asdict(after)[name] != old]
    return changed or ["typed: nothing"]


def _tells(before: Spec, after: Spec) -> bool:
    """Whether what a program gives at its end is what it has counted."""
    windows = {spec.operator.partition(" ")[0] for spec in (before, after)}
    return not windows & {"clock", "count", "sliding"} and not before.operator.startswith("session")


def _run(spec: Spec, folder: str, executor: Any) -> tuple[str, str, Any]:
    """What becomes of state when a program goes on, what was said, and what the program gives."""
    env, stderr = environment(folder, True, executor), io.StringIO()
    build(spec, env, SECOND, True)
    try:
        with contextlib.redirect_stderr(stderr):
            got = env.execute("typed").collected.get("out", ())
    except Exception as error:  # of a restore, or of the program's own functions, which fail on what they find
        return REFUSED, repr(error), ()
    notice = any(text in stderr.getvalue() for text in ("begin empty", "carried along unread"))
    return LOST if notice else KEPT, stderr.getvalue(), got


def _totals(spec: Spec, got: Any) -> Counter[str]:
    """Of each key all that has been counted at the end."""
    totals: Counter[str] = Counter()
    for key, count in got:
        totals[key] = totals[key] + count if " " in spec.operator else max(totals[key], count)
    return totals


def _expected(spec: Spec, outcome: str) -> Counter[str]:
    """What is counted of all records, or of those that came after the restart."""
    from tests.generator.programs import SPLITS, data

    key, totals = KEYS[spec.key][1], Counter[str]()
    later = {str(key(n % 4 + spec.lowest)) for i in range(SPLITS) for n in data(7, i, SECOND)[FIRST:]}
    for i in range(SPLITS):
        for n in data(7, i, SECOND)[FIRST if outcome == LOST else 0 :]:
            totals[str(key(n % 4 + spec.lowest))] += 1
    return totals if " " in spec.operator else Counter({name: totals[name] for name in later})
