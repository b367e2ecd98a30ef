"""For tests of programs: operator harnesses, and whole programs on a few records.

A *harness* is one subtask of one operator with nothing around it: a test hands it records, watermarks and the time of
the clock, and looks at what comes out, at timers, metrics and state, which it may move to harnesses of another
parallelism. A :class:`SourceTestHarness` reads a source step by step, and :func:`check_source` checks it for unbounded
jobs. :func:`run_program` runs a whole program in this process, in milliseconds. Fixtures for pytest are in
:mod:`penstock.pytest_plugin`. Source of the names: Flink's ``ProcessFunctionTestHarnesses``,
``KeyedOneInputStreamOperatorTestHarness``.
"""

from __future__ import annotations

from penstock.testing.function_harnesses import ProcessFunctionTestHarnesses
from penstock.testing.harness import OperatorSnapshot, StreamRecord, TestHarness, Watermark
from penstock.testing.inputs import BroadcastTestHarness, OneInputTestHarness, TwoInputTestHarness
from penstock.testing.programs import run_program
from penstock.testing.sources import SourceContractError, SourceTestHarness, check_source

__all__ = [
    "BroadcastTestHarness",
    "OneInputTestHarness",
    "OperatorSnapshot",
    "ProcessFunctionTestHarnesses",
    "SourceContractError",
    "SourceTestHarness",
    "StreamRecord",
    "TestHarness",
    "TwoInputTestHarness",
    "Watermark",
    "check_source",
    "run_program",
]
