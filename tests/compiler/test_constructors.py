"""Objects that programs make: what CPython makes, or Doubt; and what stays in Python, and why."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import pytest

from penstock import _native
from penstock.common import Configuration, Types
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment, ValueStateDescriptor
from penstock.errors import JobExecutionError
from penstock.runtime.constants import ProgramText
from penstock.runtime.keys.partition import only_day
from penstock.runtime.native import program
from tests.compiler.reference import Doubt, Program


@dataclass
class Point:
    x: Any
    y: Any = 3
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frozen:
    x: Any
    y: Any = field(default=1, kw_only=True)


class Sensor:
    """The order of its attributes is another one than that of its parameters."""

    unit = "m"

    def __init__(self, name: str, level: Any, time: int = 7) -> None:
        """Keep a level in another unit."""
        self.name = name.strip()
        self.time = time
        self.level: int = level * 100
        self.key = self.name + str(self.time)


class Base:
    pass


class Derived(Base):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value
        if value:
            self.value = -value


class Inherited(Sensor):
    pass


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a, self.b = a, 0


@dataclass
class Checked:
    x: int

    def __post_init__(self) -> None:
        self.x += 1


@dataclass
class Given:
    x: InitVar[int]
    y: int = field(default=3, init=False)


class Perhaps:
    def __init__(self, value: Any) -> None:
        if value:
            self.value = value


class Private:
    def __init__(self, value: Any) -> None:
        self.__value = value


class Shouting:
    def __init__(self, value: Any) -> None:
        print(value)
        self.value = value


class Registered:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.itself = self


class Calling:
    def __init__(self, value: Any) -> None:
        self.value = self.doubled(value)

    def doubled(self, value: Any) -> Any:
        return value * 2


class Setting:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value + 1)


class New:
    def __new__(cls, value: Any) -> New:
        return object.__new__(cls)

    def __init__(self, value: Any) -> None:
        self.value = value


class Pair(NamedTuple):
    a: int


class Color(Enum):
    RED = 1


class Pickled:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> Any:
        return Pickled, (self.value,)


def attributes(value: Any) -> Any:
    """Class and attributes of an object, in order; of others their type and value."""
    if isinstance(value, tuple | list):
        return type(value), [attributes(item) for item in value]
    names = vars(value) if hasattr(value, "__dict__") else getattr(type(value), "__slots__", ())
    return type(value), [(name, attributes(getattr(value, name))) for name in names] or repr(value)


RECORDS: list[Any] = [0, 1, -7, 2.5, "a", None, 1 << 62, "  b "]
MAKING: list[Callable[[Any], Any]] = [
    lambda v: Point(v),
    lambda v: Point(y=v, x=1),
    lambda v: [Point(1, v, ["a", "b"]), Point(v, 2, tags=[])],
    lambda v: Frozen(v),
    lambda v: (v, Frozen(y=v, x=v)),
    lambda v: Sensor("a ", v),
    lambda v: Sensor(v, 1, time=2),
    lambda v: Derived(v),
    lambda v: Inherited(level=1, name=v),
    lambda v: Slotted(v),
    lambda v: Point(Sensor("x", 1).level, Point(v).x),
]
REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda v: Checked(v), "has a __post_init__()"),
    (lambda v: Given(v), "has other attributes than parameters"),
    (lambda v: Perhaps(v), "__init__ assigns self.value in some cases only"),
    (lambda v: Private(v), "__init__ assigns self.__value, which has another name outside of the class"),
    (lambda v: Shouting(v), "print() prints"),
    (lambda v: Registered(v), "reads self, an object, which is not plain data"),
    (lambda v: Calling(v), ".doubled() is not a method"),
    (lambda v: Setting(v), "calls Setting(), which is not known to have no effects"),
    (lambda v: New(v), "calls New(), which is not known to have no effects"),
    (lambda v: Pair(v), "calls Pair(), which is not known to have no effects"),
    (lambda v: Color(v), "calls Color(), which is not known to have no effects"),
    (lambda v: Bare(), "calls Bare(): __init__ assigns no attribute"),
    (lambda v: Point(), "Point() is called without x"),
    (lambda v: Point(v, z=1), "Point() with z cannot be translated"),
    (lambda v: Point(*v), "Point() with * cannot be translated"),
    (lambda v: Sensor(v), "Sensor() is called without level"),
]


class Bare:
    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("function", MAKING)
def test_objects_are_those_of_python(function: Callable[[Any], Any]) -> None:
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Compiled), str(compiled)
    reference = Program(compiled.program)
    stages = _native.Pipeline([("map", program(_native, compiled.program))])
    for record in RECORDS:
        try:
            expected = attributes(function(record))
        except Exception:
            with pytest.raises(Doubt):
                reference.run(record)
            expected = None
        batch = _native.Batch.of([record])
        assert batch is not None
        out, _, done, in_doubt = stages.run(batch, 0, 1)
        assert in_doubt or (done == 1 and out is not None)
        if expected is not None:
            assert attributes(reference.run(record)) == expected
        if out is not None:
            assert attributes(out[0]) == expected


@pytest.mark.parametrize(("function", "reason"), REFUSED)
def test_other_classes_stay_in_python(function: Callable[[Any], Any], reason: str) -> None:
    refusal = compile_function(function, "map")
    assert isinstance(refusal, Refusal)
    assert reason in refusal.reason
    assert refusal.line is not None


def test_native_code_knows_which_objects_are_more_than_their_attributes() -> None:
    compiled = compile_function(lambda v: Pickled(v), "map")
    assert isinstance(compiled, Compiled)
    assert program(_native, compiled.program) is None
    assert program(_native, ProgramText(str(compiled.program), [(Sensor, ("level",))])) is None


def test_a_program_travels_with_its_classes() -> None:
    compiled = compile_function(lambda v: Sensor("a", v), "map")
    assert isinstance(compiled, Compiled)
    copied = pickle.loads(pickle.dumps(compiled.program))
    assert copied == compiled.program
    assert copied.classes == ((Sensor, ("name", "time", "level", "key")),)


def test_a_program_of_days_makes_the_same_objects() -> None:
    compiled = compile_function(lambda v: Point(v).x, "key")
    assert isinstance(compiled, Compiled)
    days = only_day(compiled.program)
    assert isinstance(days, ProgramText)
    assert days.classes == ((Point, ("x", "y", "tags")),)
    assert program(_native, days) is not None


class Highest(KeyedProcessFunction):
    """Keeps the sensor with the highest level."""

    def open(self, runtime_context: Any) -> None:
        self.highest = runtime_context.get_state(ValueStateDescriptor("highest", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        highest = self.highest.value()
        if highest is None or value.level > highest.level:
            self.highest.update(value)
            yield Point(value.name, value.level)


def results_of(way: str, lines: list[str]) -> Any:
    settings = Configuration({"penstock.native": way})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(2)
    parts = env.from_collection(lines, Types.STRING()).map(lambda line: line.split(","))
    sensors = parts.map(lambda part: Sensor(part[0], int(part[1]), int(part[2])))
    by_name = sensors.filter(lambda sensor: sensor.level > 0).key_by(lambda sensor: sensor.name)
    summed = by_name.reduce(lambda a, b: Sensor(a.name, (a.level + b.level) // 100, b.time))
    seen = summed.map(lambda sensor: Point(sensor.key, sensor.level)).union(by_name.process(Highest()))
    try:
        with seen.execute_and_collect() as results:
            return sorted(map(repr, results))
    except JobExecutionError as error:
        return str(error)


@pytest.mark.parametrize("more", [[], ["b,x,1"], ["c,1"], [f"c,{1 << 61},1"]])
def test_programs_of_objects_give_the_same(more: list[str]) -> None:
    lines = [f"{'ab'[number % 2]} ,{number * 7 % 11 - 1},{number}" for number in range(200)]
    assert results_of("auto", lines + more) == results_of("off", lines + more)
