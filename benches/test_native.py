"""What native code costs: compiling functions, and programs that gain nothing by it."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.coverage import KINDS, PROGRAMS, functions_of
from tests.pyflink.recorded import unpacked

import native_costs
from conftest import Record
from costs import COMPILED, FIRST, MODES, PHASE
from penstock.compiler.functions import compile_function
from penstock.compiler.kinds import AGGREGATE
from penstock.compiler.program import Compiled
from penstock.compiler.trees import Trees

ROUNDS = 11


def parsed(file: Path) -> Trees:
    """Trees that have parsed a file, and know what its functions change, which all its functions share."""
    trees = Trees()
    known = trees.file(str(file))
    for fact in ("changed", "reassigned", "imported"):
        getattr(known, fact, None)
    return trees


def compile_seconds(function: Any, kind: str, file: Path) -> tuple[float, ...] | None:
    """CPU seconds of compiling a function for the first time, and once more; None if it stays in Python."""
    times: tuple[list[float], ...] = ([], [])
    for _ in range(5):
        trees = parsed(file)
        for some in times:
            started = time.process_time()
            result = compile_function(function, kind, trees)
            some.append(time.process_time() - started)
            if not isinstance(result, Compiled):
                return None
    return tuple(map(statistics.median, times))


def test_compile_recorded_functions(record: Record, tiny: bool) -> None:
    """Each function of the recorded PyFlink programs that is compiled, after its file has been parsed."""
    times_of_each: list[tuple[float, ...]] = []
    for file in sorted(unpacked(PROGRAMS).glob("*.py"))[: 3 if tiny else None]:
        for call, function in functions_of(file):
            kinds = AGGREGATE if call == "aggregate" else (KINDS[call],)
            times_of_each += filter(None, (compile_seconds(function, kind, file) for kind in kinds))
    assert times_of_each
    for shape, seconds in zip(FIRST, zip(*times_of_each, strict=True), strict=True):
        record(
            phase=COMPILED, shape=shape, size=1, peer="Penstock", functions=len(times_of_each), seconds=sorted(seconds)
        )


@pytest.mark.parametrize("program", native_costs.PROGRAMS)
def test_unchanged(record: Record, tiny: bool, program: str) -> None:
    """The same results, with native code and without."""
    size = 2_000 if tiny else native_costs.records(program)
    expected = [native_costs.run(program, native, size)[0] for native in MODES]
    assert expected[0] == expected[1]
    assert expected[0]
    seconds: dict[str, list[float]] = {native: [] for native in MODES}
    for number in range(1 if tiny else ROUNDS):
        for native in list(MODES) if number % 2 else reversed(MODES):
            results, spent = native_costs.run(program, native, size)
            assert results == expected[0]
            seconds[native].append(spent)
    for native, peer in MODES.items():
        record(phase=PHASE, shape=program, size=size, peer=peer, seconds=seconds[native])
