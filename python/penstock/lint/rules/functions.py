"""PS501 to PS506, PS518 and PS519: functions that work in one process, and not in many."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from penstock.lint.bodies import HOOKS, changes, own_nodes
from penstock.lint.inspection import CLOCKS, ONCE, Uses, is_of
from penstock.lint.rule import Found, Message, bodies, program, rule, uses
from penstock.lint.sources import Source
from penstock.lint.subject import Body, Subject
from penstock.plan import StreamNode
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.usercode.functions import simple_name

_RANDOM = frozenset({"os.urandom", "posix.urandom", "nt.urandom", "uuid.uuid1", "uuid.uuid4"})
_PROCESS = frozenset({"builtins.hash", "builtins.id", "os.getpid", "posix.getpid", "nt.getpid", "socket.gethostname"})
_ALL_ERRORS = frozenset({"Exception", "BaseException"})
_NOTHING = frozenset({"pass", "continue", "return", "return None"})


def _unpredictable(calls: frozenset[str]) -> list[str]:
    """The functions among some whose result changes with each call, in order of their names."""
    return sorted(name for name in calls if name in CLOCKS | _RANDOM or name.startswith(("random.", "secrets.")))


def short_name(name: str) -> str:
    """The full name of a function as programs write it."""
    return name.removeprefix("builtins.").removeprefix("posix.")


@rule("PS501")
def large_capture(subject: Subject, node: StreamNode) -> Iterator[str]:
    """A function carries large data to every task.

    Data that a function refers to, such as a dict for look-ups, is pickled with it and sent to every task. From 1 MiB
    on (`large-capture` in bytes) read it in `open()` instead, ship it as a cached file, or join with a stream.

        - prices = {number: str(number) for number in range(100_000)}
        - orders.map(lambda order: prices[order[1]]).print()
        + class Prices(MapFunction):
        +     def open(self, runtime_context):
        +         self.prices = {number: str(number) for number in range(100_000)}
        +
        +     def map(self, value):
        +         return self.prices[value[1]]
        +
        + orders.map(Prices()).print()
    """
    for function in subject.functions[node.id]:
        name, size = subject.inspector.carried(function) or ("", 0)
        if name:
            yield (
                f"The function {simple_name(function)} of {node.name!r} takes {name} with it to every task, "
                f"{size / (1 << 20):,.1f} MiB at least. Read it in open(), or ship it as a file."
            )


@rule("PS502", uses)
def print_in_function(subject: Subject, node: StreamNode, function: Any, used: Uses) -> Message:
    """A function calls `print`.

    It runs in tasks. Its output appears in the logs of some machine, twice if a task was retried, and on Spark usually
    nowhere. Use `stream.print()`, a side output, or `logging`.

        - def total(order):
        -     print("got", order)
        -     return order[1]
        -
        - orders.map(total).print()
        + orders.print("got")
        + orders.map(lambda order: order[1]).print()
    """
    return "builtins.print" in used.calls and (
        f"The function {simple_name(function)} of {node.name!r} calls print(): it runs in tasks, whose output nobody "
        "sees. Use stream.print() or logging."
    )


@rule("PS503", program)
def key_by_chance(subject: Subject) -> Iterator[Found]:
    """A key, or a partition, depends on a random number, the clock or the process.

    The key of a record is computed in several processes: to send it, and to find its state. `hash()` of a text differs
    in each process of Python, `id()` for each object. Then state is not found, or the job fails as a record reaches a
    subtask that does not own its key.

        - orders.key_by(lambda order: hash(order[0]) % 16).sum(1).print()
        + orders.key_by(lambda order: zlib.crc32(order[0].encode()) % 16).sum(1).print()
    """
    for edge in subject.edges:
        key = None if edge.partition_node is None else subject.pipeline.partitioners.get(edge.partition_node)
        for function, role in key.functions() if isinstance(key, KeyPartition | CustomPartition) else ():
            calls = subject.inspector.uses(function).calls
            unsure = sorted(calls & _PROCESS) + _unpredictable(calls)
            if unsure:
                yield Found(
                    f"The {role} uses {short_name(unsure[0])}, which gives something else in another process or at "
                    "another time. Compute it from the record alone, by zlib.crc32() say.",
                    edge.target,
                )


@rule("PS504", program)
def global_variable_written(subject: Subject) -> Iterator[Found]:
    """A function assigns to a variable outside of it, or changes a dict, list or set outside of it.

    Every task has its own copy: a counter counts the records of one subtask, the program that started the job sees none
    of it, and a restored job begins from nothing. Default values of parameters, and attributes of functions and
    modules, count too. Use state, or metrics.

        - seen = 0
        + class Count(MapFunction):
        +     def open(self, runtime_context):
        +         self.seen = runtime_context.get_metrics_group().counter("seen")

        - def count(order):
        -     global seen
        -     seen += 1
        -     return seen
        +     def map(self, value):
        +         self.seen.inc()
        +         return value

        - orders.map(count).print()
        + orders.map(Count()).print()
    """
    for node, function, used in subject.uses:
        if used.written:
            yield Found(
                f"The function {simple_name(function)} of {node.name!r} assigns to {', '.join(sorted(used.written))}, "
                "outside of it: each task has its own, and none of them is state. Use state, or a metric.",
                node.id,
            )
    for body in subject.bodies:
        changed = sorted({name for source in body.methods.values() for name in _changed_outside(source)})
        if changed and body.node.kind != "source":
            yield Found(
                f"The function {body.title} changes what is in {', '.join(changed)}, outside of it: each task has a "
                "copy, the program sees none of it, and it is not state. Use state, a metric or a sink.",
                body.node.id,
            )


def _changed_outside(source: Source) -> set[str]:
    """The dicts, lists and sets that a function changes while it processes records and that are outside of it or
    default values of its parameters; also attributes of functions and modules."""
    if source.name in ONCE:
        return set()
    names = (node for node in own_nodes(source.tree) if isinstance(node, ast.Name))
    inside = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    parameters = {node.arg for node in ast.walk(source.tree.args) if isinstance(node, ast.arg)}
    defaults: dict[str, Any] = {}
    if source.name in HOOKS:
        code, values = source.function.__code__, source.function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
        defaults = dict(zip(names, values, strict=True))
    changed: set[str] = set()
    for change in changes(source.tree, of_self=False):
        name = change.name
        value = defaults.get(name) if name in parameters else source.variables.get(name)
        if change.part and name not in inside and is_of(value, dict, list, set, deque):
            changed.add(name)
    for node in own_nodes(source.tree):
        owner = node.value if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) else None
        name = owner.id if isinstance(owner, ast.Name) and owner.id not in inside | parameters else ""
        if is_of(source.variables.get(name), FunctionType, ModuleType):
            changed.add(ast.unparse(node))
    return changed


@rule("PS505", uses)
def sleep_in_function(subject: Subject, node: StreamNode, function: Any, used: Uses) -> Iterator[str]:
    """A function sleeps.

    Meanwhile its whole subtask stands still: records, watermarks and checkpoints wait. Use `AsyncDataStream` for slow
    calls, a rate for a slower source, and a timer for later work.

        - def slowly(order):
        -     time.sleep(0.1)
        -     return order
        -
        - orders.map(slowly).print()
        + orders.map(lambda order: order).print()
    """
    if "time.sleep" in used.calls and node.kind != "source":
        yield (
            f"The function {simple_name(function)} of {node.name!r} sleeps, and its subtask with it: records, "
            "watermarks and checkpoints wait. Use AsyncDataStream or a timer."
        )


@rule("PS506", uses, default=False)
def result_by_chance(subject: Subject, node: StreamNode, function: Any, used: Uses) -> Iterator[str]:
    """A function uses the clock or random numbers, so its result changes when a task is retried.

    A failed task runs again, and a restored job processes records again. Different results do not fit those sent
    before. Use timestamps of the records, `ctx.timer_service()`, or a random generator seeded by the record.

        - orders.map(lambda order: (order[0], time.time())).print()
        + orders.map(lambda order: (order[0], order[2])).print()
    """
    for unsure in _unpredictable(used.calls)[:1] if node.kind != "sink" else ():
        yield (
            f"The function {simple_name(function)} of {node.name!r} uses {short_name(unsure)}: a task that is tried "
            "again gives something else. Use the timestamp of the record, or state."
        )


@rule("PS518", bodies)
def catches_everything(subject: Subject, body: Body) -> str:
    """A function catches every exception, including those that stop its task.

    `except:` and `except BaseException:` also catch `KeyboardInterrupt` and `SystemExit`, which stop a job, and
    `GeneratorExit`, which closes a function that yields. The task then continues, or fails for another reason. Name the
    expected error, such as `except ValueError:`, or raise the caught one again.

          def parsed(line):
              try:
                  yield json.loads(line)
        -     except:
        +     except json.JSONDecodeError:
                  pass

          lines.flat_map(parsed).print()
    """
    method = next((name for name in body.at_run_time if _catches(body.methods[name], frozenset({"BaseException"}))), "")
    return method and (
        f"{method}() of {body.title} catches everything, also what stops its task. Name the error that is expected, or "
        "raise it again."
    )


def _catches(source: Source, names: frozenset[str], *, silently: bool = False) -> bool:
    """Whether a function catches any exception, or one of some names, and does not raise it again; ``silently``: and
    does nothing about it."""
    for node in own_nodes(source.tree):
        for handler in node.handlers if isinstance(node, ast.Try) else ():
            caught = handler.type
            named = caught is None or (isinstance(caught, ast.Name) and caught.id in names)
            raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(handler))
            does = {ast.unparse(statement) for statement in handler.body} - _NOTHING
            if named and not raises and not (silently and does):
                return True
    return False


@rule("PS519", bodies, default=False)
def error_dropped(subject: Subject, body: Body) -> str:
    """A function drops every error silently.

    `except Exception: pass` skips records, also because of a mistake in the function itself, and nobody sees how many.
    Name the expected error, count errors by a metric, log them, or send such records to a side output.

          def parsed(line):
              try:
                  yield json.loads(line)
              except Exception:
        -         pass
        +         logging.exception("not JSON: %s", line)

          lines.flat_map(parsed).print()
    """
    method = next((name for name in body.at_run_time if _catches(body.methods[name], _ALL_ERRORS, silently=True)), "")
    return method and (
        f"{method}() of {body.title} drops every error without a word. Name the error that is expected, count or log "
        "it, or send the record to a side output."
    )
