"""The functions beside an operator's own: key selectors and partitioners. A key selector runs on both sides of a
``key_by``: behind the operator that sends, to find the subtask that owns the key, and before the one that receives,
to find its state. Every subtask on each side has its own copy, which is opened before the operator's function and
closed after it, as in PyFlink, whose selectors run in helper operators."""

from __future__ import annotations

import contextlib
from typing import Any

from penstock.runtime.chain.context import OperatorContext, StatelessContext
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.usercode.failure import failure_of
from penstock.runtime.usercode.functions import lifecycle


class Beside:
    """The functions before one operator, or behind it, in one subtask."""

    __slots__ = ("_context", "_functions", "_opened")

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._functions: list[tuple[Any, str, str]] = []
        self._opened = 0

    def add(self, partition: KeyPartition | CustomPartition | None, place: str) -> None:
        """Take over the functions of a partition, each once; ``place`` says where they run: before the operator, or
        behind it."""
        for function, what in () if partition is None else partition.functions():
            if all(function is not other for other, *_ in self._functions):
                self._functions.append((function, what, place))

    def open(self) -> None:
        for function, what, place in self._functions:
            self._opened += 1
            context = StatelessContext(
                self._context,
                f"The {what} {place} operator {self._context.config.name!r} asked for keyed state. It says what the "
                "key is, so it has no state of one. Keep the state in a process function behind it.",
            )
            self._call(function, what, place, "open", context)

    def close(self) -> None:
        """Close those that were opened, the last one first."""
        while self._opened:
            self._opened -= 1
            self._call(*self._functions[self._opened], "close")

    def dispose(self) -> None:
        """Close those that are still open; a second failure is not raised."""
        while self._opened:
            with contextlib.suppress(Exception):
                self.close()

    def _call(self, function: Any, what: str, place: str, method: str, *arguments: Any) -> None:
        call = lifecycle(function, method)
        if call is None:
            return
        try:
            call(*arguments)
        except Exception as error:
            raise self._context.fail(failure_of(what, place, error)) from error
