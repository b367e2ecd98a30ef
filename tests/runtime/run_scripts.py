"""Runs scripts of the form ``{"calls": [[receiver, method, argument…], …]}`` with the DataStream API, in this process.

Records are (text, int, int): key, value, time. The functions below are those the scripts name; watermarks are left out,
and so is what would show them.
"""

from __future__ import annotations

import re
from typing import Any

from penstock.common import Configuration, OutputTag, Types
from penstock.datastream import (
    MapFunction,
    ParallelSourceFunction,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.errors import JobExecutionError
from penstock.local import LocalExecutor

REC = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
TEXT = Types.STRING()
KEYS = [Types.STRING(), Types.INT(), Types.LONG()]

WRITTEN: dict[str, list[list[Any]]] = {}
"""What the sinks of the running script took: (subtask, text) by sink. The module is imported by name, so all copies of
a sink see it."""


class Lacking(Exception):
    """A script needs something that does not run yet."""


def text(value: Any) -> str:
    return value if isinstance(value, str) else "null" if value is None else "({},{},{})".format(*value)


def rec(like: Any, *fields: Any) -> Any:
    return type(like)(fields)


class Play(SourceFunction):
    def __init__(self, items, plain=False, mutable=False):
        self.items, self.plain, self.mutable = items, plain, mutable

    def run(self, ctx):
        for item in self.items:
            if isinstance(item, list):
                value = list(item) if self.mutable else tuple(item)
                ctx.collect_with_timestamp(value, None if self.plain else item[2])
            elif "fail" in item:
                raise RuntimeError(item["fail"])


class PlayMany(ParallelSourceFunction):
    def __init__(self, lists):
        self.lists = lists

    def open(self, runtime_context):
        self.play = Play(self.lists[runtime_context.get_index_of_this_subtask()])

    def run(self, ctx):
        self.play.run(ctx)


class Collect(SinkFunction):
    def __init__(self, id):
        self.id = id

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def invoke(self, value, context=None):
        WRITTEN[self.id].append([self.subtask, text(value)])


class Where(MapFunction):
    def __init__(self, s):
        self.s = s

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, r):
        return rec(r, f"{r[0]}{self.s}{self.subtask}", r[1], r[2])


class Facts(MapFunction):
    def open(self, context):
        place = f"{context.get_index_of_this_subtask()}/{context.get_number_of_parallel_subtasks()}"
        limits = f"{context.get_max_number_of_parallel_subtasks()}|{context.get_attempt_number()}"
        self.facts = f"{context.get_task_name()}|{context.get_task_name_with_subtasks()}|{place}/{limits}"

    def map(self, value):
        return self.facts


class FailAt(MapFunction):
    def __init__(self, where):
        self.where = where

    def fail(self, where):
        if where == self.where:
            raise OSError(f"in {where}") from (RuntimeError("the cause") if where == "map" else None)

    def open(self, runtime_context):
        self.fail("open")

    def map(self, value):
        self.fail("map")
        return value

    def close(self):
        self.fail("close")


class Previous:
    kept = None

    def flat_map(self, r):
        if self.kept is not None:
            yield rec(r, *self.kept)
        self.kept = r


class Reused:
    def __init__(self):
        self.one = [None, None, None]

    def flat_map(self, r):
        self.one[:] = r
        yield self.one


class MutateAfter:
    def __init__(self, n):
        self.n = n

    def flat_map(self, r):
        yield r
        r[1] += self.n
        yield r


class MutateInput:
    def __init__(self, n):
        self.n = n

    def map(self, r):
        r[1] += self.n
        return r


def fail_on(v, message):
    def check(r):
        if r[1] == v:
            raise RuntimeError(message)
        return r

    return check


class FailReduce:
    def reduce(self, a, b):
        raise RuntimeError("in reduce")


class Sum:
    def reduce(self, a, b):
        return rec(a, a[0], a[1] + b[1], max(a[2], b[2]))


class Join:
    def reduce(self, a, b):
        return rec(a, f"{a[0]}|{b[0]}{b[1]}", a[1] + b[1], b[2])


def split(m):
    def process(r, ctx):
        yield r if r[1] % m == 0 else (OutputTag(f"t{r[1] % m}"), r)

    return process


def both(m):
    def process(r, ctx):
        yield OutputTag(f"t{r[1] % m}"), r
        yield r

    return process


def stamp():
    def process(r, ctx):
        yield f"{text(r)} ts={'null' if ctx.timestamp() is None else ctx.timestamp()}"

    return process


