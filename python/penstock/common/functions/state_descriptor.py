"""Descriptors of state: its name, the types in it, its time to live (``pyflink.datastream.state``). Plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from penstock.common import checks
from penstock.common.callables import is_rich
from penstock.common.functions.state import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.common.functions.state_ttl import StateTtlConfig
from penstock.common.typeinfo import TypeInformation

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

    def reduce(self, value1: IN_contra, value2: IN_contra, /) -> OUT_co: ...  # the combination of two values


class Folds(Protocol[IN_contra, T]):
    """An object that folds (Flink: ``FoldFunction``)."""

    def fold(self, accumulator: T, value: IN_contra, /) -> T: ...  # the value so far with one more record


class Aggregates(Protocol[IN_contra, OUT_co]):
    """An object that aggregates, such as an AggregateFunction."""

    def create_accumulator(self) -> Any: ...  # the accumulator of nothing

    def add(self, value: IN_contra, accumulator: Any, /) -> Any: ...  # the accumulator with ``value`` added

    def get_result(self, accumulator: Any, /) -> OUT_co: ...  # the result of an accumulator


class Migration(NamedTuple):
    """A change of the values that a former program has written."""

    version: int  # of the values that it makes
    function: Callable[[Any], Any]  # makes one of an old value; None: it is forgotten


D = TypeVar("D", bound="StateDescriptor[Any]")


@dataclass(frozen=True)
class StateDescriptor(Generic[S_co]):
    """Names a state of the class ``S``. Types are recorded in snapshots; None leaves them undeclared."""

    name: str  # unique per operator
    ttl_config: StateTtlConfig | None = field(default=None, init=False, repr=False, compare=False)
    former_names: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)
    # of values that were written before, in the order of their versions
    migrations: tuple[Migration, ...] = field(default=(), init=False, repr=False, compare=False)
    # of fields that rows and tuples in it have gained, by path
    field_defaults: Mapping[str, Any] = field(default_factory=dict[str, Any], init=False, repr=False, compare=False)

    def get_name(self) -> str:
        """The state's name."""
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let the values of the state end by the clock, for states that are asked for afterwards; the first descriptor
        of a name counts, and in BATCH mode none, as in Flink. InvalidProgramError of a state with a default value, as
        in Flink."""
        hint = "Give StateTtlConfig.new_builder(Time.seconds(5)).build()."
        checks.instance(ttl_config, "enable_time_to_live", StateTtlConfig, hint, ", which is not a StateTtlConfig")
        if ttl_config.is_enabled() and getattr(self, "default_value", None) is not None:
            checks.refuse(
                f"The state {self.name!r} has a default value, which Flink does not give for a state with a time to "
                "live. Leave the default out, and take it where value() gives None."
            )
        object.__setattr__(self, "ttl_config", ttl_config)  # as all that has to do with time and change, set later

    @property
    def version(self) -> int:
        """Of the state's values: that of the last migration, 0 without one."""
        return self.migrations[-1].version if self.migrations else 0

    def renamed_from(self: D, *names: str) -> D:
        """Former names of the state, whose values are taken over, once. Returns the descriptor itself."""
        for name in names:
            checks.text(name, "renamed_from", "name")
        if not names or self.name in names:
            checks.refuse(
                f"renamed_from() of the state {self.name!r} was given {list(names)}. Give the names that it had before."
            )
        object.__setattr__(self, "former_names", (*self.former_names, *names))
        return self

    def migrated_by(self: D, function: Callable[[Any], Any], version: int = 1) -> D:
        """Functions that change the values of a former program. Each goes once through all migrations of later
        versions than its own, 0 without any, and is stored with the last one's. Returns the descriptor itself.

        Args:
            function: makes a new value of an old one: of a value, a reduction or an accumulator, of each element of a
                list, of each value of a map; of all that a key has, a value, a list or a dict, if the state was of
                another kind. None as a result forgets it.
            version: of what it makes, 1 or more, each greater than that of the one before.
        """
        if not callable(function):
            checks.refuse(
                f"migrated_by() of the state {self.name!r} was given {checks.shown(function)}. Give a function of an "
                "old value that returns the new one."
            )
        if type(version) is not int or version <= self.version:
            checks.refuse(
                f"migrated_by() of the state {self.name!r} was given the version {version!r}. Give a whole number "
                f"greater than {self.version}."
            )
        object.__setattr__(self, "migrations", (*self.migrations, Migration(version, function)))
        return self

    def with_field_defaults(self: D, defaults: Mapping[str, Any]) -> D:
        """The values of new fields of rows and tuples in old values, copied for each. Returns the descriptor itself.

        Args:
            defaults: by name, of a tuple ``f2`` and the like; of a record in a record by path, such as ``address.zip``.
        """
        if not isinstance(defaults, Mapping) or not all(isinstance(name, str) for name in defaults):  # pyright: ignore[reportUnnecessaryIsInstance]
            checks.refuse(
                f"with_field_defaults() of the state {self.name!r} was given {checks.shown(defaults)}. Give a dict, "
                "such as {'count': 0}."
            )
        object.__setattr__(self, "field_defaults", {**self.field_defaults, **defaults})
        return self


@dataclass(frozen=True)
class ValueStateDescriptor(StateDescriptor[ValueState[T]]):
    """Names a value."""

    value_type_info: TypeInformation[T] | None = None
    default_value: T | None = None  # what ``value()`` gives where there is none

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.value_type_info)


@dataclass(frozen=True)
class ListStateDescriptor(StateDescriptor[ListState[T]]):
    """Names a list."""

    elem_type_info: TypeInformation[T] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.elem_type_info)


@dataclass(frozen=True)
class MapStateDescriptor(StateDescriptor[MapState[K, V]]):
    """Names a map state, or a broadcast state."""

    key_type_info: TypeInformation[K] | None = None
    value_type_info: TypeInformation[V] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.key_type_info, self.value_type_info)


@dataclass(frozen=True)
class ReducingStateDescriptor(StateDescriptor[ReducingState[T]]):
    """Names a running reduction."""

    reduce_function: Reduces[T, T] | Callable[[T, T], T]
    type_info: TypeInformation[T] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.type_info)
        checks.function(self.reduce_function, "ReducingStateDescriptor", "reduce")
        _refuse_rich(self.reduce_function, "ReducingStateDescriptor", checks.UNSUPPORTED_OPERATION)

    def get_reduce_function(self) -> Reduces[T, T] | Callable[[T, T], T]:
        """The reduce function."""
        return self.reduce_function


@dataclass(frozen=True)
class AggregatingStateDescriptor(StateDescriptor[AggregatingState[IN, OUT]]):
    """Names a running aggregation."""

    agg_function: Aggregates[IN, OUT]
    state_type_info: TypeInformation[object] | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.state_type_info)
        checks.methods(self.agg_function, "AggregatingStateDescriptor", ("create_accumulator", "add", "get_result"))
        _refuse_rich(self.agg_function, "AggregatingStateDescriptor", None)

    def get_agg_function(self) -> Aggregates[IN, OUT]:
        """The aggregate function."""
        return self.agg_function


def _refuse_rich(function: object, call: str, flink_class: str | None) -> None:
    if is_rich(function):
        checks.refuse(
            f"{call}() was given {checks.shown(function)}, which has open() or close(): inside a state they would "
            "never be called. Use a function without them.",
            flink_class,
        )
