"""PS5xx: functions that work in one process, and not in many."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.usercode.naming import simple_name

_CLOCKS = frozenset(
    {
        "datetime.date.today",
        "datetime.datetime.now",
        "datetime.datetime.today",
        "datetime.datetime.utcnow",
        "time.monotonic",
        "time.monotonic_ns",
        "time.perf_counter",
        "time.time",
        "time.time_ns",
    }
)
_CHANCE = frozenset({"os.urandom", "posix.urandom", "nt.urandom", "uuid.uuid1", "uuid.uuid4"})
_PROCESS = frozenset({"builtins.hash", "builtins.id", "os.getpid", "posix.getpid", "nt.getpid", "socket.gethostname"})


def _by_chance(calls: frozenset[str]) -> list[str]:
    """Which of some functions give something else each time, in order of their names."""
    return sorted(each for each in calls if each in _CLOCKS | _CHANCE or each.startswith(("random.", "secrets.")))


def _short(name: str) -> str:
    return name.removeprefix("builtins.").removeprefix("posix.")


class LargeCapture(Rule):
    """A function takes large data with it to every task.

    What a function refers to, such as a dict it looks things up in, is pickled with it, sent to every task and kept
    there once for each, from the driver's memory. From 1 MiB on (`large-capture` in bytes) read it in `open()`
    instead, ship it as a cached file, or join with a stream.

    Bad::

        prices = {number: str(number) for number in range(100_000)}
        orders.map(lambda order: prices[order[1]]).print()

    Good::

        class Prices(MapFunction):
            def open(self, runtime_context):
                self.prices = {number: str(number) for number in range(100_000)}

            def map(self, value):
                return self.prices[value[1]]


        orders.map(Prices()).print()
    """

    code = "PS501"

    def find(self, subject: Subject) -> Iterator[Found]:
        for number, functions in subject.functions.items():
            for function in functions:
                large = subject.inspector.carried(function)
                if large is not None:
                    (name, size), operator = large, subject.nodes[number].name
                    yield Found(
                        f"The function {simple_name(function)} of {operator!r} takes {name} with it to "
                        f"every task, {size / (1 << 20):,.1f} MiB at least. Read it in open(), or ship it as a file.",
                        number,
                    )


class PrintInFunction(Rule):
    """A function calls `print`.

    It runs in tasks. What it prints appears in the logs of whatever machine it is on, twice where a task was tried
    again, and on Spark mostly nowhere. Use `stream.print()`, a side output, or `logging`.

    Bad::

        def total(order):
            print("got", order)
            return order[1]


        orders.map(total).print()

    Good::

        def total(order):
            return order[1]


        orders.print("got")
        orders.map(total).print()
    """

    code = "PS502"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, function, uses in subject.uses:
            if "builtins.print" in uses.calls:
                yield Found(
                    f"The function {simple_name(function)} of {node.name!r} calls print(): it runs in tasks, whose "
                    "output nobody sees. Use stream.print() or logging.",
                    node.id,
                )


class KeyByChance(Rule):
    """A key, or a partition, depends on chance, the clock or the process.

    The key of a record is computed more than once, in several processes: where it is sent, and where its state is.
    `hash()` of a text has another value in each process of Python, `id()` another one for each object. Then state is
    not found, or a record comes to a subtask that does not own its key, and the job fails.

    Bad::

        orders.key_by(lambda order: hash(order[0]) % 16).sum(1).print()

    Good::

        orders.key_by(lambda order: zlib.crc32(order[0].encode()) % 16).sum(1).print()
    """

    code = "PS503"

    def find(self, subject: Subject) -> Iterator[Found]:
        for edge in subject.edges:
            spec = None if edge.partition_node is None else subject.pipeline.partitioners.get(edge.partition_node)
            if not isinstance(spec, KeyPartition | CustomPartition):
                continue
            for function, role in spec.functions():
                calls = subject.inspector.uses(function).calls
                unsure = sorted(calls & _PROCESS) + _by_chance(calls)
                if unsure:
                    yield Found(
                        f"The {role} uses {_short(unsure[0])}, which gives something else in another process or at "
                        "another time. Compute it from the record alone, by zlib.crc32() say.",
                        edge.target,
                    )


class GlobalVariableWritten(Rule):
    """A function assigns to a variable outside of it.

    Every task has a copy of its own, so a counter counts what one subtask has seen, the program that started the job
    sees none of it, and a restored job begins anew. Keep such values in state, or as metrics.

    Bad::

        seen = 0


        def count(order):
            global seen
            seen += 1
            return seen


        orders.map(count).print()

    Good::

        class Count(MapFunction):
            def open(self, runtime_context):
                self.seen = runtime_context.get_metrics_group().counter("seen")

            def map(self, value):
                self.seen.inc()
                return value


        orders.map(Count()).print()
    """

    code = "PS504"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, function, uses in subject.uses:
            if uses.written:
                names = ", ".join(sorted(uses.written))
                yield Found(
                    f"The function {simple_name(function)} of {node.name!r} assigns to {names}, outside of it: each "
                    "task has its own, and none of them is state. Use state, or a metric.",
                    node.id,
                )


class SleepInFunction(Rule):
    """A function sleeps.

    While it does, its whole subtask stands still: records, watermarks and checkpoints wait. For a call that takes time
    use `AsyncDataStream`; for a slower source a rate; for later work a timer.

    Bad::

        def slowly(order):
            time.sleep(0.1)
            return order


        orders.map(slowly).print()

    Good::

        def at_once(order):
            return order


        orders.map(at_once).print()
    """

    code = "PS505"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, function, uses in subject.uses:
            if "time.sleep" in uses.calls and node.kind != "source":
                yield Found(
                    f"The function {simple_name(function)} of {node.name!r} sleeps, and its subtask with it: records, "
                    "watermarks and checkpoints wait. Use AsyncDataStream or a timer.",
                    node.id,
                )


class ResultByChance(Rule):
    """A function uses the clock or chance, so it gives something else when a task is tried again.

    A task that failed is run again, and a restored job works on records again. If results differ then, what was sent
    before and what is sent now do not fit together. Use timestamps of the records, `ctx.timer_service()`, or a random
    generator that is seeded by the record.

    Bad::

        orders.map(lambda order: (order[0], time.time())).print()

    Good::

        orders.map(lambda order: (order[0], order[2])).print()
    """

    code = "PS506"
    default = False

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, function, uses in subject.uses:
            unsure = _by_chance(uses.calls)
            if unsure and node.kind != "sink":
                yield Found(
                    f"The function {simple_name(function)} of {node.name!r} uses {_short(unsure[0])}: a task that is "
                    "tried again gives something else. Use the timestamp of the record, or state.",
                    node.id,
                )