FUNCTIONS = {
    "Add": lambda n: lambda r: rec(r, r[0], r[1] + n, r[2]),
    "Mul": lambda n: lambda r: rec(r, r[0], r[1] * n, r[2]),
    "Key": lambda s: lambda r: rec(r, r[0] + s, r[1], r[2]),
    "ModKey": lambda n: lambda r: rec(r, f"k{r[1] % n}", r[1], r[2]),
    "Text": lambda s: lambda r: s + text(r),
    "Where": Where,
    "Facts": Facts,
    "MutateInput": MutateInput,
    "Repeat": lambda n: lambda r: [rec(r, r[0], i, r[2]) for i in range(r[1] % n)],
    "MutateAfter": MutateAfter,
    "Previous": Previous,
    "Reused": Reused,
    "Mod": lambda m, x: lambda r: r[1] % m == x,
    "Less": lambda n: lambda r: r[1] < n,
    "NotLess": lambda n: lambda r: r[1] >= n,
    "KeyIs": lambda s: lambda r: r[0] == s,
    "Split": split,
    "Both": both,
    "Stamp": stamp,
    "Sum": Sum,
    "Join": Join,
    "ModPart": lambda: lambda key, n: key % n,
    "FailOn": fail_on,
    "FailAt": FailAt,
    "FailReduce": FailReduce,
}
TEXTS = {"Text", "Facts", "Stamp"}
NEEDS_COPIES = re.compile("objects_(mutated_after_emit|emitter_reuses_one)_copy")
"""Scripts in which an operator changes an object after emitting it to one that keeps it, in one chain, without
reuse."""


class Interpreter:
    """One script."""

    def __init__(self, script: dict[str, Any], chaining: bool = True) -> None:
        self.script = script
        self.executor = LocalExecutor()
        reuse = Configuration()
        if ["env", "enableObjectReuse"] in script["calls"]:
            reuse.set_boolean("pipeline.object-reuse", True)
        self.env = StreamExecutionEnvironment.get_execution_environment(reuse, executor=self.executor)
        self.env.set_parallelism(1)
        if not chaining:
            self.env.disable_operator_chaining()
        self.mutable = script["name"].startswith("objects_")
        self.objects: list[Any] = []

    def run(self) -> JobExecutionError | None:
        """Make the calls and execute; the failure, if it fails. Raises Lacking before anything runs."""
        WRITTEN.clear()
        for receiver, method, *arguments in self.script["calls"]:
            if isinstance(receiver, str) and receiver != "env":
                raise Lacking(receiver)
            target = self.env if receiver == "env" else self.objects[receiver]
            call = getattr(self, f"_{method}", None) or self._plain(method)
            self.objects.append(call(target, *arguments))
        try:
            self.env.execute("job")
        except JobExecutionError as error:
            return error
        return None

    def _plain(self, method):
        name = {"global": "global_"}.get(method) or re.sub("[A-Z]", lambda m: "_" + m[0].lower(), method)
        if method not in PLAIN:
            raise Lacking(method)
        return lambda target, *arguments: getattr(target, name)(*arguments)

    def _has(self, argument, name):
        if not isinstance(argument, dict) or name not in argument:
            raise Lacking(f"another {name}")
        return argument[name]

    def _type(self, function):
        return TEXT if function in TEXTS else None if self.mutable else REC

    def _function(self, argument):
        if self._has(argument, "fn") not in FUNCTIONS:
            raise Lacking(argument["fn"])
        return FUNCTIONS[argument["fn"]](*argument.get("args", []))

    def _enableObjectReuse(self, env):
        return env

    def _source(self, env, items, options=None):
        options = options or {}
        if set(options) - {"plain"} or any(set(i) & {"await", "settle"} for i in items if isinstance(i, dict)):
            raise Lacking("timed source")
        return env.add_source(Play(items, options.get("plain", False), self.mutable), type_info=self._type(None))

    def _parallelSource(self, env, lists):
        return env.add_source(PlayMany(lists), type_info=REC).set_parallelism(len(lists))

    def _keyBy(self, stream, key):
        position = self._has(key, "key")
        return stream.key_by(lambda r: r[position], key_type=KEYS[position])

    def _partitionCustom(self, stream, partitioner, key):
        position = key["key"]
        return stream.partition_custom(self._function(partitioner), lambda r: r[position])

    def _getSideOutput(self, stream, tag):
        return stream.get_side_output(OutputTag(tag["tag"], self._type(None)))

    def _union(self, stream, *others):
        return stream.union(*(self.objects[other["ref"]] for other in others))

    def _collect(self, stream, id):
        WRITTEN[id] = []
        return stream.add_sink(Collect(id)).name(id)

    def _typed(self, method, stream, argument):
        return getattr(stream, method)(self._function(argument), output_type=self._type(argument["fn"]))

    def _map(self, stream, argument):
        return self._typed("map", stream, argument)

    def _flatMap(self, stream, argument):
        return self._typed("flat_map", stream, argument)

    def _process(self, stream, argument):
        return self._typed("process", stream, argument)

    def _filter(self, stream, argument):
        return stream.filter(self._function(argument))

    def _reduce(self, stream, argument):
        return stream.reduce(self._function(argument))


PLAIN = {
    *(
        "setParallelism",
        "setMaxParallelism",
        "name",
        "uid",
        "setUidHash",
        "startNewChain",
        "disableChaining",
        "slotSharingGroup",
    ),
    *(
        "rebalance",
        "rescale",
        "shuffle",
        "broadcast",
        "global",
        "forward",
        "setBufferTimeout",
        "disableOperatorChaining",
    ),
    *("sum", "min", "max", "minBy", "maxBy", "countWindow"),
}
