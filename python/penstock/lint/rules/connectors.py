"""PS4xx: sources and sinks, and what checkpoints guarantee for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import getattr_static
from typing import Any

from penstock.common import OutputTag, RuntimeExecutionMode
from penstock.connectors.kafka.sink import TransactionalKafkaOutput
from penstock.connectors.two_phase import TwoPhaseOutput
from penstock.errors import PenstockError
from penstock.lint.bodies import assigned, attribute_of_self, meaning, own_nodes
from penstock.lint.rule import Message, bodies, program, repeated, rule, sinks
from penstock.lint.sources import Source
from penstock.lint.subject import Body, Subject
from penstock.plan import StreamNode
from penstock.runtime.io.sinks import PrintSink, PublishedSink
from penstock.runtime.operators.source import StreamSource

_OFTEN = 100  # milliseconds: a shorter checkpoint interval was probably meant in seconds


@rule("PS401", sinks)
def print_sink_in_endless_program(subject: Subject, node: StreamNode, function: Any) -> Iterator[str]:
    """A program that never ends prints its records.

    All that is printed travels to the driver and to its standard output; on Flink it fills the logs of the task
    managers. Write to files, a table or a topic; or end the program.

        - orders.print()
        + orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
    """
    ends = node.id not in subject.endless or subject.pipeline.settings.available_now
    if not ends and isinstance(function, PrintSink):
        yield (
            f"{node.name!r} prints records of a program that never ends. Write them to files, a table or a topic: "
            "sink_to(…)."
        )


@rule("PS402", sinks)
def exactly_once_without_checkpoints(subject: Subject, node: StreamNode, function: Any) -> Iterator[str]:
    """A sink of a program that never ends commits with checkpoints, and there are none.

    Its output becomes visible when a checkpoint is complete: without `enable_checkpointing` never, in Flink. Penstock
    commits after each of its steps, so a program with a checkpoint directory is not reported.

        + env.enable_checkpointing(60_000)
          orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
    """
    settings = subject.pipeline.settings
    commits = settings.checkpoint_interval is not None or settings.checkpoint_directory is not None
    waits = isinstance(function, PublishedSink | TwoPhaseOutput) and node.id in subject.endless
    if not commits and waits:
        yield (
            f"{node.name!r} publishes with checkpoints, and the program, which never ends, takes none: in Flink its "
            "output never becomes visible. Call env.enable_checkpointing(60_000), say."
        )


@rule("PS403", sinks)
def exactly_once_sink_at_least_once(subject: Subject, node: StreamNode, function: Any) -> Iterator[str]:
    """A sink writes each record exactly once, and checkpoints guarantee at least once only.

    With `CheckpointingMode.AT_LEAST_ONCE` a restored job processes some records again, and the sink writes them again,
    in the next transaction.

        - env.enable_checkpointing(60_000, CheckpointingMode.AT_LEAST_ONCE)
        + env.enable_checkpointing(60_000, CheckpointingMode.EXACTLY_ONCE)
          orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
    """
    settings = subject.pipeline.settings
    again = settings.checkpoint_interval is not None and settings.checkpointing_mode == "AT_LEAST_ONCE"
    if again and isinstance(function, PublishedSink | TwoPhaseOutput):
        yield (
            f"{node.name!r} writes each record once, but checkpoints are AT_LEAST_ONCE: after a failure records come "
            "twice. Use CheckpointingMode.EXACTLY_ONCE."
        )


def _prefix(function: Any) -> str | None:
    return function.prefix if isinstance(function, TransactionalKafkaOutput) else None


@rule("PS404", repeated(lambda subject: ((node, _prefix(function)) for node, function in subject.sinks())))
def shared_transactional_id(subject: Subject, node: StreamNode, prefix: str, other: StreamNode) -> Message:
    """Two sinks write to Kafka in transactions of the same names.

    A broker ends a transaction when another producer begins one under its transactional id. So two sinks with one
    prefix, of one program or of two, end each other's transactions: records are lost or the job fails.

        - orders.map(str).sink_to(to_topic("one", prefix="orders"))
        - orders.map(str).sink_to(to_topic("two", prefix="orders"))
        + orders.map(str).sink_to(to_topic("one", prefix="orders-one"))
        + orders.map(str).sink_to(to_topic("two", prefix="orders-two"))
    """
    return (
        f"{node.name!r} (node {node.id}) has the prefix of transactional ids {prefix!r}, as node {other.id} has: they "
        "end each other's transactions. Give each its own."
    )


def _places(subject: Subject) -> Iterator[tuple[StreamNode, str | None]]:
    """Where sinks write that replace what is there."""
    for node, function in subject.sinks():
        if isinstance(function, PublishedSink) and not function.adds and not function.sends:
            try:
                yield node, function.place()
            except (PenstockError, OSError):
                continue


@rule("PS405", repeated(_places))
def shared_target(subject: Subject, node: StreamNode, place: str, other: StreamNode) -> Message:
    """Two sinks write to the same place.

    The second one would replace the output of the first, or the job is refused when it starts. Sinks that add files to
    a folder may share it, and are not reported.

        - orders.map(lambda order: order[0]).write_as_text("out")
        - orders.map(lambda order: order[1]).write_as_text("out")
        + orders.map(lambda order: order[0]).write_as_text("users")
        + orders.map(lambda order: order[1]).write_as_text("amounts")
    """
    return (
        f"{node.name!r} (node {node.id}) writes to {place}, as node {other.id} does. Give each a place of its own, or "
        "unite the streams."
    )


@rule("PS406")
def unread_result(subject: Subject, node: StreamNode) -> Iterator[str]:
    """The result of an operator goes nowhere.

    The operator and everything upstream of it run, and the output is dropped. Usually a sink is missing, or the stream
    is left over from an earlier version of the program. A function that writes by itself should be a sink:
    `add_sink(function)`.

          amounts = orders.map(lambda order: order[1])
        - orders.print()
        + amounts.print()
    """
    runs = type(subject.operator(node.id)).__name__ not in ("PlanOnly", "NoneType")
    if runs and node.kind in ("operator", "two_input") and not subject.outputs[node.id]:
        yield (f"Nobody reads what {node.name!r} emits. Add a sink, such as .print(), or remove the operator.")


@rule("PS409", bodies)
def unread_side_output(subject: Subject, body: Body) -> Iterator[str]:
    """A function emits to a side output that nothing reads.

    Records that are yielded with an `OutputTag` are read by `get_side_output(tag)`. If that is not called, or nothing
    follows it, the records are lost, or go to the main stream as pairs of tag and value.

          large = OutputTag("large", ORDER)

          class Split(ProcessFunction):
              def process_element(self, value, ctx):
                  yield large, value

        - orders.process(Split()).print()
        + orders.process(Split()).get_side_output(large).print("large")
    """
    read = {edge.side_output for edge in subject.outputs[body.node.id]}
    tags = {tag for source in body.called("yield") for tag in _tags(body, source)}
    for tag in sorted(tags - read):
        yield (
            f"{body.node.name!r} emits to the side output {tag!r}, which is never read. Call get_side_output() of its "
            "result and write that somewhere, or do not emit it."
        )


def _tags(body: Body, source: Source) -> Iterator[str]:
    """The ids of the tags with which a method yields records."""
    for node in own_nodes(source.tree):
        pair = node.value if isinstance(node, ast.Yield) else None
        if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
            continue
        first = pair.elts[0]
        if isinstance(first, ast.Name) and assigned(source.tree, first.id):
            continue
        if isinstance(first, ast.Attribute) and attribute_of_self(first) == first.attr:
            tag = getattr_static(body.function, first.attr, None)
        else:
            tag = meaning(first, source)
        if isinstance(tag, OutputTag):
            yield tag.tag_id


@rule("PS410", program)
def checkpoints_too_often(subject: Subject) -> Iterator[str]:
    """Checkpoints are taken many times a second: perhaps seconds were meant.

    `enable_checkpointing` takes milliseconds. Each checkpoint costs files and a commit of every sink; at many a second
    the job does little else.

        - env.enable_checkpointing(60)
        + env.enable_checkpointing(60_000)
          orders.print()
    """
    interval = subject.pipeline.settings.checkpoint_interval
    if interval is not None and interval < _OFTEN:
        yield (
            f"Checkpoints are taken every {interval} milliseconds. If seconds are meant: "
            f"enable_checkpointing({interval}_000)."
        )


@rule("PS407", program, default=False)
def bounded_program_in_streaming_mode(subject: Subject) -> Message:
    """All sources end, and the program runs in STREAMING mode.

    In BATCH mode keyed operators process one key after the other and emit final results only: less memory, fewer
    records. That is a choice, as some programs want every update.

        + env.set_runtime_mode(RuntimeExecutionMode.BATCH)
          lines.key_by(lambda line: line).reduce(lambda a, b: a + b).print()
    """
    streaming = subject.pipeline.settings.runtime_mode is RuntimeExecutionMode.STREAMING
    return (
        streaming
        and not subject.resumable
        and any(True for _ in subject.of(StreamSource))
        and (
            "All sources of the program end, and it runs in STREAMING mode. If only final results are wanted, call "
            "env.set_runtime_mode(RuntimeExecutionMode.BATCH)."
        )
    )


@rule("PS408", program, default=False)
def endless_program_without_checkpoint_directory(subject: Subject) -> Message:
    """A program that never ends has no checkpoint directory.

    Its state is then in a temporary folder, which is removed when the program ends: the next start begins from nothing.
    A program that is only planned here, and runs on Flink, needs none.

        + env.configure(Configuration({"execution.checkpointing.dir": "orders-job"}))
          orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """
    return (
        bool(subject.endless)
        and subject.pipeline.settings.checkpoint_directory is None
        and (
            "The program never ends and has no checkpoint directory: started again, it begins from nothing. Set "
            "execution.checkpointing.dir to a path or a URL."
        )
    )
