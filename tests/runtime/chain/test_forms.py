"""The two forms of a chain: what the list form is made of, and what the fused form does where the two could differ."""

from __future__ import annotations

from types import ModuleType

import pytest

from penstock.common.settings.settings import Settings
from penstock.errors import JobExecutionError
from penstock.local import LocalExecutor
from penstock.runtime.chain import fusion
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.chain.outputs import (
    BroadcastingOutputCollector,
    ChainingOutput,
    CopyingChainingOutput,
    CountingOutput,
    RecordWriterOutput,
)
from penstock.runtime.chain.segments import Columnar, Segment
from penstock.runtime.config.tasks import JobConfig
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.sink import StreamSink
from tests.job.programs import Program

FORMS = ("fused", "listed")


def first_chain(program, form="listed"):
    """The OperatorChain of subtask 0 of the source."""
    from penstock.job.deployment import deploy

    program.settings["penstock.runtime.form"] = form
    deployment = deploy(program.pipeline())
    vertex, job = deployment.levels[0][0], JobConfig("job", "id", Settings.of(program.settings))

    def context(config):
        return OperatorContext(job, vertex, config, 0, 0, lambda kind, data: None)

    return OperatorChain(vertex, 0, context, lambda row: None)


def branches(**settings):
    """source -> (left, right -> keyed sink in another task)."""
    program = Program(settings=dict(settings))
    source = program.source([1, 2, 3])
    program.collect(source, id="left")
    right = program.add(StreamMap(str), source)
    program.collect(right, id="right", partitioner="HASH", spec=KeyPartition(str), p=2)
    return program


def test_the_list_form_is_made_of_flinks_outputs():
    chain = first_chain(branches())
    source, left, right = (chain.operators[position] for position in range(3))
    assert chain.head is source
    assert isinstance(source.output, CountingOutput)
    first, last = source.output.inner.outputs
    assert type(source.output.inner) is BroadcastingOutputCollector
    assert (type(first), first.target) == (CopyingChainingOutput, left)
    assert (type(last), last.target) == (ChainingOutput, right)
    assert list(chain._all_writers()) == [right.output.inner.writer]
    assert type(right.output.inner) is RecordWriterOutput
    assert left.output.inner.outputs == []


def test_object_reuse_copies_nothing():
    chain = first_chain(branches(**{"pipeline.object-reuse": "true"}))
    inner = chain.operators[0].output.inner
    assert type(inner) is BroadcastingOutputCollector
    assert [type(output) for output in inner.outputs] == [ChainingOutput, ChainingOutput]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", [fusion.MAX_OPERATORS - 1, fusion.MAX_OPERATORS + 1, 1000])
def test_chains_longer_than_a_function(form, length):
    program = Program(settings={"penstock.runtime.form": form})
    node = program.source([0, 1])
    for _ in range(length):
        node = program.add(StreamMap(lambda value: value + 1), node)
    program.collect(node)
    assert LocalExecutor().execute(program.pipeline()).collected["out"] == [length, length + 1]


@pytest.mark.parametrize("form", FORMS)
def test_more_loops_than_python_nests(form):
    program = Program(settings={"penstock.runtime.form": form})
    node = program.source([0])
    for _ in range(25):
        node = program.add(StreamFlatMap(lambda value: [value + 1]), node)
        node = program.add(StreamFilter(lambda value: value != 7), program.add(StreamMap(int), node))
    program.collect(node)
    assert LocalExecutor().execute(program.pipeline()).collected["out"] == []


@pytest.mark.parametrize("form", FORMS)
def test_an_object_that_changes_after_it_was_emitted(form):
    """Its reader in another task, or the driver, has it as it was."""

    def growing(value):
        held = []
        for _ in range(3):
            held.append(value)
            yield (value, held)

    program = Program(settings={"penstock.runtime.form": form})
    node = program.add(StreamFlatMap(growing), program.source([1, 2]))
    program.collect(node, id="here")
    program.collect(node, id="there", partitioner="REBALANCE")
    collected = LocalExecutor().execute(program.pipeline()).collected
    expected = [(n, [n] * times) for n in (1, 2) for times in (1, 2, 3)]
    assert collected["here"] == expected
    assert collected["there"] == expected


@pytest.mark.parametrize("form", FORMS)
def test_the_error_of_the_earlier_record_counts(form):
    """A key selector runs later than the functions before it, but what it raises for the first record comes first."""

    def fails_at_two(value):
        if value == 2:
            raise ValueError("two")
        return value

    def key(value):
        raise KeyError("one")

    program = Program(settings={"penstock.runtime.form": form})
    node = program.add(StreamMap(fails_at_two), program.source([1, 2, 3]))
    program.collect(node, partitioner="HASH", spec=KeyPartition(key), p=2)
    with pytest.raises(JobExecutionError) as caught:
        LocalExecutor().execute(program.pipeline())
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("failing", ["map", "filter", "flat", "none", "sink"])
def test_errors_belong_to_their_operator(form, failing):
    def raising(name, result):
        def function(value):
            if name == failing:
                raise ValueError(name)
            return None if failing == "none" and name == "flat" else result

        return function

    program = Program(settings={"penstock.runtime.form": form})
    node = program.add(StreamMap(raising("map", 1)), program.source([1]), name="map")
    node = program.add(StreamFilter(raising("filter", True)), node, name="filter")
    node = program.add(StreamFlatMap(raising("flat", [1])), node, name="flat")
    program.add(StreamSink(raising("sink", None)), node, name="sink")
    with pytest.raises(JobExecutionError) as caught:
        LocalExecutor().execute(program.pipeline())
    assert caught.value.operator == ("flat" if failing == "none" else failing)
    assert "fused" not in str(caught.value)
    if failing == "none":
        assert "where an iterable" in str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_latency_markers_pass_through_tasks_to_the_sink(form):
    program = Program(settings={"penstock.runtime.form": form, "metrics.latency.interval": "1"})
    node = program.add(StreamMap(str), program.source(range(20_000)))
    program.collect(node, partitioner="HASH", spec=KeyPartition(str), p=2, name="sink")
    result = LocalExecutor().execute(program.pipeline())
    source, mapped, sink = (result.metrics[operator_id] for operator_id in result.metrics)
    name = f"latency.source_id.{source.operator_id}"
    assert mapped.user[name].count >= 1
    assert 1 <= sink.user[name].count <= mapped.user[name].count
    assert sink.user[name].min >= mapped.user[name].min >= 0
    assert len(result.collected["out"]) == 20_000


@pytest.mark.parametrize("shows", [False, True])
def test_a_way_into_a_segment_shows_what_the_segment_shows(shows):
    """A watermark operator before a sink, say, does not hide that the sink shows records at once."""
    segment = Segment(ModuleType("functions"), None, [], print, print, closed=True, shows=shows)
    way = Columnar(segment, segment.take)
    assert (way.closed, way.shows) == (True, shows)
