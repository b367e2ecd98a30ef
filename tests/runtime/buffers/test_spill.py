"""Whatever holds rows holds so many bytes of them in memory, and gives back what it was given."""

from __future__ import annotations

import random
import tempfile

import pytest

from penstock.job.deployment import deploy
from penstock.job.rows import JobRows
from penstock.job.steps.loop import StepLoop
from penstock.local import steps
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Memory, Rows, Store
from penstock.runtime.operators.elementwise import StreamFlatMap, StreamMap
from tests.job.programs import Program, only_step
from tests.job.test_programs import run


@pytest.fixture
def files(monkeypatch):
    """The temporary files made so far."""
    files_made = []
    original = tempfile.TemporaryFile

    def make(**options):
        files_made.append(original(**options))
        return files_made[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", make)
    return files_made


@pytest.mark.parametrize("memory", [0, 1, 300, 1 << 20])
def test_stores_give_back_what_they_took_in_any_order(memory, files):
    draw, shared = random.Random(memory), Memory(memory)
    stores = [Store(shared), Store(shared)]
    waiting: list[tuple[Store, object, bytes]] = []
    for step in range(3000):
        if waiting and draw.random() < (0.45 if step < 2000 else 0.8):
            store, slip, data = waiting.pop(draw.randrange(len(waiting)))
            assert store.take(slip) == data
        else:
            store, data = draw.choice(stores), draw.randbytes(draw.choice([0, 1, 10, 200]))
            waiting.append((store, store.put(data), data))
        assert sum(store.held for store in stores) == memory - shared.left <= memory
        for store in stores:
            assert store.held + store.spilled == sum(len(data) for owner, _, data in waiting if owner is store)
    assert bool(files) == (memory < 1 << 20)
    for store in stores:
        store.close()
    assert shared.left == memory
    assert all(file.closed for file in files)


@pytest.mark.parametrize("memory", [0, 150, 1 << 20])
def test_rows_that_are_lent_are_written_to_one_file_at_the_most(memory, files):
    lender, borrower = Rows(Store(memory)), Rows(Store(0))
    rows = [Row(0, 0, 0, 0, number, b"x" * 100) for number in range(3)] + [Row(0, 0, 0, 0, 3, b"")]
    for row in rows:
        lender.append(row)
    for row in lender.lend():
        borrower.append(row)
    assert not len(lender)
    assert len(files) == (memory < 300)
    assert list(borrower.take()) == rows
    assert all(file.closed for file in files)  # what has been read waits no more


def test_a_file_goes_when_nothing_waits_in_it(files):
    store = Store(0)
    for turn in range(3):
        slips = [store.put(b"x" * 100) for _ in range(10)]
        assert [len(store.take(slip)) for slip in slips] == [100] * 10
        assert len(files) == turn + 1
        assert files[-1].closed


def row(number: int, kind: int = 0) -> Row:
    return Row(0, 0, kind, 0, number, b"%d" % number)


@pytest.mark.parametrize("memory", [0, 4, 1000])
def test_rows_can_be_taken_sorted_and_in_parts(memory):
    rows = Rows(Store(memory))
    for number in (3, 1, 2, 5, 4):
        rows.append(row(number, number % 2))
    some = rows.take(lambda row: row.sequence, lambda row: row.edge == 1)
    assert len(rows) == 2
    rows.append(row(9, 1))  # comes while the others leave
    assert list(some) == [row(1, 1), row(3, 1), row(5, 1)]
    assert list(rows.take()) == [row(2), row(4), row(9, 1)]
    assert len(rows) == 0


def program() -> Program:
    """Two sources of 1.2 MB each through two exchanges, one of them past a level, printed and collected."""
    builder = Program(chaining=False)
    sources = [builder.source(range(first, 60, 2)) for first in (0, 1)]
    boom = StreamFlatMap(lambda x: [f"{x:02}{i:0998}" for i in range(40)])
    halves = [builder.add(boom, source, p=2, partitioner="REBALANCE") for source in sources]
    kept = builder.add(StreamMap(lambda text: text), halves[0], p=3, partitioner="REBALANCE")
    builder.collect(builder.add(StreamMap(len), kept, halves[1], p=2, partitioner="REBALANCE"), id="lengths")
    builder.collect(kept, id="texts")
    return builder


def test_the_local_executor_holds_no_more_than_its_memory(monkeypatch, files):
    expected = run(program())[0]
    assert not files
    assert len(expected["lengths"]) == 2400
    monkeypatch.setattr(steps.LocalSteps.__init__, "__defaults__", (100_000,))
    used = []
    original = Store.put

    def put(self, data):
        slip = original(self, data)
        used.append(100_000 - self._memory.left)
        return slip

    monkeypatch.setattr(Store, "put", put)
    assert run(program())[0] == expected
    assert len(files) >= 3
    assert all(file.closed for file in files)
    assert max(used) <= 100_000


def test_a_failed_job_leaves_no_file_open(monkeypatch, files):
    monkeypatch.setattr(steps.LocalSteps.__init__, "__defaults__", (1000,))
    failing = program()
    failing.collect(failing.add(StreamMap(lambda x: 1 // 0 if x > 50 else x), failing.source(range(60))), id="never")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        run(failing)
    assert all(file.closed for file in files)


def test_the_driver_reads_its_rows_one_by_one(files):
    deployment = deploy(program().pipeline())
    small = Rows(Store(1000))
    for row in only_step(deployment).take():
        small.append(row)
    sent = JobRows(small, deployment)
    assert len(list(sent.reports())) == sum(vertex.parallelism for vertex in deployment.vertices)
    assert sorted(map(len, sent.collected().values())) == [1200, 2400]
    assert files
    assert len(small) == 0


def test_a_step_whose_reports_are_wrong_leaves_no_file_open(files, monkeypatch):
    monkeypatch.setattr(steps.LocalSteps.__init__, "__defaults__", (1000,))
    monkeypatch.setattr(StepLoop, "_note", lambda self, reports: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        run(program())
    assert files
    assert all(file.closed for file in files)
