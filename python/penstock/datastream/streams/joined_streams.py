"""Joins of two streams: in windows, as groups, and by intervals of event time. As in Flink, a window join maps both
inputs to one tagged type, unites, keys and windows them; so plans show two maps and a window. Source: Flink 1.11
``JoinedStreams``, ``CoGroupedStreams``, ``KeyedStream.intervalJoin``."""
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar, overload

from penstock.common import checks
from penstock.common.contexts import JoinContext
from penstock.common.time import Span, milliseconds_of
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import (
    CoGroupFunction,
    FlatJoinFunction,
    JoinFunction,
    KeySelector,
    ProcessJoinFunction,
    Results,
)
from penstock.datastream.program import keys, missing_methods
from penstock.datastream.program.call_site import called
from penstock.datastream.program.program import TimeCharacteristic
from penstock.datastream.streams.connected_streams import check_same_keys, two_inputs
from penstock.datastream.streams.data_stream import DataStream, SingleOutputStreamOperator
from penstock.datastream.streams.keyed_stream import KeyedStream
from penstock.datastream.streams.windowed_stream import Applied, WindowedStream
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators import interval_join
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.windows.assigners import WindowAssigner
from penstock.runtime.windows.evictors import Evictor
from penstock.runtime.windows.functions import CoGroupWindow, Tagged, TaggedKey
from penstock.runtime.windows.triggers import Trigger

A = TypeVar("A", covariant=True)
B = TypeVar("B", covariant=True)
M = TypeVar("M", bound=str, covariant=True)
K = TypeVar("K", covariant=True)
L = TypeVar("L")
T = TypeVar("T")
U = TypeVar("U")


class _Step(missing_methods.Advised):
    """An incomplete join. If another method is called, the error names the next step."""

    _next: ClassVar[str]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, continues with {self._next}>"

    @classmethod
    def _missing(cls, name: str) -> AttributeError:
        return missing_methods.missing(cls, name, {}, hint=f"This join continues with {cls._next}.")


@dataclass(frozen=True, repr=False)
class JoinedStreams(_Step, Generic[A, B, M]):
    """Two streams to join; ``where`` gives the key. ``method`` is the user's function's: ``join`` or ``co_group``."""

    _next = "where(key_selector)"

    first: DataStream[A]
    second: DataStream[B]
    method: M

    def where(
        self, key_selector: KeySelector[A, L] | Callable[[A], L], key_type: TypeInformation[L] | None = None
    ) -> Where[A, B, M, L]:
        """The key of the first stream."""
        return Where(self, KeyPartition(*keys.key_by(None, key_selector, (), key_type, "where"), called("where")))


@dataclass(frozen=True, repr=False)
class Where(_Step, Generic[A, B, M, K]):
    """A join with one key."""

    _next = "equal_to(key_selector)"

    joined: JoinedStreams[A, B, M]
    first_key: KeyPartition

    def equal_to(
        self, key_selector: KeySelector[B, L] | Callable[[B], L], key_type: TypeInformation[L] | None = None
    ) -> EqualTo[A, B, M]:
        """The key of the second stream, of the same type."""
        second_key = KeyPartition(*keys.key_by(None, key_selector, (), key_type, "equal_to"), called("equal_to"))
        one, two = self.first_key.key_type, second_key.key_type
        if one != two and checks.declared(one) and checks.declared(two):
            checks.illegal_argument(
                f"equal_to() has keys of type {two}, where() of type {one}: they could never be equal. "
                "Bring one of them to the other's type."
            )
        return EqualTo(self.joined, self.first_key, second_key)


@dataclass(frozen=True, repr=False)
class EqualTo(_Step, Generic[A, B, M]):
    """A join with both keys."""

    _next = "window(assigner)"

    joined: JoinedStreams[A, B, M]
    first_key: KeyPartition
    second_key: KeyPartition

    def window(self, assigner: WindowAssigner[A | B, Any]) -> WithWindow[A, B, M]:
        """The windows within which records are joined."""
        hint = "Give a window assigner such as TumblingEventTimeWindows.of(Time.seconds(5))."
        checks.instance(assigner, "window", WindowAssigner, hint)
        both = TaggedKey(self.first_key.key_selector, self.second_key.key_selector)
        calls = f"{self.first_key.call} or {self.second_key.call}"
        return WithWindow(self.joined, KeyPartition(both, self.first_key.key_type, calls), assigner)


