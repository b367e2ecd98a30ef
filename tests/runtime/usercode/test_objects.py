"""Who sees a record that somebody changes."""

from __future__ import annotations

import pytest

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment, TimeCharacteristic
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.process import KeyedProcessOperator
from penstock.runtime.operators.reduce import GroupedReduce
from tests.job.programs import Program
from tests.job.test_programs import run


def test_an_emitted_object_may_be_changed_afterwards():
    def accumulate(acc, value):
        acc[1].append(value[1][0])
        return acc

    key = KeyPartition(lambda r: r[0], Types.STRING())
    program = Program()
    source = program.source([["a", [1]], ["a", [2]], ["a", [3]]])
    rolling = program.add(GroupedReduce(accumulate).keyed_by(key), source, partitioner="HASH", spec=key)
    program.collect(program.add(StreamMap(lambda x: x), rolling, p=2, partitioner="GLOBAL"), id="exchange")
    program.collect(rolling, id="chained")
    expected = [["a", [1]], ["a", [1, 2]], ["a", [1, 2, 3]]]
    collected, _ = run(program)
    assert collected == {"exchange": expected, "chained": expected}


def mark(name):
    def change(record):
        record["seen"].append(name)
        return record

    return change


@pytest.mark.parametrize("chaining", [True, False])
def test_readers_of_one_output_do_not_see_each_other_s_changes(chaining):
    program = Program(chaining=chaining)
    source = program.source([{"seen": []}, {"seen": []}])
    first = program.add(StreamMap(lambda r: r), source)
    for name in "abc":
        program.collect(program.add(StreamMap(mark(name)), first), id=name)
    program.collect(first, id="first")
    collected, _ = run(program)
    assert collected == {**{name: [{"seen": [name]}] * 2 for name in "abc"}, "first": [{"seen": []}] * 2}


@pytest.mark.parametrize("chaining", [True, False])
def test_state_does_not_see_changes_made_further_down(chaining):
    key = KeyPartition(lambda r: 0)
    program = Program(chaining=chaining)
    source = program.source([{"seen": [i]} for i in range(3)])
    rolling = GroupedReduce(lambda a, b: {"seen": a["seen"] + b["seen"]}).keyed_by(key)
    node = program.add(rolling, source, partitioner="HASH", spec=key)
    program.collect(program.add(StreamMap(mark("x")), node))
    assert run(program)[0]["out"] == [{"seen": [0, "x"]}, {"seen": [0, 1, "x"]}, {"seen": [0, 1, 2, "x"]}]


class KeepsAndShows:
    """Keeps each record, and emits it after a copy of the one before."""

    def open(self, context):
        self.last = context.get_state("last")

    def process_element(self, record, ctx):
        before = self.last.value()
        self.last.update(record)
        yield {"seen": [f"before: {before}"]}
        yield record


class Pairs:
    """Emits the right record of each pair itself, which the join holds for others."""

    def process_element(self, left, right, ctx):
        yield right


@pytest.mark.parametrize("chaining", [True, False])
def test_what_a_process_function_keeps_does_not_change_further_down(chaining):
    key = KeyPartition(lambda r: 0)
    program = Program(chaining=chaining)
    source = program.source([{"seen": [i]} for i in range(3)])
    node = program.add(KeyedProcessOperator(KeepsAndShows()).keyed_by(key), source, partitioner="HASH", spec=key)
    program.collect(program.add(StreamMap(mark("x")), node))
    before = [f"before: {state}" for state in (None, {"seen": [0]}, {"seen": [1]})]
    assert run(program)[0]["out"] == [{"seen": [*seen, "x"]} for n in range(3) for seen in ([before[n]], [n])]


@pytest.mark.parametrize("chaining", ["true", "false"])
def test_what_a_join_holds_does_not_change_further_down(chaining):
    settings = Configuration.from_dict({"pipeline.operator-chaining": chaining})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda record, _: 0)
    left, right = (
        env.from_collection([{"seen": [name]}] * n).assign_timestamps_and_watermarks(strategy).key_by(lambda record: 0)
        for name, n in (("left", 2), ("right", 1))
    )
    near = left.interval_join(right).between(0, 0).process(Pairs()).map(mark("x"))
    assert list(near.execute_and_collect()) == [{"seen": ["right", "x"]}] * 2


def test_objects_are_shared_where_the_program_asks_for_it():
    program = Program(settings={"pipeline.object-reuse": "true"})
    source = program.source([{"seen": []}])
    program.collect(program.add(StreamMap(mark("a")), source), id="a")
    program.collect(source, id="source")
    assert run(program)[0] == {"a": [{"seen": ["a"]}], "source": [{"seen": ["a"]}]}
