"""Levels: every subtask once, rows shared where edges are equal, and nothing held back where the plan is a line."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from penstock.job.deployment import deploy
from penstock.local import LocalExecutor
from penstock.runtime.config.steps import ONLY_STEP
from penstock.runtime.exchange.gate import DRIVER
from penstock.runtime.io.sources import SequenceSource
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.task.task import Task
from penstock.spark import lowering
from penstock.spark.attempts import Attempt
from tests.job.programs import Program


def rows_of(deployment, level, slot, rows=()):
    """What a task sends to other tasks, given its input."""
    vertex, subtask = deployment.slot(level, slot)
    task = Task(vertex, subtask, 0, deployment.job)
    task.begin(ONLY_STEP)
    sent = [*task.receive(rows), *task.finish()]
    return [row for row in sent if row.level != DRIVER]


KEY = KeyPartition(lambda value: value % 10)
CUSTOM = CustomPartition(lambda key, channels: key % channels, lambda value: value)


@pytest.mark.parametrize(
    ("partitioner", "spec", "parallelisms", "shared"),
    [
        ("HASH", KEY, (3, 3), True),
        ("BROADCAST", None, (3, 3), True),
        ("GLOBAL", None, (3, 3), True),
        ("HASH", KEY, (3, 2), False),
        ("REBALANCE", None, (3, 3), False),
        ("SHUFFLE", None, (3, 3), False),
        ("CUSTOM", CUSTOM, (3, 3), False),
    ],
)
def test_equal_edges_share_their_buffers(monkeypatch, partitioner, spec, parallelisms, shared):
    """Each is written once and sent twice. Edges that may choose different channels have buffers of their own."""
    from penstock.runtime.exchange.channel import OutChannel

    written = []
    take = OutChannel.take

    def noted(channel):
        buffers = take(channel)
        written.extend(buffers)
        return buffers

    monkeypatch.setattr(OutChannel, "take", noted)
    program = Program()
    source = program.source(range(5000))
    for index, p in enumerate(parallelisms):
        reader = program.add(StreamMap(str), source, p=p, partitioner=partitioner, spec=spec)
        program.collect(reader, id=str(index))
    rows = rows_of(deploy(program.pipeline()), 0, 0)
    by_edge = Counter(row.edge for row in rows)
    copies = 3 if partitioner == "BROADCAST" else 1
    assert len(by_edge) == 2
    assert len(rows) == len(written) * copies * (2 if shared else 1)
    assert {id(row.data) for row in rows} == set(map(id, written))


def test_a_line_passes_records_on_as_they_come():
    """A task with one channel needs no order and waits for nothing."""
    program = Program(chaining=False, settings={"penstock.exchange.buffer-records": "10"})
    node = program.add(StreamMap(lambda value: value + 1), program.source(range(100)))
    program.collect(node)
    deployment = deploy(program.pipeline())
    task = Task(*deployment.slot(1, 0), 0, deployment.job)
    task.begin(ONLY_STEP)
    came = [len(list(task.receive([row]))) for row in rows_of(deployment, 0, 0)]
    assert len(came) == 10
    assert sum(came) >= 9
    assert max(came) <= 2


def level_of(deployment, index):
    following = deployment.slots(index + 1) if index + 1 < len(deployment.levels) else 1
    return lowering.Level(index, deployment.levels[index], range(following), deployment.job, ())


def test_levels_without_passers_by_do_not_sort_rows_out(monkeypatch):
    program = Program(chaining=False)
    program.collect(program.add(StreamMap(str), program.source(range(100)), p=2))
    deployment = deploy(program.pipeline())
    batch = lowering._arrow(rows_of(deployment, 0, 0), level_of(deployment, 0), 0, Attempt())
    assert batch.num_rows == 2
    level = level_of(deployment, 1)
    monkeypatch.setattr(lowering, "_integers", None)
    level_rows, passing = lowering._split(batch, level, Attempt())
    assert (len(level_rows), passing) == (2, None)


def test_rows_for_later_levels_pass_by_unread():
    program = Program(chaining=False)
    source = program.source(range(100))
    near = program.add(StreamMap(str), source, p=2)
    program.collect(near, id="near")
    program.collect(source, id="far", p=1)
    program.collect(program.add(StreamMap(str), near, source, p=3), id="joined")
    deployment = deploy(program.pipeline())
    rows = rows_of(deployment, 0, 0)
    level = level_of(deployment, 1)
    batch = lowering._arrow(rows, level_of(deployment, 0), 0, Attempt())
    level_rows, passing = lowering._split(batch, level, Attempt())
    later = [row for row in rows if row.level == 2]
    assert later
    assert len(level_rows) == len(rows) - len(later)
    assert [tuple(row.values())[1:-2] for row in pa.Table.from_batches([passing]).to_pylist()] == later
    assert passing.column(0).to_pylist() == [row.slot for row in later]


class Once:
    """Leaves a mark when it opens and when it closes."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name

    def open(self, context):
        me, all_ = context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks()
        self.mark = self.folder / f"{self.name} {me + 1}/{all_}".replace("/", " of ")
        self.write("opened ")

    def write(self, text):
        with open(self.mark, "a") as file:
            file.write(text)

    def map(self, value):
        return value

    def close(self):
        self.write("closed")


def shapes(folder):
    """Several sources, diamonds, a union with itself, parallelisms 1 to 5, sinks at levels 1 to 3."""
    program = Program()

    def add(name, p, *inputs, **how):
        return program.add(StreamMap(Once(folder, name)), *inputs, p=p, name=name, **how)

    one = add("one", 2, program.add(StreamSource(SequenceSource(0, 99)), p=2))
    two = add("two", 1, program.source(range(50)))
    left, right = add("left", 3, one), add("right", 5, one, partitioner="BROADCAST")
    joined = add("joined", 4, left, right, two, chain="NEVER")
    twice = add("twice", 3, joined, joined)
    for name, node, p in (("near", two, 2), ("middle", left, 1), ("far", twice, 2), ("all", joined, 4)):
        program.collect(add(name, p, node, partitioner="REBALANCE"), id=name)
    inner = {"one": 2, "two": 1, "left": 3, "right": 5, "joined": 4, "twice": 3}
    return program, inner | {"near": 2, "middle": 1, "far": 2, "all": 4}


def check_shapes(executor, folder):
    """Every subtask has been there exactly once, with its side effects, and every record too."""
    folder.mkdir()
    program, parallelisms = shapes(folder)
    collected = executor.execute(program.pipeline()).collected
    expected = {f"{name} {i + 1} of {p}" for name, p in parallelisms.items() for i in range(p)}
    assert {path.name for path in folder.iterdir()} == expected
    assert {path.read_text() for path in folder.iterdir()} == {"opened closed"}
    joined = Counter({value: 6 + (value < 50) for value in range(100)})
    assert Counter(collected["near"]) == Counter(range(50))
    assert Counter(collected["middle"]) == Counter(range(100))
    assert Counter(collected["all"]) == joined
    assert Counter(collected["far"]) == joined + joined


def test_every_subtask_runs_exactly_once(tmp_path):
    check_shapes(LocalExecutor(), tmp_path / "marks")
