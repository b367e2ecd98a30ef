"""Process functions of streams without keys on columns, where they are compiled and ask their context for times, or
emit to side outputs. To native code all records have one key. A function that leaves its context alone is a stage of a
pipeline (:mod:`penstock.runtime.chain.segments`)."""

from __future__ import annotations

from itertools import repeat
from types import ModuleType
from typing import Any

from penstock.runtime import native
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.chain.segments import Taker
from penstock.runtime.constants import filled_by
from penstock.runtime.operators.native_process import ProcessPrograms
from penstock.runtime.operators.native_stage import emit, emit_all

_KEY = '{"v":1,"functions":[{"params":1,"locals":1,"body":[["return",["const",0]]]}]}'
_TRIAL = 1_000  # records before too many can be in doubt
_MOST_DOUBTS = 8  # one record in so many at the most


def function_taker(operator: LiveOperator, programs: ProcessPrograms | None, number: int) -> Taker | None:
    """Takes columns for an input of an operator; None where native code cannot do what that does."""
    functions = native.functions()
    if programs is None or functions is None or not programs.suit(operator.context):
        return None
    behind = operator.output.columns
    take = NativeFunction(functions, operator, programs, number).take
    return Taker(take, broad=behind is not None and behind.broad, works=True)


class NativeFunction:
    """The function of an input of an operator, made when the operator is open. Python takes a record in doubt."""

    def __init__(self, functions: ModuleType, operator: LiveOperator, programs: ProcessPrograms, number: int) -> None:
        self._functions, self._operator, self._collect = functions, operator, operator.input(number)
        self._text, self._tags = programs.of_input(max(number, 1) - 1)
        self._process: Any = None  # native, where it can be made, until too many records are in doubt
        self._began = False
        self._done = self._doubts = 0

    def take(self, batch: Any) -> None:
        """Take a batch."""
        start, end = 0, len(batch)
        if not self._began:
            self._process, self._began = self._build(), True
        while start < end and self._process is not None:
            start = self._run(batch, start, end)
        if start < end:
            self._take_objects(batch, start, end)

    def _build(self) -> Any:
        key = native.program(self._functions, _KEY)
        program = native.program(self._functions, filled_by(self._text, self._operator.function))
        return None if program is None else self._functions.KeyedProcess([(key, program)], None, [], [], [])

    def _run(self, batch: Any, start: int, end: int) -> int:
        """Take records up to one in doubt, and this one in Python. Where the next one is."""
        operator = self._operator
        time = operator.context.time
        now = time.watermark, time.clock.now()
        out, sides, order, done, in_doubt = self._process.run(0, batch, start, end, *now)
        if order:
            emit_all(operator, self._tags, out, dict(sides), order)
        elif out is not None:
            emit(operator, out)
        if in_doubt:
            self._take_objects(batch, done, done + 1)
            self._doubts += 1
        done += in_doubt
        self._done += done - start
        if self._done > _TRIAL and self._doubts * _MOST_DOUBTS > self._done:
            self._process = None
        return done

    def _take_objects(self, batch: Any, start: int, end: int) -> None:
        some = batch.slice(start, end)
        for value, time in zip(some.objects(), some.times or repeat(None), strict=False):
            self._collect(value, time)
