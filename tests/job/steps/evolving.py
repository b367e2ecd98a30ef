"""Programs that are changed between two runs with one checkpoint directory."""

from __future__ import annotations

from typing import Any

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.job.folder.lease import JobFolder
from tests.running import collected

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Fed(Source):
    """Records, of which more may be there the next time."""

    bounded = False

    def __init__(self, records, seen):
        self.records, self.seen = list(records), str(seen)

    def splits(self, parallelism):
        return [Split("records", 0, len(self.records))]

    def read(self, split):
        open(self.seen, "w").close()
        for number in range(split.start, split.end):
            yield Records([self.records[number]], number + 1)


def environment(folder, parallelism=2, spark=None, **settings):
    values = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    values |= {"execution.checkpointing.dir": str(folder), "penstock.step.available-now": "true"}
    where: dict[str, Any] = {"executor": "local"} if spark is None else {"spark": spark}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values), **where)
    return env.set_parallelism(parallelism)


def fed(env, folder, records, record_type=PAIR):
    source = Fed(records, folder.parent / "seen")
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "records", record_type).set_parallelism(1)


class Stateful(KeyedProcessFunction):
    """Asks for a state, and does with it and each record what it is told."""

    def __init__(self, descriptor, use):
        self.descriptor, self.use = descriptor, use

    def open(self, context):
        self.state = context.get_state(self.descriptor)

    def process_element(self, value, ctx):
        yield value[0], self.use(self.state, value[1])


def put(state, value):
    state.update(value)


def get(state, value):
    return state.value()


def run(folder, records, descriptor, use, **settings):
    env = environment(folder, **settings)
    keyed = fed(env, folder, records).key_by(lambda record: record[0], Types.STRING())
    return sorted(collected(keyed.process(Stateful(descriptor, use), Types.PICKLED_BYTE_ARRAY()).uid("kept")))


def kept(folder):
    """What a job would go on from: state, positions, outputs; and that all of it is there."""
    newest = JobFolder(str(folder)).newest()
    for operator in newest.operators.values():
        for chain in operator.subtasks:
            for file in chain:
                assert (folder / "state" / file.name).stat().st_size == file.bytes
    return newest.operators, newest.sources, newest.tasks, newest.outputs
