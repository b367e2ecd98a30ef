"""PS207 to PS209, and PS216 to PS218: wrong clocks, and timers that do not fire as they are meant to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from penstock.lint.bodies import (
    assigned,
    assigned_once,
    attribute_of_self,
    calls,
    changes,
    function_called,
    method_called,
    results,
)
from penstock.lint.event_time import strategy_of
from penstock.lint.inspection import CLOCKS, attributes_of, class_of
from penstock.lint.rule import Found, Listed, Message, keyed_bodies, methods, program, rule
from penstock.lint.rules.functions import short_name
from penstock.lint.sources import Source
from penstock.lint.subject import Body, Subject
from penstock.plan import StreamNode
from penstock.runtime.io.sources import CollectionSource
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.triggers import ProcessingTimeTrigger

_SECONDS = range(1_000_000_000, 4_000_000_000)  # since 1970, of the years 2001 to 2096
_EARLY = range(100, 100_000_000_000)  # milliseconds that are a delay: as a time they are before 1973
_SAMPLE = 100  # records of a collection that are looked at
_ENDINGS = ("seconds", "_sec", "_secs", "_s", "unixtime", "unix_time", "unix_timestamp")
_REGISTER = {"event": "register_event_time_timer", "processing": "register_processing_time_timer"}


def _assigners(subject: Subject) -> Listed:
    """The nodes whose strategies take timestamps out of records, with the operators and the functions."""
    for node, operator in subject.of((StreamSource, TimestampsAndWatermarks)):
        assigner = getattr(strategy_of(operator), "assigner", None)
        if assigner is not None:
            yield node.id, (node, operator, assigner)


@rule("PS207", program)
def event_time_in_seconds(subject: Subject) -> Iterator[Found]:
    """Event time is given in seconds, and counts as milliseconds.

    `datetime.timestamp()` and `time.time()` are seconds, and so are many fields of records. As milliseconds they are in
    1970: windows of a minute hold a day of records, and timers fire far too early. Multiply by 1000.

        - by_seconds = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
        -     lambda order, _: int(datetime.fromisoformat(order[0]).timestamp())
        + by_milliseconds = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
        +     lambda order, _: int(datetime.fromisoformat(order[0]).timestamp() * 1000)
          )
        - orders.assign_timestamps_and_watermarks(by_seconds).print()
        + orders.assign_timestamps_and_watermarks(by_milliseconds).print()
    """
    for number, (node, operator, assigner) in _assigners(subject):
        source = subject.sources.of(assigner, "extract_timestamp").get("extract_timestamp")
        why = "" if source is None else _why_seconds(subject, node, operator, source)
        if why:
            yield Found(
                f"The timestamp assigner of {node.name!r} gives seconds, {why}, and event time is in milliseconds. "
                "Multiply by 1000.",
                number,
            )
    for number, (body, source) in methods("yield")(subject):
        if any(_in_seconds(call) for call, _, _ in calls(source.tree, *_REGISTER.values())):
            yield Found(
                f"{body.title} sets a timer in seconds, and times are in milliseconds. Multiply by 1000.", number
            )


def _why_seconds(subject: Subject, node: StreamNode, operator: Any, source: Source) -> str:
    """Why a timestamp is in seconds; "" if it may be milliseconds."""
    if _in_seconds(source.tree):
        return "by timestamp() or time()"
    returned = [_bare(result) for result in results(source.tree)]
    for field in returned:
        name = field.attr if isinstance(field, ast.Attribute) else _key(field)
        if isinstance(name, str) and name.lower().endswith(_ENDINGS):
            return f"those of {name!r}"
    readers = [operator] if isinstance(operator, StreamSource) else []
    readers += [subject.operator(edge.source) for edge in subject.inputs[node.id]]
    function = getattr(readers[0], "function", None) if len(readers) == 1 else None
    if isinstance(function, CollectionSource) and len(returned) == 1:
        values = [_value(returned[0], source, element) for element in list(function.elements)[:_SAMPLE]]
        if values and all(type(value) in (int, float) and int(value) in _SECONDS for value in values):
            return f"such as {values[0]}"
    return ""


def _in_seconds(tree: ast.AST) -> bool:
    """Whether an expression contains a time in seconds, and nothing that turns it into milliseconds."""
    nodes = [*ast.walk(tree)]
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    multiplied = any(isinstance(node, ast.Mult | ast.Pow) for node in nodes)
    multiplied = multiplied or any(value in (1000, 1e-3, 1_000_000) for value in constants)
    return not multiplied and any(map(_is_seconds, nodes))


def _is_seconds(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return function_called(node) in ("mktime", "timegm")
    name, owner = node.func.attr, node.func.value
    if name == "timestamp":
        return not node.args and not (isinstance(owner, ast.Name) and owner.id in ("ctx", "context"))
    return name in ("mktime", "timegm") or (name == "time" and isinstance(owner, ast.Name) and owner.id == "time")


def _bare(node: ast.AST | None) -> ast.AST | None:
    """An expression without int() and round() around it."""
    while isinstance(node, ast.Call) and function_called(node) in ("int", "round") and len(node.args) == 1:
        node = node.args[0]
    return node


def _key(node: ast.AST | None) -> Any:
    part = node.slice if isinstance(node, ast.Subscript) else None
    return part.value if isinstance(part, ast.Constant) else None


def _value(node: ast.AST | None, source: Source, record: Any) -> Any:
    """The value of an expression of fields and items for a record; None for other expressions."""
    steps: list[Any] = []
    while not isinstance(node, ast.Name):
        key = _key(node)
        if key is None:
            return None
        steps.append(key)
        node = node.value if isinstance(node, ast.Subscript) else None
    if node.id not in source.parameters[:1]:
        return None
    for step in reversed(steps):
        if class_of(record) not in (tuple, list, dict):
            return None
        try:
            record = record[step]
        except (LookupError, TypeError):
            return None
    return record


@rule("PS208", _assigners)
def event_time_by_clock(subject: Subject, node: StreamNode, operator: Any, assigner: Any) -> Iterator[str]:
    """Event time is taken from the clock, not from the record.

    A record that is read again after a failure falls into another window, and a job that catches up puts a day into a
    minute. Take the time from the record, or use processing time windows if the clock is meant.

        - growing = WatermarkStrategy.for_monotonous_timestamps()
        - now = growing.with_timestamp_assigner(lambda order, _: int(time.time() * 1000))
        - orders.assign_timestamps_and_watermarks(now).print()
        + by_record = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda order, _: order[2])
        + orders.assign_timestamps_and_watermarks(by_record).print()
    """
    for clock in sorted(subject.inspector.uses_per_record(assigner).calls & CLOCKS)[:1]:
        yield (
            f"The timestamp assigner of {node.name!r} asks the clock, {short_name(clock)}: after a failure the same "
            "record has another time. Take it from the record, or use windows of processing time."
        )


@rule("PS209", keyed_bodies)
def timer_without_on_timer(subject: Subject, body: Body) -> Iterator[str]:
    """A function sets timers and has no `on_timer`.

    When the timer fires, the inherited `on_timer` is called, which does nothing. Usually the method was forgotten, or
    has another name.

          class Later(KeyedProcessFunction):
              def process_element(self, value, ctx):
                  ctx.timer_service().register_event_time_timer(value[2] + 60_000)

        +     def on_timer(self, timestamp, ctx):
        +         yield ctx.get_current_key()
        +
          orders.key_by(lambda order: order[0]).process(Later()).print()
    """
    hooks = (source for source in body.called("yield") if source.name.startswith("process_element"))
    owners = [owner for source in hooks for _, owner, _ in calls(source.tree, *_REGISTER.values())]
    sets = any(attribute_of_self(owner) is None for owner in owners)  # otherwise a trigger's
    home = getattr(getattr(class_of(body.function), "on_timer", None), "__module__", None)
    ours = str(home).startswith("penstock.datastream.")  # a library's may do something
    if sets and ours and "on_timer" not in body.methods:
        yield (
            f"{body.title} sets timers and has no on_timer(): nothing happens when they fire. Add on_timer(self, "
            "timestamp, ctx)."
        )


def _registered(source: Source, time: str) -> Iterator[ast.expr]:
    """The times of the timers of a kind that a method registers."""
    for call, _, _ in calls(source.tree, _REGISTER[time]):
        yield from call.args[-1:]


@rule("PS216", methods("yield"))
def delay_as_timer(subject: Subject, body: Body, source: Source) -> Message:
    """A processing time timer is set to a delay, not to a time.

    `register_processing_time_timer` takes a time in milliseconds since 1970: `60_000` is long past, so the timer fires
    at once. Add the delay to `ctx.timer_service().current_processing_time()`.

          class Later(KeyedProcessFunction):
              def process_element(self, value, ctx):
        -         ctx.timer_service().register_processing_time_timer(60_000)
        +         timers = ctx.timer_service()
        +         timers.register_processing_time_timer(timers.current_processing_time() + 60_000)

              def on_timer(self, timestamp, ctx):
                  yield ctx.get_current_key()

          orders.key_by(lambda order: order[0]).process(Later()).print()
    """
    times = (_number(timestamp, source, body) for timestamp in _registered(source, "processing"))
    delay = next((time for time in times if isinstance(time, int) and time in _EARLY), None)
    return delay is not None and (
        f"{body.title} sets a timer of processing time to {delay}, which is a time of the year 1970 or soon after, so "
        "it fires at once. Add the delay to current_processing_time()."
    )


def _number(node: ast.AST | None, source: Source, body: Body) -> int | float | None:
    """The number that an expression is, whatever the record is; None if it is not certain. Recursive."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in (int, float) else None  # type: ignore[return-value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        one, other = _number(node.left, source, body), _number(node.right, source, body)
        if one is None or other is None:
            return None
        if isinstance(node.op, ast.Mult):
            return one * other
        return one + other if isinstance(node.op, ast.Add) else one - other
    value: Any = None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        later = (method for name, method in body.methods.items() if name != "__init__")
        set_again = any(change.name == node.attr for method in later for change in changes(method.tree))
        value = None if set_again else attributes_of(body.function).get(node.attr)
    elif isinstance(node, ast.Name) and not assigned(source.tree, node.id):
        parameters = {parameter.arg for parameter in ast.walk(source.tree.args) if isinstance(parameter, ast.arg)}
        value = None if node.id in parameters else source.variables.get(node.id)
    return value if type(value) in (int, float) else None


