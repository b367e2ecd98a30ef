"""Random programs: their records are those of a plain Python computation, with and without chaining, at any
parallelism."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import OutputTag, Types
from penstock.datastream import DataStream, ProcessFunction, StreamExecutionEnvironment
from penstock.datastream.data_stream import SingleOutputStreamOperator

TAG = OutputTag("rest", Types.INT())
STEPS = ("add", "keep", "repeat", "union", "split", "count", "rebalance", "rescale", "shuffle", "broadcast", "custom")


class Split(ProcessFunction):
    """Even records go on, odd ones go aside."""

    def process_element(self, value, ctx):
        if value % 2:
            yield TAG, value
        else:
            yield value


@dataclass
class Step:
    """One step of a random program.

    Attributes:
        kind: one of STEPS.
        inputs: which earlier streams it reads, as fractions of their number.
        amount: a small number that the step works with.
        parallelism: of its operator.
    """

    kind: str
    inputs: tuple[int, int]
    amount: int
    parallelism: int


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(STEPS),
        st.tuples(st.integers(0, 20), st.integers(0, 20)),
        st.integers(1, 4),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=8,
)


def spread(stream: DataStream, step: Step) -> DataStream:
    """The stream partitioned by the step's kind, if it is a partitioner."""
    if step.kind == "custom":
        return stream.partition_custom(lambda key, n: key % n, lambda value: value)
    return getattr(stream, step.kind)() if step.kind in STEPS[6:10] else stream


def add(stream: DataStream, other: DataStream, step: Step, factor: int) -> list[DataStream]:
    """Apply a step with Penstock: the streams it makes."""
    amount, parallelism = step.amount, 1 + (step.parallelism * factor - 1) % 3
    if step.kind == "union":
        return [stream.union(other)]
    if step.kind == "keep":
        made: SingleOutputStreamOperator = stream.filter(lambda value: value % (amount + 1) != 0)
    elif step.kind == "repeat":
        made = stream.flat_map(lambda value: [value] * (abs(value) % amount), Types.INT())
    elif step.kind == "split":
        made = stream.process(Split(), Types.INT())
    elif step.kind == "count":
        ones = stream.map(lambda value: (value % amount, 1), Types.TUPLE([Types.INT(), Types.INT()]))
        counted = ones.key_by(0).sum(1).set_parallelism(parallelism)
        made = counted.map(lambda pair: pair[0] * 1000 + pair[1], Types.INT())
    else:
        made = spread(stream, step).map(lambda value: value + amount, Types.INT())
    made.set_parallelism(parallelism)
    return [made, made.get_side_output(TAG)] if step.kind == "split" else [made]


def compute(values: Counter[int], other: Counter[int], step: Step, copies: int) -> list[Counter[int]]:
    """Apply a step to bags of records."""
    amount = step.amount
    if step.kind == "union":
        return [values + other]
    if step.kind == "keep":
        return [bag({v: n for v, n in values.items() if v % (amount + 1) != 0})]
    if step.kind == "repeat":
        return [bag({v: n * (abs(v) % amount) for v, n in values.items()})]
    if step.kind == "split":
        return [bag({v: n for v, n in values.items() if v % 2 == odd}) for odd in (0, 1)]
    if step.kind == "count":
        totals: Counter[int] = Counter()
        for value, number in values.items():
            totals[value % amount] += number
        return [Counter(key * 1000 + i for key, total in totals.items() for i in range(1, total + 1))]
    return [bag({v + amount: n * (copies if step.kind == "broadcast" else 1) for v, n in values.items()})]


def bag(counts: dict[int, int]) -> Counter[int]:
    return Counter({value: number for value, number in counts.items() if number})


def expected(program: list[Step], values: list[int], factor: int) -> Counter[int]:
    streams = [Counter(values)]
    for step in program:
        one, two = (streams[i % len(streams)] for i in step.inputs)
        streams += compute(one, two, step, 1 + (step.parallelism * factor - 1) % 3)
    return streams[-1]


def run(program: list[Step], values: list[int], factor: int, chaining: bool) -> Counter[Any]:
    environment = StreamExecutionEnvironment.get_execution_environment(executor="local")
    if not chaining:
        environment.disable_operator_chaining()
    streams: list[DataStream] = [environment.from_collection(values, Types.INT())]
    for step in program:
        one, two = (streams[i % len(streams)] for i in step.inputs)
        streams += add(one, two, step, factor)
    return Counter(streams[-1].execute_and_collect())


@given(steps, st.lists(st.integers(-50, 50), max_size=12), st.booleans())
@settings(max_examples=60)
def test_random_programs(program: list[Step], values: list[int], chaining: bool) -> None:
    for factor in (1, 2):
        assert run(program, values, factor, chaining) == expected(program, values, factor)
