"""The stages of operators whose function is native code, on columns (:mod:`.native_process`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.native_process import NativeProcess, ProcessPrograms
from penstock.runtime.operators.native_process_on_disk import NativeProcessOnDisk


def process_stages(
    functions: ModuleType,
    operator: LiveOperator,
    programs: ProcessPrograms | None,
    keys: Sequence[KeyPartition | None],
    kind: Callable[..., NativeProcess] | None = None,
) -> list[ProcessStage] | None:
    """The stages of the inputs of an operator, keyed by ``keys``; None where native code cannot do what it does.
    ``kind`` makes another :class:`NativeProcess`, from the same arguments; its state is in memory."""
    context = operator.context
    state = context.state
    if programs is None or state is None or not programs.suit(context):
        return None
    selectors = [None if key is None else key.key_program(functions) for key in keys]
    if None in selectors or not (state.has_native_keys if kind is None else state.suits_native):
        return None
    make = kind or (NativeProcess if state.holds_dicts else NativeProcessOnDisk)
    process = make(functions, operator, programs, selectors, state)
    context.time.ahead = process
    return [ProcessStage(process, number) for number in range(len(keys))]


class ProcessStage:
    """An input of a :class:`NativeProcess`, a :class:`~penstock.runtime.chain.operator.KeyedStage`."""

    def __init__(self, process: NativeProcess, number: int) -> None:
        self._process, self._number = process, number
        self.flush, self.leave = process.flush, process.leave

    @property
    def ready(self) -> bool:
        """As that of the process."""
        return self._process.ready

    def run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        """Take records of the input."""
        return self._process.run_input(self._number, batch, start, end)
