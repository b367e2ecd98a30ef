"""Names of fields, states, operators and jobs are data, wherever they come from: a table's columns, a file's header.
Penstock writes code for chains and keys, and evaluates it; no name becomes part of it."""

from __future__ import annotations

from pathlib import Path

from penstock.common import Configuration, Row, Types
from penstock.datastream import (
    KeyedProcessFunction,
    MapStateDescriptor,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from tests.running import collected


def test_code_in_names_does_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    touch = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    names = [f"a); {touch} #", "'\"\n\\", touch, "{value}", f'"; {touch}; "']
    record = Types.ROW_NAMED(names, [Types.LONG(), Types.STRING(), Types.INT(), Types.BOOLEAN(), Types.DOUBLE()])
    key = Types.ROW_NAMED(names[:2], [Types.LONG(), Types.STRING()])
    rows = [Row(1, "k", 2, True, 0.5), Row(1, "k", 5, False, 1.5)]

    class Keeps(KeyedProcessFunction):
        def open(self, runtime_context):
            self.last = runtime_context.get_state(ValueStateDescriptor(names[0], record))
            self.all = runtime_context.get_map_state(MapStateDescriptor(names[2], Types.STRING(), record))

        def process_element(self, value, ctx):
            self.last.update(value)
            self.all.put(names[4], value)
            yield value

    for folder in ({}, {"execution.checkpointing.dir": str(tmp_path / "job")}):
        env = StreamExecutionEnvironment.get_execution_environment(Configuration(folder), executor="local")
        env.set_parallelism(2)
        mapped = env.from_collection(rows, record).uid(names[0]).map(lambda row: row, record).filter(lambda row: True)
        keyed = mapped.name(names[2]).key_by(lambda row: Row(row[0], row[1]), key)
        sums = keyed.sum(names[2]).uid(names[1]).map(lambda row: row, record).key_by(lambda row: row[0], Types.LONG())
        largest = sums.max(names[4]).uid(names[2]).union(keyed.process(Keeps(), record).uid(names[3]))
        assert {(row[0], row[1]) for row in collected(largest)} == {(1, "k")}
        assert not mark.exists()
