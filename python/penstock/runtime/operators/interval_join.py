"""IntervalJoin: pairs of two keyed streams whose timestamps lie within bounds of each other (Flink 1.11:
``IntervalJoinOperator``). Both sides are buffered per key until the watermark says that no partner can come any
more. A record with a timestamp below the watermark is dropped. Results carry the larger timestamp of the two. Cost:
O(buffered times of the key) per record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from penstock.common import contexts
from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.signals import MIN_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import KeyedStage
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.operators.native_join import PAIRS, NativeJoin
from penstock.runtime.operators.process_stages import process_stages
from penstock.runtime.operators.two_inputs import LiveTwoInputs, TwoInputOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.timers import Timer
from penstock.runtime.state.tracked_tables import frozen
from penstock.runtime.usercode.functions import bind

LEFT, RIGHT = "left-buffer", "right-buffer"
"""Flink's names of the states; namespaces of their cleanup timers here."""


class JoinContext(contexts.JoinContext):
    """The ``ctx`` of a ProcessJoinFunction."""

    __slots__ = ("_left", "_right")

    def __init__(self) -> None:
        self._left = self._right = MIN_WATERMARK  # until the first pair

    def __repr__(self) -> str:
        return f"<JoinContext left={self._left} right={self._right}>"

    def get_left_timestamp(self) -> int:
        return self._left

    def get_right_timestamp(self) -> int:
        return self._right

    def get_timestamp(self) -> int:
        return max(self._left, self._right)


class _Buffer:
    """One side: records by time, given back in the order of a Java HashMap, which never shrinks."""

    __slots__ = ("buckets", "times")

    def __init__(self) -> None:
        self.times: dict[int, list[Any]] = {}
        self.buckets = 16

    def add(self, time: int, value: Any) -> None:
        self.times.setdefault(time, []).append(value)
        if len(self.times) > self.buckets * 3 // 4:
            self.buckets *= 2

    def between(self, first: int, last: int) -> list[int]:
        times = [time for time in self.times if first <= time <= last]
        if len(times) > 1:
            mask = self.buckets - 1
            times.sort(key=lambda time: ((h := time ^ time >> 32) ^ (h & 0xFFFFFFFF) >> 16) & mask)
        return times


def buffer_of(records: Iterable[tuple[int, list[Any]]]) -> object:
    """One side of a join as it is kept, from its records by time."""
    buffer = _Buffer()
    for time, values in records:
        for value in values:
            buffer.add(time, value)
    return buffer


class _IntervalJoin(LiveTwoInputs):
    def __init__(self, context: OperatorContext, output: CountingOutput, spec: IntervalJoin) -> None:
        super().__init__(context, output, spec)
        assert context.state is not None
        self._state: KeyedState = context.state
        self._lower, self._upper = spec.lower, spec.upper
        self._contexts = JoinContext(), JoinContext()  # for the records of either input
        context.time.use_timers(self._state, self._clean, self._clean)

    def keyed_stage(self, functions: ModuleType, number: int) -> KeyedStage | None:
        if self._stages is None:
            kind = partial(NativeJoin, (self._lower, self._upper), (LEFT, RIGHT), _Buffer, self._join_all)
            self._stages = process_stages(functions, self, self._programs or PAIRS, self._keys, kind) or []
        return self._stages[number - 1] if self._stages else None

    def _join_all(self, number: int, pairs: Iterable[Any]) -> None:
        """Call the function for pairs, each with key and both timestamps, that records of an input have made."""
        resume, emit, fail = self._state.resume, self.emit, self.context.fail
        join, ctx = bind(self.function, "process_element"), self._contexts[number]
        for key, left, right, ctx._left, ctx._right in pairs:
            resume(key, key)
            try:
                emit(join(left, right, ctx), ctx._left if ctx._left > ctx._right else ctx._right)
            except Exception as error:
                raise fail(error) from error

    def input(self, number: int) -> Collector:
        return self.with_key_of(number, self._side(number == 1))

    def _side(self, left: bool) -> Collector:
        lower, upper = (self._lower, self._upper) if left else (-self._upper, -self._lower)
        side, other = (LEFT, RIGHT) if left else (RIGHT, LEFT)
        state, time, fail, ctx = self._state, self.context.time, self.context.fail, self._contexts[0 if left else 1]
        join, tracked = bind(self.function, "process_element"), state.changes is not None
        emit, later = self.emit, max(upper, 0)

        def process(value: Any, timestamp: int | None) -> None:
            if timestamp is None:
                raise fail(
                    InvalidProgramError(
                        "A record of an interval join has no timestamp. Call assign_timestamps_and_watermarks before "
                        "key_by.",
                        flink_class="org.apache.flink.util.FlinkException",
                    )
                )
            if timestamp < time.watermark:
                return
            state.table(side).setdefault(state.slot, _Buffer()).add(timestamp, value)
            partners: _Buffer | None = state.table(other).get(state.slot)
            if partners is not None:
                for when in partners.between(timestamp + lower, timestamp + upper):
                    end = timestamp if timestamp > when else when
                    for partner in partners.times[when]:
                        # for each pair, as what runs behind may read the context that a function has kept
                        ctx._left, ctx._right = (timestamp, when) if left else (when, timestamp)
                        try:
                            emit(join(value, partner, ctx) if left else join(partner, value, ctx), end)
                        except Exception as error:
                            raise fail(error) from error
                        if tracked and not frozen(partner):  # the function may have changed it
                            state.table(other)[state.slot] = partners
            time.register_event_time(timestamp + later, side)

        return process

    def _clean(self, timer: Timer) -> None:
        """No partner can come any more for the records of a time."""
        if timer.namespace not in (LEFT, RIGHT):
            return  # of another operator, that had this ID in an earlier program
        table = self._state.table(timer.namespace)
        upper = self._upper if timer.namespace == LEFT else -self._lower
        buffer: _Buffer | None = table.get(timer.slot)
        if buffer is not None:
            buffer.times.pop(timer.time - max(upper, 0), None)
            if buffer.times:
                table[timer.slot] = buffer  # which tells that it has changed
            else:
                del table[timer.slot]


@dataclass(frozen=True, eq=False)
class IntervalJoin(TwoInputOperator):
    """Joins by intervals. ``f`` is an object with ``process_element(left, right, ctx)``, or a callable of that form."""

    keeps_output = True
    live = _IntervalJoin

    lower: int  # how far a right record's time may be from a left one's, both included, in milliseconds
    upper: int
