"""PS3xx: how records travel, the keys by which they travel, and settings of tasks and slots."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NamedTuple, cast

from penstock.common.typeinfo import BasicType, BasicTypeInfo, PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo
from penstock.lint.bodies import always_none, function_called, is_container, method_called, results
from penstock.lint.inspection import carried_parts, is_of
from penstock.lint.rule import Found, Listed, Message, program, resumable, rule
from penstock.lint.sources import Source
from penstock.lint.subject import Subject
from penstock.plan import StreamGraph, StreamNode
from penstock.runtime.io.sinks import PrintSink
from penstock.runtime.io.sources import CollectionSource, SequenceSource
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.source import FileReader, FormatReader, StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks

_MANY_RECORDS = 10_000  # of a broadcast stream
_EVEN = frozenset({"REBALANCE", "RESCALE", "SHUFFLE"})


@rule("PS301", program)
def needless_repartition(subject: Subject) -> Iterator[Found]:
    """A repartitioning breaks a chain, and both sides have the same parallelism.

    `rebalance`, `rescale` and `shuffle` send every record over an exchange. Between two operators of the same
    parallelism whose records are spread evenly that gains nothing: without it both run in one task. `rebalance` and
    `shuffle` behind a source or a keyed operator, whose subtasks may have different loads, are not reported.

        - orders.map(lambda order: order[1]).rescale().map(str).print()
        + orders.map(lambda order: order[1]).map(str).print()
    """
    for verdict in subject.verdicts if subject.pipeline.settings.chaining else ():
        edge = subject.edges[verdict.edge]
        source, target = subject.nodes[edge.source], subject.nodes[edge.target]
        uneven = source.kind == "source" or subject.keyed(source)
        if edge.partitioner == "RESCALE":
            uneven = source.kind == "source" and source.parallelism == 1  # the next may have more elsewhere
        in_vain = verdict.rule == "partitioner" and edge.partitioner in _EVEN and not uneven
        if in_vain and source.parallelism == target.parallelism:
            yield Found(
                f"{edge.partitioner.lower()} between {source.name!r} and {target.name!r} breaks their chain, and both "
                f"have the parallelism {source.parallelism}. Remove it, or change one of the two.",
                target.id,
            )


@rule("PS302", program)
def large_broadcast(subject: Subject) -> Iterator[Found]:
    """A large stream is sent to every subtask.

    Each record is serialised, sent and processed once for every subtask. A stream that never ends, or has more than
    10,000 records, should usually be keyed on both sides instead. A stream of rules in broadcast state is not reported.

        - orders.broadcast().map(lambda order: order[1]).print()
        + orders.rebalance().map(lambda order: order[1]).print()
    """
    records = _records(subject)
    for edge in subject.edges:
        target, many = subject.nodes[edge.target], records[edge.source]
        in_state = isinstance(subject.operator(edge.target), BroadcastProcess) and math.isinf(many)
        large = edge.partitioner == "BROADCAST" and target.parallelism > 1 and many > _MANY_RECORDS
        if large and not in_state:
            number = "records without end" if math.isinf(many) else f"{many:,} records"
            yield Found(
                f"{number} of {subject.nodes[edge.source].name!r} go to each of the {target.parallelism} subtasks of "
                f"{target.name!r}. Use key_by() on both sides, or broadcast less.",
                target.id,
            )


def _records(subject: Subject) -> dict[int, float]:
    """A lower bound of the number of records that leave each node; infinite without end."""
    known: dict[int, float] = {}
    for node in subject.nodes:
        operator = subject.operator(node)
        function = operator.function if isinstance(operator, StreamSource) else None
        above = sum(known.get(edge.source, 0) for edge in subject.inputs[node])
        if isinstance(operator, StreamSource) and operator.unbounded:
            known[node] = math.inf
        elif isinstance(function, CollectionSource):
            known[node] = len(function.elements)
        elif isinstance(function, SequenceSource):
            known[node] = function.end - function.start + 1
        else:
            endless = math.isinf(above) and isinstance(operator, StreamFilter | StreamFlatMap)
            known[node] = above if endless or isinstance(operator, StreamMap | TimestampsAndWatermarks) else 0
    return known


class _Key(NamedTuple):
    """A ``key_by``."""

    call: str  # with its place
    selector: Any
    in_row: bool  # as in PyFlink
    reader: StreamNode
    declared: Any  # its type
    scalars: list[Any]  # the types that this consists of
    source: Source | None  # of the selector
    result: ast.expr | None  # what the selector returns, if it is one expression and there is no declared type


def _keys(subject: Subject) -> Listed:
    seen: set[int] = set()
    for edge in subject.edges:
        key = None if edge.partition_node is None else subject.pipeline.partitioners.get(edge.partition_node)
        if isinstance(key, KeyPartition) and edge.partitioner == "HASH" and edge.partition_node not in seen:
            seen.add(edge.partition_node or 0)
            in_row = isinstance(key.key_type, InRow)
            declared = key.key_type.key_type if isinstance(key.key_type, InRow) else key.key_type
            source = subject.sources.of(key.key_selector, "get_key").get("get_key")
            returned = [] if source is None or declared is not None else results(source.tree)
            result = returned[0] if len(returned) == 1 else None
            known = (declared, _scalars(declared), source, result)
            yield edge.target, (_Key(key.call, key.key_selector, in_row, subject.nodes[edge.target], *known),)


def _scalars(key_type: Any) -> list[Any]:
    """The types that a key type consists of: basic types, or type information."""
    if isinstance(key_type, TupleTypeInfo | RowTypeInfo):
        return [scalar for part in key_type.field_types for scalar in _scalars(part)]
    return [key_type.basic_type if isinstance(key_type, BasicTypeInfo) else key_type]


@rule("PS303", program)
def unused_key(subject: Subject) -> Iterator[Found]:
    """Records are keyed, and keyed again before anything has used the first key.

    Only the last `key_by` before an operator counts; the one before it has no effect.

        - orders.key_by(lambda order: order[0]).key_by(lambda order: order[2]).sum(1).print()
        + orders.key_by(lambda order: order[2]).sum(1).print()
    """
    partitioners = subject.pipeline.partitioners
    used = {edge.partition_node for edge in subject.edges}
    keys = {id(key) for node, key in partitioners.items() if node in used}  # an interval join uses one twice
    for node, key in partitioners.items():
        if node not in used and isinstance(key, KeyPartition) and id(key) not in keys:
            yield Found(
                f"The key of {key.call} is used by nothing: another key_by() follows before an operator does. Remove "
                "one of them.",
                call=key.call,
            )


@rule("PS304", _keys)
def float_key(subject: Subject, key: _Key) -> str:
    """A key is, or contains, a floating point number.

    Results of computations that should be equal often differ in the last bit, and are different keys then; `0.0` and
    `-0.0` are two keys in Flink, and NaN cannot be looked up. Round to whole numbers, such as cents, or key by a text.

        - orders.key_by(lambda order: order[1] / 100, key_type=Types.DOUBLE()).sum(1).print()
        + orders.key_by(lambda order: order[1], key_type=Types.LONG()).sum(1).print()
    """
    what = ""
    if any(scalar in (BasicType.FLOAT, BasicType.DOUBLE) for scalar in key.scalars):
        what = f"of type {key.declared}: numbers with fractions that should be equal often are not"
    elif any(map(_is_fraction, key.result.elts if isinstance(key.result, ast.Tuple) else [key.result])):
        what = "a number with a fraction, and two that should be equal often are not"
    return what and f"The key of {key.call} is {what}. Use whole numbers or texts."


def _is_fraction(node: ast.expr | None) -> bool:
    """Whether an expression is certainly a floating point number."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div)
    rounded = isinstance(node, ast.Call) and function_called(node) == "round" and len(node.args) == 2
    return rounded or _calls(node, "float")


