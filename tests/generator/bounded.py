"""Random programs that run once, with what they give: values with their times, or values alone."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.datastream import DataStream, ParallelSourceFunction, ProcessFunction, SourceFunction
from penstock.plan import Pipeline
from penstock.runtime.io.sinks import CollectSink
from tests.generator.choices import Choices, SeededChoices
from tests.generator.operators import BOUNDED, INT, KINDS, STATELESS, TimedBag, stamp, stamped, when
from tests.generator.programs import SINK, SOURCE, Node, Profile, Program, build, draw, ended, environment, planned
from tests.matrix.knobs import CHAINING, Setting, settings_of

MOST = 2_000
"""Records of a stream; an operator that would make more is left out."""


# --- sources ----------------------------------------------------------------------------------------------------------


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
        self.share = self.values[runtime_context.get_index_of_this_subtask() :: step]

    def run(self, ctx):
        play(ctx, self.share)


FORMATS = ("collection", "sequence", "text", "played", "parallel")


def source(environment: Any, node: Node, folder: str) -> DataStream:
    in_time = sorted(node.values, key=lambda value: when(value) // 20)  # nearly, so that watermarks come along
    if node.format == "played":
        return environment.add_source(Played(in_time), type_info=INT)
    if node.format == "parallel":
        return environment.add_source(PlayedByAll(in_time), type_info=INT).set_parallelism(node.parallelism)
    if node.format == "sequence":
        longs = environment.generate_sequence(1, max(len(node.values), 1)).set_parallelism(node.parallelism)
        return stamp(longs.map(lambda value: value, INT).set_parallelism(node.parallelism))
    if node.format == "text":
        path = Path(folder, f"in{environment.last_id}")
        path.write_text("".join(f"{value}\n" for value in node.values))
        lines = environment.read_text_file(str(path)).set_parallelism(node.parallelism)
        return stamp(lines.map(int, INT).set_parallelism(node.parallelism))
    stream = environment.from_collection(list(node.values), INT)
    return stamp(stream) if node.format else stream


def emitted(node: Node) -> TimedBag:
    return stamped(range(1, max(len(node.values), 1) + 1) if node.format == "sequence" else node.values)


# --- profiles ---------------------------------------------------------------------------------------------------------


def _read(choices: Choices, number: int, sizes: tuple[int, ...], low: int, high: int, formats: tuple[str, ...]) -> Node:
    values = tuple(choices.number(low, high) for _ in range(choices.pick(sizes)))
    format_, p = choices.pick(formats), choices.number(1, 3)
    parallel = format_ in ("sequence", "text", "parallel")
    return Node(f"source {number}", SOURCE, values=values, format=format_, parallelism=p if parallel else None)


LARGE = Profile(
    tuple(BOUNDED),
    lambda choices, number: _read(choices, number, (0, 9, 80), -50, 50, FORMATS),
    sources=(2, 3),
    operators=(12, 12),
    parallelism=(1, 3),
    operator_parallelism=lambda choices: choices.number(1, 3),
)
SMALL = replace(
    LARGE,
    source=lambda choices, number: _read(choices, number, (0, 1, 2, *range(6, 21)), -50, 50, FORMATS),
    sources=(1, 3),
    operators=(1, 9),
)
PLAIN = Profile(
    tuple(STATELESS),
    lambda choices, number: _read(choices, number, (0, 5, 300), 0, 999, ("",)),
    sources=(1, 2),
    operators=(2, 12),
    parallelism=(1, 1),
    unchained=0,
    operator_parallelism=lambda choices: choices.number(1, 4),
)
"""Operators that know neither time nor state."""


def job(choices: Choices, profile: Profile) -> Program:
    """A program with a sink for each stream that nobody reads, and some for others."""
    program = draw(choices, profile)
    for node in [node for node in program.nodes if choices.chance(15)]:
        program = program.insert(Node(f"see {node.label}", SINK, (node.label,)), at=len(program.nodes))
    return ended(program)


def random_job(seed: int) -> Program:
    """A program of many operators, decided by a seed."""
    return job(SeededChoices(seed), LARGE)


def expected(program: Program) -> tuple[dict[str, TimedBag], Program]:
    """All streams as bags, and the program without the operators that would make too much."""
    bags: dict[str, TimedBag] = {}
    for label in [node.label for node in program.nodes]:
        node = program.node(label)
        inputs = [bags[label] for label in node.inputs]
        if node.kind == "side":  # what the one before has put aside of its input
            inputs = [bags[label] for label in program.node(node.inputs[0]).inputs]
        if node.kind in (SOURCE, SINK):
            bag = emitted(node) if node.kind == SOURCE else inputs[0]
        else:
            copies = (node.parallelism or program.parallelism) if node.kind == "broadcast" else 1
            bag = KINDS[node.kind].timed(inputs, node.amount, copies)
        if bag.total() > MOST:
            program = program.without(label)
        else:
            bags[label] = bag
    return bags, program


# --- run --------------------------------------------------------------------------------------------------------------


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


def seen(program: Program) -> dict[int, str]:
    """The labels of the streams that have sinks, by number."""
    return {i: node.inputs[0] for i, node in enumerate(node for node in program.nodes if node.kind == SINK)}


def built(program: Program, setting: Setting, executor: Any, folder: str, show: Any, **more: str) -> Any:
    """The environment of a program whose sinks are made by ``show``, of a number and a stream."""
    program = replace(program, chaining=setting[CHAINING], settings={**settings_of(setting), **more})
    numbers, env = iter(range(len(program.nodes))), environment(program, executor)

    def see(stream: Any, node: Node) -> Any:
        i = next(numbers)
        return show(i, stream.process(See(f"{folder}/seen{i}")).name(f"see {i}").set_parallelism(1 + i % 3))

    build(program, env, show=see, source=lambda env, node: source(env, node, folder))
    return env


def check(program: Program, setting: Setting, executor: Any, folder: str) -> None:
    """Run a random program, and compare records, subtasks and openings with what they must be."""
    bags, program = expected(program)
    shown = seen(program)
    env = built(program, setting, executor, folder, lambda i, seen: seen._sink(f"sink {i}", CollectSink(str(i)), 1))
    result = env.execute()
    assert {int(sink): Counter(map(tuple, records)) for sink, records in result.collected.items()} == {
        i: bags[label] for i, label in shown.items()
    }
    opened = {f"seen{i}-{me}-{1 + i % 3}": "x" for i in shown for me in range(1 + i % 3)}
    assert {n: Path(folder, n).read_text() for n in os.listdir(folder) if n.startswith("seen")} == opened
    for i, label in shown.items():
        operator = result.metrics[f"see {i}"]
        assert [subtask.user["opened"].count for subtask in operator.subtasks] == [1] * (1 + i % 3)
        assert operator.records_in == operator.records_out == bags[label].total()


def plain_program(
    seed: int, chaining: bool = True, scale: int | None = None, **settings: str
) -> tuple[Pipeline, dict[str, Counter[int]]]:
    """A program of operators without time and state, at their own parallelism or at one, and what its sinks get."""
    program = replace(job(SeededChoices(seed), PLAIN), chaining=chaining, settings=settings)
    if scale is not None:
        nodes = (node if node.parallelism is None else replace(node, parallelism=scale) for node in program.nodes)
        program = replace(program, nodes=tuple(nodes), parallelism=scale)
    bags, program = expected(program)
    sinks = {node.label: bags[node.label] for node in program.nodes if node.kind == SINK}
    values = {label: Counter(value for value, _ in bag.elements()) for label, bag in sinks.items()}
    return planned(program, source=lambda env, node: source(env, node, "")), values
