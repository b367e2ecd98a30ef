"""Descriptors of state, with PyFlink's names: what a state is called and what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation
from penstock.errors import UnsupportedError


@dataclass(frozen=True)
class StateDescriptor:
    """Base of the descriptors.

    Attributes:
        name: unique per operator.
        type_info: type of what is kept, recorded in snapshots; None leaves it undeclared.
    """

    name: str
    type_info: TypeInformation | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.type_info)

    def get_name(self) -> str:
        """The state's name."""
        return self.name

    def enable_time_to_live(self, ttl_config: Any) -> None:
        """Not supported.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f"The state {self.name!r} shall forget by the clock: time to live is not supported. Clear it in on_timer()."
        )


@dataclass(frozen=True)
class ValueStateDescriptor(StateDescriptor):
    """Names a value.

    Attributes:
        default_value: what ``value()`` gives where there is none.
    """

    default_value: Any = None


@dataclass(frozen=True)
class ListStateDescriptor(StateDescriptor):
    """Names a list."""

    is_list: ClassVar[bool] = True


@dataclass(frozen=True, init=False)
class ReducingStateDescriptor(StateDescriptor):
    """Names a running reduction.

    Attributes:
        reduce_function: a callable of two values, or a ReduceFunction.
    """

    reduce_function: Any = None

    def __init__(self, name: str, reduce_function: Any, type_info: TypeInformation | None = None) -> None:
        super().__init__(name, type_info)
        checks.function(reduce_function, "ReducingStateDescriptor", "reduce")
        object.__setattr__(self, "reduce_function", reduce_function)

    def get_reduce_function(self) -> Any:
        """The reduce function."""
        return self.reduce_function


@dataclass(frozen=True, init=False)
class AggregatingStateDescriptor(StateDescriptor):
    """Names a running aggregation.

    Attributes:
        agg_function: an AggregateFunction.
    """

    agg_function: Any = None

    def __init__(self, name: str, agg_function: Any, state_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, state_type_info)
        needed = "create_accumulator", "add", "get_result"
        checks.methods(agg_function, "AggregatingStateDescriptor", needed)
        object.__setattr__(self, "agg_function", agg_function)

    def get_agg_function(self) -> Any:
        """The aggregate function."""
        return self.agg_function


@dataclass(frozen=True, slots=True)
class MapStateDescriptor:
    """Names a map state, or a broadcast state.

    Attributes:
        name: unique per operator.
        key_type_info: type of the map's keys.
        value_type_info: type of the map's values.
    """

    name: str
    key_type_info: TypeInformation | None = None
    value_type_info: TypeInformation | None = None

    def __post_init__(self) -> None:
        checks.state(type(self).__name__, self.name, self.key_type_info, self.value_type_info)

    def get_name(self) -> str:
        """The state's name."""
        return self.name
