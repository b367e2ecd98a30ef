"""Process functions of streams without keys on columns, where they are compiled and ask their context for times, or
emit to side outputs. To native code all records have one key. A function that leaves its context alone is a stage of a
pipeline (:mod:`penstock.runtime.chain.segments`)."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from penstock.runtime import native
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.chain.segments import Segment, Taker
from penstock.runtime.constants import filled_by
from penstock.runtime.operators.native_process import ProcessPrograms
from penstock.runtime.operators.native_stage import emit, emit_all

_KEY = '{"v":1,"functions":[{"params":1,"locals":1,"body":[["return",["const",0]]]}]}'


def function_taker(operator: LiveOperator, programs: ProcessPrograms | None, number: int) -> Taker | None:
    """Takes columns for an input of an operator; None where native code cannot do what that does."""
    functions = native.functions()
    if programs is None or functions is None or not programs.suit(operator.context):
        return None
    behind = operator.output.columns
    segment = NativeFunction(functions, operator, programs, number).segment
    return Taker(segment.take_all, broad=behind is not None and behind.broad, works=True)


class NativeFunction:
    """The function of an input of an operator, made when the operator is open. Its ``segment`` takes the records."""

    def __init__(self, functions: ModuleType, operator: LiveOperator, programs: ProcessPrograms, number: int) -> None:
        self._functions, self._operator = functions, operator
        self._text, self._tags = programs.of_input(max(number, 1) - 1)
        self._process: Any = None  # native, where it can be made
        self._began = False
        hand_over, collect = partial(emit, operator), operator.input(number)
        self.segment = Segment(functions, self._run, [], hand_over, collect, leave=self._leave)

    def _leave(self, most: int) -> int:
        """How many of the next records Python is to take, at the most so many."""
        if not self._began:
            self._process, self._began = self._build(), True
        return most if self._process is None or self.segment.gives_up else 0

    def _build(self) -> Any:
        key = native.program(self._functions, _KEY)
        program = native.program(self._functions, filled_by(self._text, self._operator.function))
        return None if program is None else self._functions.KeyedProcess([(key, program)], None, [], [], [])

    def _run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        operator = self._operator
        time = operator.context.time
        now = time.watermark, time.clock.now()
        out, sides, order, done, in_doubt = self._process.run(0, batch, start, end, *now)
        if order:
            emit_all(operator, self._tags, out, dict(sides), order)
            out = None
        return out, [], done, in_doubt
