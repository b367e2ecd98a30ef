"""Whole random programs: sources of several formats, steps, and a sink for each stream that nobody reads, and more."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common import Configuration
from penstock.datastream import (
    DataStream,
    ParallelSourceFunction,
    ProcessFunction,
    SourceFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)
from penstock.runtime.io.sinks import CollectSink
from tests.datastream.random_streams import INT, KINDS, Bag, Step, stamp, stamped, when
from tests.matrix.knobs import CHAINING, Setting, settings_of

MOST = 2_000
"""Records of a stream; a step that would make more is left out."""


@dataclass(frozen=True)
class Source:
    """A source of a random program.

    Attributes:
        kind: a name in :data:`SOURCES`.
        values: that it emits; of a sequence only how many.
        parallelism: of it, if it can have one.
    """

    kind: str
    values: list[int]
    parallelism: int


@dataclass(frozen=True)
class Job:
    """A random program.

    Attributes:
        sources: one or more.
        steps: each reads streams of sources and steps before it.
        extra: which streams have a sink although others read them.
    """

    sources: list[Source]
    steps: list[Step]
    extra: frozenset[int]


def random_job(seed: int) -> Job:
    """A program of many steps, decided by a seed."""
    draw = random.Random(seed)
    sources = [
        Source(draw.choice(sorted(SOURCES)), [draw.randint(-50, 50) for _ in range(draw.choice([0, 9, 80]))], p)
        for p in draw.choices([1, 2, 3], k=draw.choice([2, 3]))
    ]
    steps = [
        Step(kind, (draw.randrange(20), draw.randrange(20)), draw.randint(1, 4), draw.randint(1, 3))
        for kind in draw.choices(sorted(KINDS), k=12)
    ]
    return Job(sources, steps, frozenset(draw.sample(range(12), 2)))


def play(ctx: Any, values: list[int]) -> None:
    """Emit values with the time of each, and after each the best watermark that makes none of the rest late."""
    for index, value in enumerate(values):
        ctx.collect_with_timestamp(value, when(value))
        if index + 1 < len(values):
            ctx.emit_watermark(min(map(when, values[index + 1 :])) - 1)


class Played(SourceFunction):
    def __init__(self, values):
        self.values = values

    def run(self, ctx):
        play(ctx, self.values)


class PlayedByAll(ParallelSourceFunction):
    def __init__(self, values):
        self.values = values

    def open(self, runtime_context):
        step = runtime_context.get_number_of_parallel_subtasks()
        self.own = self.values[runtime_context.get_index_of_this_subtask() :: step]

    def run(self, ctx):
        play(ctx, self.own)


def _sequence(environment: Any, source: Source, folder: str) -> DataStream:
    longs = environment.generate_sequence(1, max(len(source.values), 1)).set_parallelism(source.parallelism)
    return stamp(longs.map(lambda value: value, INT).set_parallelism(source.parallelism))


def _text(environment: Any, source: Source, folder: str) -> DataStream:
    path = Path(folder, f"in{environment.last_id}")
    path.write_text("".join(f"{value}\n" for value in source.values))
    lines = environment.read_text_file(str(path)).set_parallelism(source.parallelism)
    return stamp(lines.map(int, INT).set_parallelism(source.parallelism))


def _in_time(source: Source) -> list[int]:
    """The values nearly in the order of their times, so that watermarks come along."""
    return sorted(source.values, key=lambda value: when(value) // 20)


SOURCES: dict[str, tuple[Callable[..., DataStream], Callable[[Source], Bag]]] = {
    "collection": (
        lambda env, source, _: stamp(env.from_collection(source.values, INT)),
        lambda source: stamped(source.values),
    ),
    "sequence": (_sequence, lambda source: stamped(range(1, max(len(source.values), 1) + 1))),
    "text": (_text, lambda source: stamped(source.values)),
    "played": (
        lambda env, source, _: env.add_source(Played(_in_time(source)), type_info=INT),
        lambda source: stamped(source.values),
    ),
    "parallel": (
        lambda env, source, _: env.add_source(PlayedByAll(_in_time(source)), type_info=INT).set_parallelism(
            source.parallelism
        ),
        lambda source: stamped(source.values),
    ),
}
"""Sources by kind: what builds them, and what they emit."""


class See(ProcessFunction):
    """Shows records with their times, holds watermarks to their promise, and leaves a trace of each opening."""

    def __init__(self, trace):
        self.trace = trace

    def open(self, runtime_context):
        me, all_ = runtime_context.get_index_of_this_subtask(), runtime_context.get_number_of_parallel_subtasks()
        runtime_context.get_metrics_group().counter("opened").inc()
        with open(f"{self.trace}-{me}-{all_}", "a") as file:
            file.write("x")
        self.watermark = -(2**63)

    def process_element(self, value, ctx):
        watermark = ctx.timer_service().current_watermark()
        if watermark < self.watermark or watermark >= ctx.timestamp():
            raise AssertionError(f"{value} at {ctx.timestamp()} after {self.watermark} and {watermark}")
        self.watermark = watermark
        yield value, ctx.timestamp()


def expected(job: Job) -> tuple[list[Bag], list[Step]]:
    """All streams as bags, and the steps that do not make too much."""
    bags = [SOURCES[source.kind][1](source) for source in job.sources]
    kept = []
    for step in job.steps:
        one, other = (bags[i % len(bags)] for i in step.inputs)
        made = KINDS[step.kind][1](one, other, step)
        if all(bag.total() <= MOST for bag in made):
            kept.append(step)
            bags += made
    return bags, kept


def check(job: Job, setting: Setting, executor: Any, folder: str) -> None:
    """Run a random program, and compare records, subtasks and openings with what they must be."""
    bags, steps = expected(job)
    environment = environment_of(setting, executor)
    shown = build(job, steps, environment, folder, lambda i, seen: seen._sink(f"sink {i}", CollectSink(str(i)), 1))
    result = environment.execute()
    assert {int(sink): Counter(map(tuple, records)) for sink, records in result.collected.items()} == {
        i: bags[i] for i in shown
    }
    opened = {f"seen{i}-{me}-{1 + i % 3}": "x" for i in shown for me in range(1 + i % 3)}
    assert {n: Path(folder, n).read_text() for n in os.listdir(folder) if n.startswith("seen")} == opened
    for i in shown:
        operator = result.metrics[f"see {i}"]
        assert [subtask.user["opened"].count for subtask in operator.subtasks] == [1] * (1 + i % 3)
        assert operator.records_in == operator.records_out == bags[i].total()


def environment_of(setting: Setting, executor: Any, **more: str) -> StreamExecutionEnvironment:
    """Where a program is built.

    Args:
        setting: of the matrix.
        executor: runs it.
        more: settings besides, with ``_`` for dots.
    """
    settings = Configuration.from_dict({**settings_of(setting), **{k.replace("_", "."): v for k, v in more.items()}})
    environment = StreamExecutionEnvironment.get_execution_environment(settings, executor=executor)
    environment.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    if not setting[CHAINING]:
        environment.disable_operator_chaining()
    return environment


def build(
    job: Job, steps: list[Step], environment: Any, folder: str, show: Callable[[int, DataStream], object]
) -> list[int]:
    """Build a program.

    Args:
        job: its sources.
        steps: those that do not make too much.
        environment: where it is built.
        folder: for its files.
        show: sends what is seen of a stream, by its number, somewhere.

    Returns:
        The streams that are shown.
    """
    streams = [SOURCES[source.kind][0](environment, source, folder) for source in job.sources]
    read: set[int] = set()
    for step in steps:
        places = [i % len(streams) for i in step.inputs]
        read.update(places)
        streams += KINDS[step.kind][0](*(streams[i] for i in places), step)
    shown = [i for i in range(len(streams)) if i not in read or i in job.extra]
    for i in shown:
        seen = streams[i].process(See(f"{folder}/seen{i}")).name(f"see {i}").set_parallelism(1 + i % 3)
        show(i, seen)
    return shown