@rule("PS217", methods("yield"))
def timer_of_other_time(subject: Subject, body: Body, source: Source) -> Iterator[str]:
    """An event time timer is set by the clock, or a processing time timer by the watermark.

    The watermark of yesterday's records is yesterday: an event time timer at the clock's time plus a minute waits for a
    day, and a processing time timer set by the watermark fires at once. Use `ctx.timestamp()` for event time, and
    `current_processing_time()` for processing time.

          class Later(KeyedProcessFunction):
              def process_element(self, value, ctx):
        -         timers = ctx.timer_service()
        -         timers.register_event_time_timer(timers.current_processing_time() + 60_000)
        +         ctx.timer_service().register_event_time_timer(ctx.timestamp() + 60_000)

              def on_timer(self, timestamp, ctx):
                  yield ctx.get_current_key()

          orders.key_by(lambda order: order[0]).process(Later()).print()
    """
    for time, other, wrong, right in (
        ("event", "processing", "the clock", "ctx.timestamp()"),
        ("processing", "event", "the watermark", "current_processing_time()"),
    ):
        if any(_is_of_time(part, other) for set_to in _registered(source, time) for part in _parts(set_to, source)):
            yield f"{body.title} sets a timer of {time} time by {wrong}, which is the other time. Take it from {right}."


