"""One operator without a task around it: records and watermarks in, results out, state at hand."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.chain.outputs import CountingOutput, Output
from penstock.runtime.config.tasks import JobConfig, OperatorConfig, VertexConfig
from penstock.runtime.state.operator_time import Clock


class Alone:
    def __init__(
        self,
        operator: StreamOperator,
        clock: int = 0,
        *,
        tracked: bool = False,
        restored: Callable[[Any], None] | None = None,
    ) -> None:
        self.now = clock
        self.results: list[tuple[Any, Any]] = []
        self.sides: dict[str, list[Any]] = {}
        self.watermarks: list[int] = []
        config = OperatorConfig(1, "0" * 32, "under test", None, 128, b"")
        vertex = VertexConfig(0, "under test", 1, 128, 0, 0, (config,))
        self._clock = Clock(lambda: self.now)
        self.context = OperatorContext(JobConfig("job", "id"), vertex, config, 0, 0, _nowhere, clock=self._clock)
        self.context.tracked = tracked
        keyed = operator.key_of_input(0) or operator.key_of_input(1)
        if restored is not None:
            assert keyed is not None
            restored(self.context.keyed_state(keyed))
        output = CountingOutput(_Everything(self))
        self.live = copy.deepcopy(operator).build(self.context, output)  # as each subtask unpickles its own
        self._inputs = {}
        self.live.open()

    @property
    def state(self) -> Any:
        return self.context.state

    def take(self, value: Any, timestamp: int | None = None, number: int = 0) -> None:
        if number not in self._inputs:
            self._inputs[number] = self.live.input(number)
        self._inputs[number](value, timestamp)

    def watermark(self, watermark: int, number: int = 0) -> None:
        self.live.watermark(number)(watermark)

    def wait_until(self, now: int) -> None:
        self.now = now
        self._clock.fire()


class _Everything(Output):
    def __init__(self, alone: Alone) -> None:
        self._alone = alone

    def collect(self, value: Any, timestamp: int | None) -> None:
        self._alone.results.append((value, timestamp))

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        self._alone.sides.setdefault(tag_id, []).append(value)

    def watermark(self, watermark: int) -> None:
        self._alone.watermarks.append(watermark)


def _nowhere(kind: int, data: bytes) -> None:
    raise AssertionError("nothing is sent to the driver")
