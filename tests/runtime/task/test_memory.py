"""Rows leave a task while it runs: what waits in it does not grow with its output."""

from __future__ import annotations

import logging

import pytest

from penstock.connectors.files.watched_folders import FileMonitor, TextPieces
from penstock.job.deployment import deploy
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.steps import ONLY_STEP
from penstock.runtime.exchange.gate import DRIVER
from penstock.runtime.exchange.writer import RecordWriter
from penstock.runtime.io.sinks import Buffered, CollectSink, PrintSink, TextSink, _TextFile
from penstock.runtime.io.splits import SplitSource
from penstock.runtime.operators.elementwise import StreamFlatMap, StreamMap
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import FileReader, StreamSource
from penstock.runtime.task.outbox import Outbox
from penstock.runtime.task.task import Task
from tests.job.programs import Program
from tests.job.test_programs import run

LIMIT = 20 << 20
"""Bytes of rows that may wait; each program below makes more than twice as many."""


@pytest.fixture
def waiting(monkeypatch):
    """The bytes of the rows that waited in a task, each time it handed them over."""
    sizes = []
    original = Task._drain

    def drain(self):
        sizes.append(self._out._store.held + self._out._store.spilled)
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
    giant = program.add(StreamMap(lambda x: f"{x:<1000000}"), program.source(range(60)))
    program.collect(program.add(StreamMap(len), giant, p=2, partitioner="REBALANCE"))
    run(program)
    assert max(waiting) < LIMIT < sum(waiting) / 2


@pytest.mark.slow
@pytest.mark.parametrize("sink", [PrintSink(), CollectSink("out")], ids=["print", "collect"])
@pytest.mark.parametrize("form", ["fused", "listed"])
def test_giant_records_for_the_driver(waiting, sink, form, capsys):
    program = Program(settings={"penstock.runtime.form": form})
    giant = program.add(StreamMap(lambda x: f"{x:01000000}"), program.source(range(60)))
    program.add(StreamSink(sink), giant)
    collected = run(program)[0]
    assert max(waiting) < LIMIT < sum(waiting) / 2
    lines = collected["out"] if collected else capsys.readouterr().out.splitlines()
    assert [int(line[-5:]) for line in lines] == list(range(60))


@pytest.mark.slow
def test_many_splits_of_a_file(waiting, tmp_path, monkeypatch):
    monkeypatch.setattr("penstock.runtime.io.file_source.SPLIT_BYTES", 1 << 20)
    (tmp_path / "in").write_text("".join(f"{i:099}\n" for i in range(600_000)))
    program = Program()
    monitor = program.add(StreamSource(SplitSource(FileMonitor(str(tmp_path / "in"), TextPieces("UTF-8")))))
    reader = program.add(FileReader(), monitor, chain="HEAD")
    program.collect(program.add(StreamMap(len), reader, p=2, partitioner="REBALANCE"))
    run(program)
    assert max(waiting) < LIMIT < sum(waiting) / 2


def row(number: int, size: int) -> Row:
    return Row(DRIVER, 0, 0, 0, number, bytes([number % 256]) * size)


@pytest.mark.parametrize("size", [0, 1, 40, 100, 250])
def test_rows_beyond_the_memory_come_back_in_order(size, caplog):
    box = Outbox("task", 100)
    for _ in range(2):
        sent = [row(number, size) for number in range(20)]
        for sent_row in sent:
            box.append(sent_row)
        assert box._store.held <= max(100, size)
        assert box._store.held + box._store.spilled == 20 * size
        taken = box.take()
        box.append(row(99, 3))  # comes while the others leave
        assert list(taken) == sent
        assert list(box.take()) == [row(99, 3)]
    assert bool(caplog.records) == (size > 10)


def test_one_record_that_makes_very_many_waits_in_a_file(monkeypatch, caplog):
    monkeypatch.setattr(Outbox.__init__, "__defaults__", (1 << 20,))
    held = []
    original = Outbox.append

    def append(self, row):
        original(self, row)
        held.append(self._store.held)

    monkeypatch.setattr(Outbox, "append", append)
    program = Program()
    boom = program.add(StreamFlatMap(lambda x: (f"{i:01000}" for i in range(20_000))), program.source([1]), name="boom")
    program.collect(program.add(StreamMap(int), boom, p=2, partitioner="REBALANCE"))
    with caplog.at_level(logging.WARNING, "penstock"):
        assert sorted(run(program)[0]["out"]) == list(range(20_000))
    assert max(held) <= 1 << 20
    assert [record.levelname for record in caplog.records] == ["WARNING"] * len(caplog.records)
    assert 3 <= len(caplog.records) <= 6
    assert "boom (1/1)" in caplog.text


@pytest.mark.parametrize("form", ["fused", "listed"])
@pytest.mark.parametrize("size", [10, 600_000])
def test_records_of_one_call_are_gathered_while_they_are_small(tmp_path, monkeypatch, size, form):
    batches = []
    for kind, method in ((RecordWriter, "write_batch"), (_TextFile, "write_all"), (Buffered, "write_all")):
        monkeypatch.setattr(kind, method, _noting(getattr(kind, method), batches))
    program = Program(settings={"penstock.runtime.form": form, "penstock.native": "off"})
    boom = program.add(StreamFlatMap(lambda x: (str(i).zfill(size) for i in range(100))), program.source([1]))
    program.collect(program.add(StreamMap(len), boom, p=2, partitioner="REBALANCE"))
    for number, sink in enumerate((TextSink(str(tmp_path / "out")), CollectSink("texts"))):
        program.add(StreamSink(sink), boom, name=str(number))
    assert sorted(run(program)[0]["out"]) == [size] * 100
    if form == "fused":
        assert sum(batches) >= 300
        assert max(batches) == 1 if size > 10 else max(batches) > 50


def _noting(method, sizes):
    def noted(self, values, *more):
        if isinstance(values[0], str):
            sizes.append(len(values))
        method(self, values, *more)

    return noted


class Fast:
    """A source that never pauses by itself."""

    emitted = 0

    def run(self, ctx):
        for number in range(100_000):
            type(self).emitted += 1000
            ctx.collect(f"{number:01000}")


def test_a_source_goes_no_faster_than_its_rows_leave():
    program = Program()
    program.add(StreamMap(len), program.add(StreamSource(Fast())), p=2, partitioner="REBALANCE")
    deployment = deploy(program.pipeline())
    vertex, subtask = deployment.slot(0, 0)
    Fast.emitted = taken = 0
    ahead = []
    task = Task(vertex, subtask, 0, deployment.job)
    task.begin(ONLY_STEP)
    for row in task.finish():
        taken += len(row.data)
        ahead.append(Fast.emitted - taken)
    assert Fast.emitted == 100_000_000
    assert max(ahead) < LIMIT