def _parts(node: ast.expr, source: Source) -> Iterator[ast.AST]:
    """The nodes of an expression, and of the values of its variables that are assigned once."""
    for part in ast.walk(node):
        yield part
        if isinstance(part, ast.Name) and part.id not in source.parameters:
            value = assigned_once(source.tree, part)
            yield from () if value is None else ast.walk(value)


def _is_of_time(node: ast.AST, time: str) -> bool:
    """Whether an expression asks the watermark, for event time, or else a clock."""
    called = method_called(node)
    if called is None or time == "event":
        return called is not None and called[1] == "current_watermark"
    clock = isinstance(called[0], ast.Name) and called[0].id == "time" and called[1] in ("time", "time_ns")
    return clock or called[1] == "current_processing_time"


@rule("PS218", program)
def clock_of_program_that_ends(subject: Subject) -> Iterator[Found]:
    """A program ends before its processing time windows or timers fire.

    They fire by the clock, and a program whose sources end does not wait for it: the content of the last windows is
    dropped. Use event time, or BATCH mode, in which processing time windows and timers fire at the end.

        + env.set_runtime_mode(RuntimeExecutionMode.BATCH)
          windows = lines.key_by(lambda line: line).window(TumblingProcessingTimeWindows.of(Time.seconds(5)))
          windows.reduce(lambda a, b: a).print()
    """
    if subject.pipeline.settings.batch or subject.known.long_running:
        return
    for node, operator in subject.of(WindowOperator):
        by_clock = type(operator.trigger) is ProcessingTimeTrigger and not operator.assigner.event_time
        if by_clock and node.id not in subject.endless:
            yield Found(
                f"The windows of {node.name!r} fire by the clock, and the program ends when its sources do: what its "
                "last windows hold is dropped. Use windows of event time, or BATCH mode.",
                node.id,
            )
    for body in subject.bodies:
        timer = body.methods.get("on_timer") if "on_timer" in body.hooks else None
        hooks = [source for source in body.called("yield") if source.name.startswith("process_")]
        times = [(timestamp, source) for source in hooks for timestamp in _registered(source, "processing")]
        sets = any(_is_of_time(part, "processing") for call in times for part in _parts(*call))
        if timer is not None and timer.is_generator and sets and body.node.id not in subject.endless:
            yield Found(
                f"The timers of {body.title} fire by the clock, and the program ends when its sources do, without "
                "them. Use timers of event time, or BATCH mode.",
                body.node.id,
            )
