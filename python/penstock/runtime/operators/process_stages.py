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
    ``kind`` makes another :class:`NativeProcess`, from the same arguments."""
    context = operator.context
    state = context.state
    if programs is None or state is None or not programs.suit(context):
        return None
    selectors = [None if key is None else key.key_program(functions) for key in keys]
    if None in selectors or not state.has_native_keys:
        return None
    kinds = [NativeProcess] if state.holds_dicts else [NativeProcessOnDisk, NativeProcess]
    kinds = kinds if kind is None else [kind]
    processes = [make(functions, operator, programs, selectors, state) for make in kinds]
    return [ProcessStage(processes, number) for number in range(len(keys))]


class ProcessStage:
    """An input of a :class:`NativeProcess`, a :class:`~penstock.runtime.chain.operator.KeyedStage`. It is the first of
    several that its states suit."""

    def __init__(self, processes: Sequence[NativeProcess], number: int) -> None:
        self._processes, self._number = processes, number
        self._process = processes[0]

    @property
    def ready(self) -> bool:
        """As that of the process."""
        return self._process.ready

    def leave(self, most: int) -> int:
        """As that of the process, once the function is open."""
        if not self._process.ready:
            self._process = next((process for process in self._processes if process.make_ready()), self._process)
        return self._process.leave(most)

    def flush(self) -> None:
        """As that of the process."""
        self._process.flush()

    def run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        """Take records of the input."""
        return self._process.run_input(self._number, batch, start, end)