def _calls(node: ast.expr | None, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


@rule("PS312", _keys)
def unusable_key(subject: Subject, key: _Key) -> str:
    """A key is a list, a dict, a set, a generator or None, which cannot be one.

    Mutable objects have no hash, so no key group; a generator is a new object for each record; without `return` the key
    is None. The job fails at the first record. Make it a tuple, such as `tuple(sorted(…))`, or a text.

        - orders.key_by(lambda order: [order[0], order[2]]).sum(1).print()
        + orders.key_by(lambda order: (order[0], order[2])).sum(1).print()
    """
    what = _unusable(key)
    return what and f"The key of {key.call} is {what}: the job fails at the first record. Make it a tuple or a text."


def _unusable(key: _Key) -> str:
    source, node = key.source, key.result
    if source is None:
        return ""
    returned = results(source.tree)
    one = returned[0] if len(returned) == 1 else None
    iterates = isinstance(one, ast.GeneratorExp) or _calls(one, "map", "filter", "zip", "reversed", "iter", "enumerate")
    if source.is_generator or source.is_coroutine or iterates:
        return "a generator, which is another one for each record"
    if always_none(source) and not key.in_row:  # in PyFlink None is a key like any other
        return "None, as its function returns nothing"
    called = None if node is None else method_called(node)
    splits = called is not None and called[1] in ("split", "rsplit", "splitlines")
    mutable = splits or is_container(node) or (called is None and _calls(node, "sorted"))
    return "a list, a dict or a set, which has no hash" if mutable else ""


@rule("PS313", program)
def key_without_use(subject: Subject) -> Iterator[Found]:
    """Records are keyed, and the next operators look at one record at a time.

    `key_by` sends each record to the subtask of its key. A `map`, `flat_map` or `filter` with a plain function does not
    notice: it gets the records one by one, as without the key, after an exchange that costs time. To combine the
    records of a key use `reduce`, `sum`, a window, or a `KeyedProcessFunction`; otherwise remove `key_by`.

    Functions that are objects, which may keep something, and records that go to a sink, which may need them in order,
    are not reported.

        - orders.key_by(lambda order: order[0]).map(lambda order: (order[0], order[1] * 2)).print()
        + orders.key_by(lambda order: order[0]).reduce(lambda a, b: (a[0], a[1] + b[1], b[2])).print()
    """
    readers: dict[int, list[int]] = {}
    for edge in subject.edges if not subject.pipeline.settings.batch else ():
        if edge.partitioner == "HASH" and edge.partition_node is not None:
            readers.setdefault(edge.partition_node, []).append(edge.target)
    for partition, targets in readers.items():
        key = subject.pipeline.partitioners.get(partition)
        if isinstance(key, KeyPartition) and all(_is_one_by_one(subject, target) for target in targets):
            yield Found(
                f"The key of {key.call} is used by nothing: {subject.nodes[targets[0]].name!r} and what follows look "
                "at one record at a time. Use reduce(), a window or a KeyedProcessFunction, or remove key_by().",
                targets[0],
            )


def _is_one_by_one(subject: Subject, node: int) -> bool:
    """Whether an operator, and all that follow it in its task, look at one record at a time."""
    pending = [node]
    while pending:
        current = pending.pop()
        operator, functions = subject.operator(current), subject.own_functions(current)
        prints = subject.nodes[current].kind == "sink" and isinstance(operator.function, PrintSink)
        if current == node or not prints:
            plain = isinstance(operator, StreamMap | StreamFlatMap | StreamFilter) and len(functions) == 1
            if not plain or not is_of(functions[0], FunctionType) or not _is_stateless(subject, functions[0]):
                return False
        pending += [edge.target for edge in subject.outputs[current] if edge.partitioner == "FORWARD"]
    return True


def _is_stateless(subject: Subject, function: FunctionType) -> bool:
    """Whether a function is the program's, and refers to nothing but modules, functions and constants."""
    if not subject.sources.of(function, "map") or subject.inspector.uses(function).written or function.__defaults__:
        return False
    constants = (str, int, float, bytes, tuple, frozenset, type(None), FunctionType)
    return all(is_of(part, *constants) for _, part in carried_parts(function))


@rule("PS305", _keys)
def few_keys(subject: Subject, key: _Key) -> Iterator[str]:
    """A key has two values at most, and the operator has more subtasks.

    With a boolean key at most two subtasks have work, whatever the parallelism is.

        - orders.key_by(lambda order: order[1] > 100, key_type=Types.BOOLEAN()).sum(1).set_parallelism(8).print()
        + orders.key_by(lambda order: order[0], key_type=Types.STRING()).sum(1).set_parallelism(8).print()
    """
    result, reader = key.result, key.reader
    negation = isinstance(result, ast.UnaryOp) and isinstance(result.op, ast.Not)
    boolean = negation or isinstance(result, ast.Compare) or key.scalars == [BasicType.BOOLEAN]
    if boolean and reader.parallelism > 2:
        yield (
            f"The key of {key.call} is true or false, so at most 2 of the {reader.parallelism} subtasks of "
            f"{reader.name!r} have work. Key by more, or lower the parallelism."
        )


@rule("PS306", _keys)
def constant_key(subject: Subject, key: _Key) -> Iterator[str]:
    """All records have the same key.

    Everything goes to one subtask; the others wait. If that is intended, use `window_all()` or `set_parallelism(1)`.

        - orders.key_by(lambda order: 0).sum(1).set_parallelism(8).print()
        + orders.key_by(lambda order: order[0]).sum(1).set_parallelism(8).print()
    """
    if key.reader.parallelism > 1 and subject.inspector.uses(key.selector).constant:
        yield (
            f"The key of {key.call} is the same for all records, so one of the {key.reader.parallelism} subtasks "
            f"of {key.reader.name!r} does all the work. Key by something of the record, or set the parallelism to 1."
        )


@rule("PS307", resumable(_keys), default=False)
def undeclared_key_type(subject: Subject, key: _Key) -> Message:
    """The type of a key is not declared, and the program's state outlives it.

    The type decides, with the value, in which key group the state is. An undeclared key is typed by its Python object:
    if the function returns `1` today and `"1"` or `True` tomorrow, no state is found, silently.

        - orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
        + orders.key_by(lambda order: order[0], key_type=Types.STRING()).sum(1).uid("totals").print()
    """
    return key.declared is None and (
        f"The key of {key.call} has no declared type, and state is kept by it. Give key_type=…, such as Types.STRING()."
    )


@rule("PS308", _keys)
def pickled_key(subject: Subject, key: _Key) -> Message:
    """A key is, or contains, a pickled object.

    Flink compares such keys by their bytes, which may differ for equal objects: dicts and sets filled in another order,
    numbers of another type, classes of another version. Then records that belong together go to different subtasks, or
    find no state. Key by texts, numbers, or tuples of these.

        - orders.key_by(lambda order: {order[0]}, key_type=Types.PICKLED_BYTE_ARRAY()).sum(1).print()
        + orders.key_by(lambda order: order[0], key_type=Types.STRING()).sum(1).print()
    """
    return any(isinstance(scalar, PickledBytesTypeInfo) for scalar in key.scalars) and (
        f"The key of {key.call} is of type {key.declared}: keys are compared by their pickled bytes, which equal "
        "objects need not share. Use texts, numbers, or tuples of these."
    )


@rule("PS309", program, default=False)
def undeclared_type_in_exchange(subject: Subject) -> Iterator[Found]:
    """Records of an undeclared type are sent from task to task.

    Each record is pickled, which can take three times the bytes of typed columns and is opaque to Java in Flink.
    `output_type=` of the operator before the exchange declares the type.

        - orders.map(lambda order: (order[0], 1)).key_by(lambda pair: pair[0]).sum(1).print()
        + PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
        + orders.map(lambda order: (order[0], 1), output_type=PAIR).key_by(lambda pair: pair[0]).sum(1).print()
    """
    undeclared: dict[int, None] = {}
    for verdict in subject.verdicts:
        edge = subject.edges[verdict.edge]
        declared = subject.declared(edge) is not None or subject.operator(edge.source) is None
        files = isinstance(subject.operator(edge.target), FileReader | FormatReader)  # which reads splits, not records
        if not verdict.chained and not declared and not files:
            undeclared[edge.source] = None
    for node in undeclared:
        yield Found(
            f"The records of {subject.nodes[node].name!r} have no declared type and are sent to another task: each is "
            "pickled. Give output_type=….",
            node,
        )


@rule("PS310", program)
def chaining_disabled_in_vain(subject: Subject) -> Iterator[Found]:
    """`disable_chaining` is called on an operator that would be in no chain anyway.

    Its neighbours are behind an exchange, have another parallelism or are in other chains. The call has no effect now,
    and costs an extra task as soon as one of them changes.

        - orders.rebalance().map(lambda order: order[1]).disable_chaining().set_parallelism(3).rebalance().print()
        + orders.rebalance().map(lambda order: order[1]).set_parallelism(3).rebalance().print()
    """
    never = [node for node in subject.nodes.values() if node.chaining_strategy == "NEVER"]
    if not never:
        return
    spec = cast("dict[str, Any]", subject.pipeline.stream_graph.to_dict())
    for node in spec["nodes"]:
        if node.get("chaining_strategy") == "NEVER":
            node["chaining_strategy"] = "ALWAYS"
    verdicts = StreamGraph.from_dict(spec).verdicts()
    chainable = [edge for edge, verdict in zip(subject.edges, verdicts, strict=True) if verdict.chained]
    effective = {node for edge in chainable for node in (edge.source, edge.target)}
    for node in never:
        if node.id not in effective:
            yield Found(
                f"disable_chaining() of {node.name!r} has no effect: nothing could be chained to it. Remove it.",
                node.id,
            )


@rule("PS311", program)
def slot_sharing_group_in_vain(subject: Subject) -> Iterator[Found]:
    """All operators are in one named slot sharing group.

    Groups keep operators in different slots: if every operator inherits the named one, nothing is separated.

          source = env.from_source(endless, in_order, "clicks").slot_sharing_group("clicks")
        - source.map(lambda click: click[0]).print()
        + source.map(lambda click: click[0]).slot_sharing_group("work").print()
    """
    group, *others = {node.slot_sharing_group for node in subject.nodes.values()} or {None}
    if not others and group not in (None, "default"):
        yield Found(
            f"All operators are in the slot sharing group {group!r}, so nothing is kept apart. Remove it, or give some "
            "of them another one.",
            next(iter(subject.nodes)),
        )


@rule("PS314", program)
def key_dropped(subject: Subject) -> Iterator[Found]:
    """A stream is keyed, and the result is not used.

    `key_by` and `partition_custom` do not change the stream: they return another one. Without an operator on that one
    there is no exchange and no key. Chain the next call, or keep the result in a variable.

        - orders.key_by(lambda order: order[0])
        - orders.map(lambda order: order[1]).print()
        + users = orders.key_by(lambda order: order[0])
        + users.sum(1).print()
    """
    for call in subject.dropped_calls("key_by", "partition_custom"):
        yield Found(
            f"The result of {call} is not used, so it does nothing: the stream itself stays as it is. Chain the next "
            "call, or keep the result.",
            call=call,
        )
