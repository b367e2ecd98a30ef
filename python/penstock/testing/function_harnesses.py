"""Harnesses for process functions, by Flink's names (``ProcessFunctionTestHarnesses``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.common import TypeInformation
from penstock.datastream import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapStateDescriptor,
    ProcessFunction,
)
from penstock.testing.inputs import BroadcastTestHarness, OneInputTestHarness, TwoInputTestHarness

IN = TypeVar("IN")
IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")
K = TypeVar("K")


class ProcessFunctionTestHarnesses:
    """Makes harnesses of process functions, with one subtask and undeclared records. For other functions, types or
    parallelisms make a :class:`~penstock.testing.OneInputTestHarness` or the like of a piece of a program."""

    @staticmethod
    def for_process_function(function: ProcessFunction[IN, OUT]) -> OneInputTestHarness[IN, OUT]:
        """A ProcessFunction."""
        return OneInputTestHarness(lambda stream: stream.process(function))

    @staticmethod
    def for_keyed_process_function(
        function: KeyedProcessFunction[K, IN, OUT],
        key_selector: Callable[[IN], K],
        key_type: TypeInformation[K] | None = None,
    ) -> OneInputTestHarness[IN, OUT]:
        """A KeyedProcessFunction; without ``key_type`` the key is undeclared."""
        return OneInputTestHarness(lambda stream: stream.key_by(key_selector, key_type=key_type).process(function))

    @staticmethod
    def for_co_process_function(function: CoProcessFunction[IN1, IN2, OUT]) -> TwoInputTestHarness[IN1, IN2, OUT]:
        """A CoProcessFunction."""
        return TwoInputTestHarness(lambda one, two: one.connect(two).process(function))

    @staticmethod
    def for_keyed_co_process_function(
        function: KeyedCoProcessFunction[K, IN1, IN2, OUT],
        key_selector1: Callable[[IN1], K],
        key_selector2: Callable[[IN2], K],
        key_type: TypeInformation[K] | None = None,
    ) -> TwoInputTestHarness[IN1, IN2, OUT]:
        """A KeyedCoProcessFunction; without ``key_type`` the key is undeclared."""
        return TwoInputTestHarness(
            lambda one, two: one.connect(two).key_by(key_selector1, key_selector2, key_type=key_type).process(function)
        )

    @staticmethod
    def for_broadcast_process_function(
        function: BroadcastProcessFunction[IN1, IN2, OUT], *descriptors: MapStateDescriptor[Any, Any]
    ) -> BroadcastTestHarness[IN1, IN2, OUT]:
        """A BroadcastProcessFunction, with the descriptors of its broadcast states."""
        return BroadcastTestHarness(lambda connected: connected.process(function), *descriptors)

    @staticmethod
    def for_keyed_broadcast_process_function(
        function: KeyedBroadcastProcessFunction[K, IN1, IN2, OUT],
        key_selector: Callable[[IN1], K],
        *descriptors: MapStateDescriptor[Any, Any],
        key_type: TypeInformation[K] | None = None,
    ) -> BroadcastTestHarness[IN1, IN2, OUT]:
        """A KeyedBroadcastProcessFunction, with the descriptors of its broadcast states."""
        return BroadcastTestHarness(
            lambda connected: connected.process(function), *descriptors, key_selector=key_selector, key_type=key_type
        )
