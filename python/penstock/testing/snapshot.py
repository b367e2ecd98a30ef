"""What an operator's subtask remembers, as it travels from harness to harness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class OperatorSnapshot:
    """State of one subtask at one moment (Flink: ``OperatorSubtaskState``). Plain bytes: it can be pickled, and is not
    touched by what the harness does afterwards.

    Attributes:
        keyed_state: bytes by key group, timers included; groups without state are not there.
        operator_state: bytes by kind and name of what belongs to no key.
        max_parallelism: number of key groups.
        watermark: of the operator, in milliseconds.
    """

    keyed_state: Mapping[int, bytes] = field(repr=False)
    operator_state: Mapping[tuple[str, str], bytes] = field(repr=False)
    max_parallelism: int
    watermark: int

    def __repr__(self) -> str:
        size = sum(map(len, (*self.keyed_state.values(), *self.operator_state.values())))
        return f"<OperatorSnapshot {len(self.keyed_state)} of {self.max_parallelism} key groups, {size} bytes>"
