"""PS3xx, the first half: how records travel, and what keys they travel by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from penstock.common.typeinfo import BasicType, BasicTypeInfo, PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo
from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject
from penstock.runtime.io.sources import CollectionSource, SequenceSource
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.format_reader import FormatReader
from penstock.runtime.operators.source import FileReader, StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks

MANY_RECORDS = 10_000
"""Records from which on a broadcast stream is large."""
_EVEN = frozenset({"REBALANCE", "RESCALE", "SHUFFLE"})


class NeedlessRepartition(Rule):
    """A repartitioning breaks a chain, and both sides have the same parallelism.

    `rebalance`, `rescale` and `shuffle` send every record over an exchange. Between two operators of the same
    parallelism, whose records are spread evenly already, that costs serialisation and gives nothing: without it both
    run in one task. Behind a source or a keyed operator, where some subtasks may have more than others, `rebalance`
    and `shuffle` are no finding.

    Bad::

        orders.map(lambda order: order[1]).rescale().map(str).print()

    Good::

        orders.map(lambda order: order[1]).map(str).print()
    """

    code = "PS301"

    def find(self, subject: Subject) -> Iterator[Found]:
        for verdict in subject.verdicts:
            if verdict.rule != "partitioner":
                continue
            edge = subject.edges[verdict.edge]
            source, target = subject.nodes[edge.source], subject.nodes[edge.target]
            if source.parallelism != target.parallelism or not subject.pipeline.settings.chaining:
                continue
            if edge.partitioner == "RESCALE":
                uneven = source.kind == "source" and source.parallelism == 1  # the next may have more elsewhere
            else:
                uneven = source.kind == "source" or subject.keyed(source)
            if edge.partitioner in _EVEN and not uneven:
                yield Found(
                    f"{edge.partitioner.lower()} between {source.name!r} and {target.name!r} breaks their chain, and "
                    f"both have the parallelism {source.parallelism}. Remove it, or change one of the two.",
                    target.id,
                )


class LargeBroadcast(Rule):
    """A large stream is sent to every subtask.

    Each record of a broadcast is serialised, sent and worked on once for every subtask. A stream that never ends, or
    has more than 10,000 records, is mostly meant to be keyed on both sides instead. A small stream of rules that is
    kept in broadcast state is what broadcasting is for, and no finding.

    Bad::

        orders.broadcast().map(lambda order: order[1]).print()

    Good::

        orders.rebalance().map(lambda order: order[1]).print()
    """

    code = "PS302"

    def find(self, subject: Subject) -> Iterator[Found]:
        records = _records(subject)
        for edge in subject.edges:
            target, many = subject.nodes[edge.target], records[edge.source]
            kept = isinstance(subject.operator(edge.target), BroadcastProcess)
            if edge.partitioner != "BROADCAST" or target.parallelism < 2 or many <= MANY_RECORDS:
                continue
            if not (kept and math.isinf(many)):
                told = "records without end" if math.isinf(many) else f"{many:,} records"
                yield Found(
                    f"{told} of {subject.nodes[edge.source].name!r} go to each of the {target.parallelism} subtasks of "
                    f"{target.name!r}. Use key_by() on both sides, or broadcast less.",
                    target.id,
                )


def _records(subject: Subject) -> dict[int, float]:
    """How many records leave each node, as far as it is known: at least so many, without end included."""
    known: dict[int, float] = {}
    for node in subject.nodes:
        operator = subject.operator(node)
        above = sum(known.get(edge.source, 0) for edge in subject.inputs[node])
        if isinstance(operator, StreamSource):
            known[node] = math.inf if operator.unbounded else _count(operator.function)
        elif isinstance(operator, StreamMap | TimestampsAndWatermarks):
            known[node] = above
        else:
            known[node] = above if math.isinf(above) and isinstance(operator, StreamFilter | StreamFlatMap) else 0
    return known


def _count(function: Any) -> int:
    if isinstance(function, CollectionSource):
        return len(function.elements)
    return function.end - function.start + 1 if isinstance(function, SequenceSource) else 0


def _keys(subject: Subject) -> Iterator[tuple[int, KeyPartition]]:
    """How records are keyed on their way to a node, each way once, in order of the edges."""
    seen: set[int] = set()
    for edge in subject.edges:
        spec = None if edge.partition_node is None else subject.pipeline.partitioners.get(edge.partition_node)
        if isinstance(spec, KeyPartition) and edge.partitioner == "HASH" and edge.partition_node not in seen:
            seen.add(edge.partition_node or 0)
            yield edge.target, spec


def _key_type(spec: KeyPartition) -> Any:
    return spec.key_type.key_type if isinstance(spec.key_type, InRow) else spec.key_type


def _scalars(key_type: Any) -> list[Any]:
    """The types that a key type consists of."""
    found: list[Any] = []
    pending = [key_type]
    while pending:
        current = pending.pop()
        if isinstance(current, TupleTypeInfo | RowTypeInfo):
            pending.extend(reversed(current.field_types))
        else:
            found.append(current)
    return found


def _basic(type_info: Any) -> BasicType | None:
    return type_info.basic_type if isinstance(type_info, BasicTypeInfo) else None


class UnusedKey(Rule):
    """Records are keyed, and keyed again before anything has used the first key.

    Only the last `key_by` before an operator counts; the one before it is neither computed nor sent by.

    Bad::

        orders.key_by(lambda order: order[0]).key_by(lambda order: order[2]).sum(1).print()

    Good::

        orders.key_by(lambda order: order[2]).sum(1).print()
    """

    code = "PS303"

    def find(self, subject: Subject) -> Iterator[Found]:
        partitioners = subject.pipeline.partitioners
        used = {edge.partition_node for edge in subject.edges}
        keys = {id(spec) for node, spec in partitioners.items() if node in used}  # an interval join asks twice for one
        for node, spec in partitioners.items():
            if node not in used and isinstance(spec, KeyPartition) and id(spec) not in keys:
                yield Found(
                    f"The key of {spec.call} is used by nothing: another key_by() follows before an operator does. "
                    "Remove one of them.",
                    call=spec.call,
                )


class FloatKey(Rule):
    """A key is, or contains, a number with a fraction.

    Two results of a computation that should be equal often differ in the last bit, and are two keys then; `0.0` and
    `-0.0` are two keys in Flink, and NaN is none that can be asked for. Round to whole numbers, such as cents, or key
    by a text.

    Bad::

        orders.key_by(lambda order: order[1] / 100, key_type=Types.DOUBLE()).sum(1).print()

    Good::

        orders.key_by(lambda order: order[1], key_type=Types.LONG()).sum(1).print()
    """

    code = "PS304"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, spec in _keys(subject):
            floats = [each for each in _scalars(_key_type(spec)) if _basic(each) in (BasicType.FLOAT, BasicType.DOUBLE)]
            if floats:
                yield Found(
                    f"The key of {spec.call} is of type {_key_type(spec)}: numbers with fractions that should be equal "
                    "often are not. Use whole numbers or texts.",
                    node,
                )


class FewKeys(Rule):
    """A key has two values at most, and more subtasks wait for records.

    All records of a key go to one subtask. With a truth value as key two subtasks at most have work, whatever the
    parallelism is.

    Bad::

        orders.key_by(lambda order: order[1] > 100, key_type=Types.BOOLEAN()).sum(1).set_parallelism(8).print()

    Good::

        orders.key_by(lambda order: order[0], key_type=Types.STRING()).sum(1).set_parallelism(8).print()
    """

    code = "PS305"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, spec in _keys(subject):
            if [_basic(each) for each in _scalars(_key_type(spec))] != [BasicType.BOOLEAN]:
                continue
            subtasks = subject.nodes[node].parallelism
            if subtasks > 2:
                yield Found(
                    f"The key of {spec.call} is true or false, so at most 2 of the {subtasks} subtasks of "
                    f"{subject.nodes[node].name!r} have work. Key by more, or lower the parallelism.",
                    node,
                )


class ConstantKey(Rule):
    """All records have the same key.

    A function that returns a constant sends everything to one subtask, and keeps the others, if there are any, waiting.
    Where one subtask is meant, `window_all()` or `set_parallelism(1)` says so.

    Bad::

        orders.key_by(lambda order: 0).sum(1).set_parallelism(8).print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).set_parallelism(8).print()
    """

    code = "PS306"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, spec in _keys(subject):
            subtasks = subject.nodes[node].parallelism
            if subtasks > 1 and subject.inspector.uses(spec.key_selector).constant:
                yield Found(
                    f"The key of {spec.call} is the same for all records, so one of the {subtasks} subtasks of "
                    f"{subject.nodes[node].name!r} does all the work. Key by something of the record, or set the "
                    "parallelism to 1.",
                    node,
                )


class UndeclaredKeyType(Rule):
    """The type of a key is not declared, and the program's state outlives it.

    The type of a key decides, with its value, in which key group the state is. An undeclared key goes by what Python
    object it is: if the function returns `1` today and `"1"` or `True` tomorrow, no state is found, and nothing says
    so. A declared type is checked.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()

    Good::

        orders.key_by(lambda order: order[0], key_type=Types.STRING()).sum(1).uid("totals").print()
    """

    code = "PS307"
    default = False

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, spec in _keys(subject) if subject.goes_on else ():
            if _key_type(spec) is None:
                yield Found(
                    f"The key of {spec.call} has no declared type, and state is kept by it. Give key_type=…, such as "
                    "Types.STRING().",
                    node,
                )


class PickledKey(Rule):
    """A key is, or contains, a pickled object.

    Flink compares such keys by their bytes, and two objects that are equal need not have equal bytes: dicts and sets
    that were filled in another order, numbers of another type, classes of another version. Records that belong together
    go to different subtasks, or find no state. Key by texts, numbers, or tuples of these.

    Bad::

        orders.key_by(lambda order: {order[0]}, key_type=Types.PICKLED_BYTE_ARRAY()).sum(1).print()

    Good::

        orders.key_by(lambda order: order[0], key_type=Types.STRING()).sum(1).print()
    """

    code = "PS308"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, spec in _keys(subject):
            if any(isinstance(each, PickledBytesTypeInfo) for each in _scalars(_key_type(spec))):
                yield Found(
                    f"The key of {spec.call} is of type {_key_type(spec)}: keys are compared by their pickled bytes, "
                    "which equal objects need not share. Use texts, numbers, or tuples of these.",
                    node,
                )


class UndeclaredTypeInExchange(Rule):
    """Records of no declared type are sent from task to task.

    Each of them is pickled, which can take three times the bytes of typed columns, and of which Java sees nothing but
    bytes in Flink. `output_type=` of the operator before the exchange declares it.

    Bad::

        orders.map(lambda order: (order[0], 1)).key_by(lambda pair: pair[0]).sum(1).print()

    Good::

        PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
        orders.map(lambda order: (order[0], 1), output_type=PAIR).key_by(lambda pair: pair[0]).sum(1).print()
    """

    code = "PS309"
    default = False

    def find(self, subject: Subject) -> Iterator[Found]:
        told: set[int] = set()
        for verdict in subject.verdicts:
            edge = subject.edges[verdict.edge]
            key = edge.source if edge.side_output is None else (edge.source, edge.side_output)
            declared = subject.pipeline.types.get(key) is not None or subject.operator(edge.source) is None
            files = isinstance(subject.operator(edge.target), FileReader | FormatReader)  # its splits are no records
            if not verdict.chained and not declared and not files and edge.source not in told:
                told.add(edge.source)
                yield Found(
                    f"The records of {subject.nodes[edge.source].name!r} have no declared type and are sent to another "
                    "task: each is pickled. Give output_type=….",
                    edge.source,
                )