@dataclass(frozen=True, repr=False)
class WithWindow(_Step, Generic[A, B, M]):
    """A join with keys and windows; a function completes it."""

    _next = "apply(function); call stream methods on its result"

    joined: JoinedStreams[A, B, M]
    key: KeyPartition
    assigner: WindowAssigner[Any, Any]
    own_trigger: Trigger[Any, Any] | None = None
    own_evictor: Evictor[Any] | None = None
    lateness_ms: int = 0

    def trigger(self, trigger: Trigger[Any, Any]) -> WithWindow[A, B, M]:
        """When windows fire, instead of the assigner's default."""
        return replace(self, own_trigger=trigger)

    def evictor(self, evictor: Evictor[Any]) -> WithWindow[A, B, M]:
        """Which records stay in a window when it fires."""
        return replace(self, own_evictor=evictor)

    def allowed_lateness(self, time_ms: int) -> WithWindow[A, B, M]:
        """How many milliseconds after its end a window still takes records."""
        return replace(self, lateness_ms=time_ms)

    @overload
    def apply(
        self: WithWindow[A, B, Literal["join"]],
        func: FlatJoinFunction[A, B, U] | JoinFunction[A, B, U] | Callable[[A, B], U],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]: ...

    @overload
    def apply(
        self: WithWindow[A, B, Literal["co_group"]],
        func: CoGroupFunction[A, B, U] | Callable[[list[A], list[B]], Iterable[U]],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]: ...

    def apply(self, func: Any, output_type: TypeInformation[Any] | None = None) -> SingleOutputStreamOperator[Any]:
        """Join by a function, as :meth:`with_` does. In Java this returns a stream without setters, such as ``uid``."""
        return self._by(func, output_type, "apply")

    @overload
    def with_(
        self: WithWindow[A, B, Literal["join"]],
        func: FlatJoinFunction[A, B, U] | JoinFunction[A, B, U] | Callable[[A, B], U],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]: ...

    @overload
    def with_(
        self: WithWindow[A, B, Literal["co_group"]],
        func: CoGroupFunction[A, B, U] | Callable[[list[A], list[B]], Iterable[U]],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]: ...

    def with_(self, func: Any, output_type: TypeInformation[Any] | None = None) -> SingleOutputStreamOperator[Any]:
        """Join by a function of each pair (``join``), or of the two groups of a key and window (``co_group``)."""
        return self._by(func, output_type, "with_")

    def _by(self, func: Any, output_type: TypeInformation[Any] | None, call: str) -> SingleOutputStreamOperator[Any]:
        checks.function(func, call, self.joined.method)
        checks.type_info(output_type, call)
        tagged = [
            stream._transform("Map", StreamMap(Tagged(side)), None).set_parallelism(stream.transformation.parallelism)
            for side, stream in ((1, self.joined.first), (2, self.joined.second))
        ]
        keyed: KeyedStream[Any, Any] = KeyedStream(tagged[0].union(tagged[1]), self.key)
        windowed: WindowedStream[Any, Any, Any] = WindowedStream(keyed, self.assigner)
        if self.own_trigger is not None:
            windowed.trigger(self.own_trigger)
        if self.own_evictor is not None:
            windowed.evictor(self.own_evictor)
        windowed.allowed_lateness(self.lateness_ms)
        function = CoGroupWindow(func, self.joined.method, isinstance(func, FlatJoinFunction))
        return windowed._add(Applied(function, ("CoGroupWindowFunction",)), output_type)


@dataclass(frozen=True, repr=False)
class IntervalJoin(_Step, Generic[A, B]):
    """Two keyed streams to be joined by intervals of event time."""

    _next = "between(lower_bound, upper_bound)"

    left: KeyedStream[A, object]
    right: KeyedStream[B, object]

    def between(self, lower_bound: Span, upper_bound: Span) -> IntervalJoined[A, B]:
        """How far, relative to a left record's time, a right record's may be; Time, Duration or milliseconds. The
        environment's time characteristic must be EventTime."""
        program = self.left.get_execution_environment()
        if program.get_stream_time_characteristic() is not TimeCharacteristic.EventTime:
            checks.refuse(
                "between() of an interval join: such joins need event time. Call "
                "env.set_stream_time_characteristic(TimeCharacteristic.EventTime) first.",
                "org.apache.flink.streaming.api.datastream.UnsupportedTimeCharacteristicException",
            )
        lower, upper = (milliseconds_of(bound, "between", "bound") for bound in (lower_bound, upper_bound))
        return IntervalJoined(self.left, self.right, lower, upper)


@dataclass(frozen=True, repr=False)
class IntervalJoined(_Step, Generic[A, B]):
    """An interval join with its bounds; a function completes it."""

    _next = "process(function); call stream methods on its result"

    left: KeyedStream[A, object]
    right: KeyedStream[B, object]
    lower_ms: int
    upper_ms: int

    def lower_bound_exclusive(self) -> IntervalJoined[A, B]:
        """Leave out records exactly at the lower bound."""
        return replace(self, lower_ms=self.lower_ms + 1)

    def upper_bound_exclusive(self) -> IntervalJoined[A, B]:
        """Leave out records exactly at the upper bound."""
        return replace(self, upper_ms=self.upper_ms - 1)

    def process(
        self,
        func: ProcessJoinFunction[A, B, U] | Callable[[A, B, JoinContext], Results[U]],
        output_type: TypeInformation[U] | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Records out by ``yield``, for each pair. A callable takes (left, right, context)."""
        checks.function(func, "process", "process_element", "left", "right", "ctx")
        checks.type_info(output_type, "process")
        if self.lower_ms > self.upper_ms:
            checks.illegal_argument(
                f"process() of an interval join from {self.lower_ms} to {self.upper_ms} ms: the lower bound lies "
                "above the upper one (an exclusive bound counts 1 ms). Swap them."
            )
        left, right = self.left.keyed_again(), self.right.keyed_again()  # Flink keys both again
        check_same_keys(left, right, "Interval Join")
        operator = interval_join.IntervalJoin(func, self.lower_ms, self.upper_ms).keyed_by_both(left.key, right.key)
        return two_inputs(left, right, "Interval Join", operator, output_type)
