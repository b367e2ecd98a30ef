"""Rows leave a task while it runs: what waits in it does not grow with its output."""

from __future__ import annotations

import pytest

from penstock.runtime.operators import FileReader, StreamFlatMap, StreamMap, StreamSource
from penstock.runtime.sources import FileMonitor, file_splits
from penstock.runtime.task import Task
from tests.runtime.programs import Program
from tests.runtime.test_programs import run

LIMIT = 20 << 20
"""Bytes of rows that may wait; each program below makes more than twice as many."""


@pytest.fixture
def waiting(monkeypatch):
    """The bytes of the rows that waited in a task, each time it handed them over."""
    sizes = []
    original = Task._drain

    def drain(self):
        sizes.append(sum(len(row[5]) for row in self._out))
        return original(self)

    monkeypatch.setattr(Task, "_drain", drain)
    return sizes


def test_records_that_explode(waiting):
    program = Program(chaining=False)
    boom = program.add(StreamFlatMap(lambda x: (f"{i:01000}" for i in range(1000))), program.source(range(60)))
    program.collect(program.add(StreamMap(hash), boom, p=2, partitioner="REBALANCE"))
    run(program)
    assert max(waiting) < LIMIT < sum(waiting) / 2


def test_giant_records_behind_a_source(waiting):
    program = Program()
    giant = program.add(StreamMap(lambda x: "x" * 1_000_000), program.source(range(60)))
    program.collect(program.add(StreamMap(len), giant, p=2, partitioner="REBALANCE"))
    run(program)
    assert max(waiting) < LIMIT < sum(waiting) / 2


def test_many_splits_of_a_file(waiting, tmp_path, monkeypatch):
    monkeypatch.setattr(file_splits, "__defaults__", (1 << 20,))
    (tmp_path / "in").write_text(("x" * 99 + "\n") * 600_000)
    program = Program()
    monitor = program.add(StreamSource(FileMonitor(str(tmp_path / "in"))))
    reader = program.add(FileReader(), monitor, chain="HEAD")
    program.collect(program.add(StreamMap(len), reader, p=2, partitioner="REBALANCE"))
    run(program)
    assert max(waiting) < LIMIT < sum(waiting) / 2
