"""The functions that run scripts name, for real: they compute, trace, fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from penstock.common import OutputTag
from penstock.datastream import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    SinkFunction,
)
from tests.datastream import run_joined_functions, run_time_functions
from tests.datastream.run_notes import (
    IllegalStateException,
    IOException,
    Notes,
    RuntimeException,
    Traced,
    TraceSink,
    rec,
    text,
)

# --- element by element
# -----------------------------------------------------------------------------------------------


class Where(MapFunction):
    def __init__(self, s: str) -> None:
        self.s = s

    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, r: Any) -> Any:
        return rec(r, f"{r[0]}{self.s}{self.subtask}", r[1], r[2])


class Facts(MapFunction):
    def open(self, context: Any) -> None:
        place = f"{context.get_index_of_this_subtask()}/{context.get_number_of_parallel_subtasks()}"
        names = f"{context.get_task_name()}|{context.get_task_name_with_subtasks()}"
        self.facts = f"{names}|{place}/{context.get_max_number_of_parallel_subtasks()}|{context.get_attempt_number()}"

    def map(self, value: Any) -> str:
        return self.facts


class MutateInput(MapFunction):
    def __init__(self, n: int) -> None:
        self.n = n

    def map(self, r: Any) -> Any:
        r[1] += self.n
        return r


class MutateAfter(FlatMapFunction):
    """Changes a record after it was emitted, and emits it again."""

    def __init__(self, n: int) -> None:
        self.n = n

    def flat_map(self, r: Any) -> Any:
        yield r
        r[1] += self.n
        yield r


class Previous(FlatMapFunction):
    """Emits a copy of the record before, as it looks by now."""

    def __init__(self) -> None:
        self.kept: Any = None

    def flat_map(self, r: Any) -> Any:
        if self.kept is not None:
            yield rec(r, *self.kept)
        self.kept = r


class Reused(FlatMapFunction):
    def __init__(self) -> None:
        self.one: list[Any] = ["", 0, 0]

    def flat_map(self, r: Any) -> Any:
        self.one[:] = r
        yield self.one


class Trace(Traced, MapFunction):
    def map(self, r: Any) -> Any:
        self.trace(f"{self.name} {text(r)}")
        return r


class TraceFlat(Traced, FlatMapFunction):
    """Traces before and after what it emits."""

    def __init__(self, notes: Notes, name: str, count: int) -> None:
        super().__init__(notes, name)
        self.count = count

    def flat_map(self, r: Any) -> Any:
        self.trace(f"{self.name} {text(r)} {{")
        for i in range(self.count):
            yield rec(r, r[0], i, r[2])
        self.trace(f"{self.name} }}")


class TraceFilter(Traced, FilterFunction):
    def __init__(self, notes: Notes, name: str, m: int) -> None:
        super().__init__(notes, name)
        self.m = m

    def filter(self, r: Any) -> bool:
        self.trace(f"{self.name} {text(r)}")
        return r[1] % self.m == 0


class TraceProc(Traced, ProcessFunction):
    """Traces before and after its side output and its main output."""

    def process_element(self, r: Any, ctx: Any) -> Any:
        self.trace(f"{self.name} {text(r)} {{")
        yield OutputTag("t0"), r
        yield r
        self.trace(f"{self.name} }}")


class Split(ProcessFunction):
    def __init__(self, m: int) -> None:
        self.m = m

    def process_element(self, r: Any, ctx: Any) -> Any:
        rest = r[1] % self.m
        yield r if rest == 0 else (OutputTag(f"t{rest}"), r)


class Both(ProcessFunction):
    """A side output, then the main output."""

    def __init__(self, m: int) -> None:
        self.m = m

    def process_element(self, r: Any, ctx: Any) -> Any:
        yield OutputTag(f"t{r[1] % self.m}"), r
        yield r


# --- with state
# -------------------------------------------------------------------------------------------------------


class Defaults(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.state = runtime_context.get_state(SimpleNamespace(name="d", default_value=7))

    def process_element(self, r: Any, ctx: Any) -> Any:
        before = self.state.value()
        if r[1] == 0:
            self.state.clear()
        else:
            self.state.update(before + r[1])
        yield f"{ctx.get_current_key()} {before}->{self.state.value()}"
        yield OutputTag("s"), f"side {text(r)}"


class Sum(ReduceFunction):
    def reduce(self, a: Any, b: Any) -> Any:
        return rec(a, a[0], a[1] + b[1], max(a[2], b[2]))


class Join(ReduceFunction):
    """Shows the order of reduction in the key."""

    def reduce(self, a: Any, b: Any) -> Any:
        return rec(a, f"{a[0]}|{b[0]}{b[1]}", a[1] + b[1], b[2])


class Avg(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator: Any) -> str:
        return f"{accumulator[0]}/{accumulator[1]}"

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class ModPart(Partitioner):
    def partition(self, key: Any, num_partitions: int) -> int:
        return key % num_partitions


# --- failing
# ----------------------------------------------------------------------------------------------------------


class FailSink(SinkFunction):
    def invoke(self, value: Any, context: Any = None) -> None:
        raise IllegalStateException("in sink")


class FailOn(MapFunction):
    def __init__(self, v: int, message: str) -> None:
        self.v, self.message = v, message

    def map(self, r: Any) -> Any:
        if r[1] == self.v:
            raise IllegalStateException(self.message)
        return r


class FailAt(MapFunction):
    """Fails at a point of its life."""

    def __init__(self, where: str) -> None:
        self.where = where

    def _fail(self, where: str) -> None:
        if where == self.where:
            raise IOException(f"in {where}") from (RuntimeException("the cause") if where == "map" else None)

    def open(self, runtime_context: Any) -> None:
        self._fail("open")

    def map(self, value: Any) -> Any:
        self._fail("map")
        return value

    def close(self) -> None:
        self._fail("close")


class FailAttempts(Traced, MapFunction):
    def __init__(self, notes: Notes, n: int, v: int) -> None:
        Traced.__init__(self, notes, "")
        self.n, self.v = n, v

    def open(self, runtime_context: Any) -> None:
        self.attempt = runtime_context.get_attempt_number()
        self.name = f"attempt {self.attempt}"
        super().open(runtime_context)

    def map(self, r: Any) -> Any:
        if r[1] == self.v and self.attempt < self.n:
            raise IllegalStateException(self.name)
        return rec(r, f"{r[0]}#{self.attempt}", r[1], r[2])


class FailReduce(ReduceFunction):
    def reduce(self, a: Any, b: Any) -> Any:
        raise IllegalStateException("in reduce")


# --- by name
# ----------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Any] = {
    **run_time_functions.FUNCTIONS,
    **run_joined_functions.FUNCTIONS,
    "Add": lambda n: lambda r: rec(r, r[0], r[1] + n, r[2]),
    "Mul": lambda n: lambda r: rec(r, r[0], r[1] * n, r[2]),
    "Key": lambda s: lambda r: rec(r, r[0] + s, r[1], r[2]),
    "ModKey": lambda n: lambda r: rec(r, f"k{r[1] % n}", r[1], r[2]),
    "Text": lambda s: lambda r: s + text(r),
    "Repeat": lambda n: lambda r: [rec(r, r[0], i, r[2]) for i in range(r[1] % n)],
    "Mod": lambda m, x: lambda r: r[1] % m == x,
    "Less": lambda n: lambda r: r[1] < n,
    "NotLess": lambda n: lambda r: r[1] >= n,
    "KeyIs": lambda s: lambda r: r[0] == s,
    **{
        function.__name__: function
        for function in (
            *(Where, Facts, MutateInput, MutateAfter, Previous, Reused, Split, Both, Defaults, Sum, Join, Avg),
            *(ModPart, FailSink, FailOn, FailAt, FailReduce),
        )
    },
}
"""Makers of functions by name."""

TRACED: dict[str, Any] = {
    **run_time_functions.TRACED,
    **run_joined_functions.TRACED,
    **{function.__name__: function for function in (Trace, TraceFlat, TraceFilter, TraceProc, TraceSink, FailAttempts)},
}
"""Makers that are given the notes first."""

TEXTS = run_time_functions.TEXTS | run_joined_functions.TEXTS | {"Text", "Facts", "Defaults", "Avg"}
"""Functions that emit text."""

MUTABLE = frozenset({"MutateInput", "MutateAfter", "Previous", "Reused"})
"""Functions that change records in place, or see that others do."""


def function(name: str, arguments: list[Any], notes: Notes) -> Any:
    """A new function of a script; None if there is none of that name."""
    if name in TRACED:
        return TRACED[name](notes, *arguments)
    return FUNCTIONS[name](*arguments) if name in FUNCTIONS else None
