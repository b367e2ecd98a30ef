"""PS4xx: what programs read and write, and what is promised of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.common import RuntimeExecutionMode
from penstock.errors import PenstockError
from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject
from penstock.plan import StreamNode
from penstock.runtime.io.sinks import PrintSink, PublishedSink
from penstock.runtime.io.two_phase import TwoPhaseOutput
from penstock.runtime.kafka.sink import TransactionalKafkaOutput
from penstock.runtime.operators.source import StreamSource


class PrintSinkInEndlessProgram(Rule):
    """A program that never ends prints its records.

    All that is printed travels to the driver and to its standard output, which nobody reads for months; on Flink it
    fills the logs of the task managers. Write to files, a table or a topic; or end the program.

    Bad::

        orders.print()

    Good::

        orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
    """

    code = "PS401"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, function in subject.sinks():
            ends = node.id not in subject.endless or subject.pipeline.settings.available_now
            if isinstance(function, PrintSink) and not ends:
                yield Found(
                    f"{node.name!r} prints records of a program that never ends. Write them to files, a table or a "
                    "topic: sink_to(…).",
                    node.id,
                )


def _exactly_once(subject: Subject) -> Iterator[tuple[StreamNode, Any]]:
    for node, function in subject.sinks():
        if isinstance(function, PublishedSink | TwoPhaseOutput):
            yield node, function


class ExactlyOnceWithoutCheckpoints(Rule):
    """A sink of a program that never ends publishes with checkpoints, and there are none.

    What such a sink has written becomes visible when a checkpoint is complete. Without `enable_checkpointing` nothing
    ever does in Flink. Penstock publishes after each of its steps, so a program with a job folder, which Flink does not
    have, is no finding.

    Bad::

        orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())

    Good::

        env.enable_checkpointing(60_000)
        orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
    """

    code = "PS402"

    def find(self, subject: Subject) -> Iterator[Found]:
        settings = subject.pipeline.settings
        if settings.checkpoint_interval is not None or settings.job_folder is not None:
            return
        for node, _ in _exactly_once(subject):
            if node.id in subject.endless:
                yield Found(
                    f"{node.name!r} publishes with checkpoints, and the program, which never ends, takes none: in "
                    "Flink its output never becomes visible. Call env.enable_checkpointing(60_000), say.",
                    node.id,
                )


class ExactlyOnceSinkAtLeastOnce(Rule):
    """A sink writes each record once, and checkpoints promise at least once only.

    With `CheckpointingMode.AT_LEAST_ONCE` a restored job works on some records again, and a sink in two phases writes
    them again, in the next transaction. Its care is in vain.

    Bad::

        env.enable_checkpointing(60_000, CheckpointingMode.AT_LEAST_ONCE)
        orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())

    Good::

        env.enable_checkpointing(60_000, CheckpointingMode.EXACTLY_ONCE)
        orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
    """

    code = "PS403"

    def find(self, subject: Subject) -> Iterator[Found]:
        settings = subject.pipeline.settings
        if settings.checkpoint_interval is None or settings.checkpointing_mode != "AT_LEAST_ONCE":
            return
        for node, _ in _exactly_once(subject):
            yield Found(
                f"{node.name!r} writes each record once, but checkpoints are AT_LEAST_ONCE: after a failure records "
                "come twice. Use CheckpointingMode.EXACTLY_ONCE.",
                node.id,
            )


class SharedTransactionalId(Rule):
    """Two sinks write to Kafka in transactions of the same names.

    A broker ends the transaction of a producer when another one begins under its transactional id. Two sinks with one
    prefix, of one program or of two, end each other's: records are lost or the job fails.

    Bad::

        orders.map(str).sink_to(to_topic("one", prefix="orders"))
        orders.map(str).sink_to(to_topic("two", prefix="orders"))

    Good::

        orders.map(str).sink_to(to_topic("one", prefix="orders-one"))
        orders.map(str).sink_to(to_topic("two", prefix="orders-two"))
    """

    code = "PS404"

    def find(self, subject: Subject) -> Iterator[Found]:
        first: dict[str, StreamNode] = {}
        for node, function in subject.sinks():
            if not isinstance(function, TransactionalKafkaOutput):
                continue
            other = first.setdefault(function.prefix, node)
            if other is not node:
                yield Found(
                    f"{node.name!r} (node {node.id}) has the prefix of transactional ids {function.prefix!r}, as node "
                    f"{other.id} has: they end each other's transactions. Give each its own.",
                    node.id,
                )


class SharedTarget(Rule):
    """Two sinks write to the same place.

    The second one would replace what the first has written, or the job is refused when it starts. Sinks that add files
    to a folder may share it, and are no finding.

    Bad::

        orders.map(lambda order: order[0]).write_as_text("out")
        orders.map(lambda order: order[1]).write_as_text("out")

    Good::

        orders.map(lambda order: order[0]).write_as_text("users")
        orders.map(lambda order: order[1]).write_as_text("amounts")
    """

    code = "PS405"

    def find(self, subject: Subject) -> Iterator[Found]:
        first: dict[str, StreamNode] = {}
        for node, function in subject.sinks():
            place = _place(function)
            other = node if place is None else first.setdefault(place, node)
            if other is not node:
                yield Found(
                    f"{node.name!r} (node {node.id}) writes to {place}, as node {other.id} does. Give each a place of "
                    "its own, or unite the streams.",
                    node.id,
                )


def _place(function: Any) -> str | None:
    if not isinstance(function, PublishedSink) or function.adds or function.sends:
        return None
    try:
        return function.place()
    except (PenstockError, OSError):
        return None


class UnreadResult(Rule):
    """The result of an operator goes nowhere.

    The operator runs, with its state and all that is before it, and what it emits is dropped. Mostly a sink has been
    forgotten, or a stream been kept from an earlier version of the program. A function that writes by itself should be
    a sink: `add_sink(function)`.

    Bad::

        amounts = orders.map(lambda order: order[1])
        orders.print()

    Good::

        amounts = orders.map(lambda order: order[1])
        amounts.print()
    """

    code = "PS406"

    def find(self, subject: Subject) -> Iterator[Found]:
        for number, node in subject.nodes.items():
            runs = type(subject.operator(number)).__name__ not in ("PlanOnly", "NoneType")
            if runs and node.kind in ("operator", "two_input") and not subject.outputs[number]:
                yield Found(
                    f"Nobody reads what {node.name!r} emits. Add a sink, such as .print(), or remove the operator.",
                    number,
                )


class BoundedProgramInStreamingMode(Rule):
    """All sources end, and the program runs in STREAMING mode.

    In BATCH mode operators with a key see one key after the other, keep state for one at a time and emit only what is
    known at the end: less memory, fewer records. Results differ where every update is wanted, so this is a choice.

    Bad::

        lines.key_by(lambda line: line).reduce(lambda a, b: a + b).print()

    Good::

        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        lines.key_by(lambda line: line).reduce(lambda a, b: a + b).print()
    """

    code = "PS407"
    default = False

    def find(self, subject: Subject) -> Iterator[Found]:
        streaming = subject.pipeline.settings.runtime_mode is RuntimeExecutionMode.STREAMING
        if streaming and not subject.goes_on and any(True for _ in subject.of(StreamSource)):
            yield Found(
                "All sources of the program end, and it runs in STREAMING mode. If only final results are wanted, call "
                "env.set_runtime_mode(RuntimeExecutionMode.BATCH)."
            )


class EndlessProgramWithoutJobFolder(Rule):
    """A program that never ends has no job folder.

    Penstock keeps its state in a temporary folder then, which is removed when the program ends: started again, it
    begins anew. A program that is only planned here, and runs on Flink, needs none.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()

    Good::

        env.configure(Configuration({"penstock.job.folder": "orders-job"}))
        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """

    code = "PS408"
    default = False

    def find(self, subject: Subject) -> Iterator[Found]:
        if subject.endless and subject.pipeline.settings.job_folder is None:
            yield Found(
                "The program never ends and has no job folder: started again, it begins anew. Set "
                "penstock.job.folder to a path or a URL."
            )
