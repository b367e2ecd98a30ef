"""Descriptors of state: what a state is called and what is in it. Plain frozen data.

Source of the names: ``pyflink.datastream.state``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from penstock.common import checks
from penstock.common.state import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.common.typeinfo import TypeInformation
from penstock.errors import UnsupportedError

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")
IN_contra = TypeVar("IN_contra", contravariant=True)
OUT_co = TypeVar("OUT_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)


class Reduces(Protocol[IN_contra, OUT_co]):
    """An object that reduces, such as a ReduceFunction."""

    def reduce(self, value1: IN_contra, value2: IN_contra, /) -> OUT_co:
        """The combination of two values."""
        ...


class Folds(Protocol[IN_contra, T]):
    """An object that folds (Flink: ``FoldFunction``)."""

    def fold(self, accumulator: T, value: IN_contra, /) -> T:
        """The value so far with one more record."""
        ...


class Aggregates(Protocol[IN_contra, OUT_co]):
    """An object that aggregates, such as an AggregateFunction."""

    def create_accumulator(self) -> Any:
        """The accumulator of nothing."""
        ...

    def add(self, value: IN_contra, accumulator: Any, /) -> Any:
        """The accumulator with ``value`` added."""
        ...

    def get_result(self, accumulator: Any, /) -> OUT_co:
        """What an accumulator stands for."""
        ...


@dataclass(frozen=True)
class StateDescriptor(Generic[S_co]):
    """Names a state of the class ``S``.

    Attributes:
        name: unique per operator.
    """

    name: str

    def get_name(self) -> str:
        """The state's name."""
        return self.name

    def enable_time_to_live(self, ttl_config: object) -> None:
        """Not supported.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f"The state {self.name!r} shall forget by the clock: time to live is not supported. Clear it in on_timer()."
        )


@dataclass(frozen=True)
class ValueStateDescriptor(StateDescriptor[ValueState[T]]):
    """Names a value.

    Attributes:
        value_type_info: type of the value, recorded in snapshots; None leaves it undeclared.
        default_value: what ``value()`` gives where there is none.
    """

    value_type_info: TypeInformation[T] | None = None
    default_value: T | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.value_type_info)


@dataclass(frozen=True)
class ListStateDescriptor(StateDescriptor[ListState[T]]):
    """Names a list.

    Attributes:
        elem_type_info: type of the elements, recorded in snapshots; None leaves it undeclared.
    """

    elem_type_info: TypeInformation[T] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.elem_type_info)


@dataclass(frozen=True)
class MapStateDescriptor(StateDescriptor[MapState[K, V]]):
    """Names a map state, or a broadcast state.

    Attributes:
        key_type_info: type of the map's keys.
        value_type_info: type of the map's values.
    """

    key_type_info: TypeInformation[K] | None = None
    value_type_info: TypeInformation[V] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.key_type_info, self.value_type_info)


@dataclass(frozen=True)
class ReducingStateDescriptor(StateDescriptor[ReducingState[T]]):
    """Names a running reduction.

    Attributes:
        reduce_function: a callable of two values, or a ReduceFunction.
        type_info: type of the values, recorded in snapshots; None leaves it undeclared.
    """

    reduce_function: Reduces[T, T] | Callable[[T, T], T]
    type_info: TypeInformation[T] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.type_info)
        checks.function(self.reduce_function, "ReducingStateDescriptor", "reduce")

    def get_reduce_function(self) -> Reduces[T, T] | Callable[[T, T], T]:
        """The reduce function."""
        return self.reduce_function


@dataclass(frozen=True)
class AggregatingStateDescriptor(StateDescriptor[AggregatingState[IN, OUT]]):
    """Names a running aggregation.

    Attributes:
        agg_function: an AggregateFunction.
        state_type_info: type of the accumulator, recorded in snapshots; None leaves it undeclared.
    """

    agg_function: Aggregates[IN, OUT]
    state_type_info: TypeInformation[object] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.state_type_info)
        checks.methods(self.agg_function, "AggregatingStateDescriptor", ("create_accumulator", "add", "get_result"))

    def get_agg_function(self) -> Aggregates[IN, OUT]:
        """The aggregate function."""
        return self.agg_function
