"""Interpreter of the run scripts: runs the programs with Penstock and writes down what came out.

As a command::

    python tests/datastream/run_scripts.py [--spark] < scripts > results

A line of input is a script, ``{"name", "calls": [[receiver, method, argument…], …]}``, or an object with one under
``script``. A line of output is its result:

* ``output``: ``{sink: {"texts": [[subtask, text], …]}}``, by subtask, within a subtask in the order of arrival;
* ``trace``: ``{task: [line, …]}``, if a function traced;
* ``counts``: ``[[operator name, subtask, numRecordsIn, numRecordsOut], …]``, sorted, if the program succeeded;
* ``late_dropped``: ``[[subtask, records], …]``, where not 0;
* ``error``: ``[[class, message], …]`` of the user's exception and its causes, if it failed.

Where records are dealt out from a random start (rebalance, shuffle), subtasks are null and counts are summed by name.
``{"unsupported": what}`` stands for a program with something that Penstock cannot run so far.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

if __name__ == "__main__":  # run as a file: the tests' packages are found from the repository's root
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from penstock.common import Configuration, OutputTag, RestartStrategies
from penstock.datastream import (
    AsyncDataStream,
    DataStream,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    evictor,
    window,
)
from penstock.datastream.program.plan_only import PlanOnly
from penstock.errors import JobExecutionError, PenstockError, UnsupportedError
from penstock.local import LocalExecutor
from tests.datastream import api_scripts, run_functions, run_time_functions, stand_ins
from tests.datastream.api_scripts import Unsupported
from tests.datastream.run_functions import MUTABLE, TEXTS
from tests.datastream.run_notes import TEXT, Collect, Notes, Play, PlayMany, TracedPlay
from tests.datastream.stand_ins import REC, Lacking

NAME_LENGTH = 80
"""Flink's metrics cut operator names."""

_GATES = ("await",)
"""Items that make a source wait for what a sink has got; a Spark job makes all rounds of its sources before."""


class Recorder:
    """An executor that keeps the plan of what it executes.

    Args:
        executor: the one that does the work.
    """

    def __init__(self, executor: Any) -> None:
        self.executor = executor
        self.stream_graph: Any = None

    def execute(self, pipeline: Any) -> Any:
        """Keep, and pass on."""
        self.stream_graph = pipeline.stream_graph
        return self.executor.execute(pipeline)


class Interpreter(api_scripts.Interpreter):
    """One script, whose functions are real.

    Args:
        script: to run.
        executor: with ``execute`` and ``reports``.
        notes: where its functions write.
        chaining: whether operators may be chained.
        parallelism: of the environment, whatever the script sets there; None leaves it to the script.
        settings: configuration of the environment.
    """

    def __init__(
        self,
        script: dict[str, Any],
        executor: Any,
        notes: Notes,
        chaining: bool = True,
        parallelism: int | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(script)
        self.recorder = Recorder(executor)
        self.parallelism = parallelism
        configuration = Configuration.from_dict(dict(settings))
        if ["env", "enableObjectReuse"] in script["calls"]:
            configuration.set_boolean("pipeline.object-reuse", True)
        self.environment = StreamExecutionEnvironment.get_execution_environment(configuration, executor=self.recorder)
        self.environment.set_stream_time_characteristic(TimeCharacteristic.EventTime)
        if not chaining:
            self.environment.disable_operator_chaining()
        self.notes = notes
        named = {argument["fn"] for call in script["calls"] for argument in call[2:] if _is(argument, "fn")}
        self.mutable = not named.isdisjoint(MUTABLE)
        self.record = list if self.mutable else tuple
        self.record_type = None if self.mutable else REC

    def call(self, receiver: Any, method: str, arguments: list[Any]) -> Any:
        """Make one call.

        Raises:
            Unsupported: it, or its function, cannot run.
        """
        target = self.objects[receiver] if isinstance(receiver, int) else self.environment
        try:
            own = getattr(self, f"_{method}", None)
            made = super().call(receiver, method, arguments) if own is None else own(target, *arguments)
        except Lacking as lacking:
            what = "" if str(lacking) == method else f" with {lacking}"
            raise Unsupported(f"{_receiver(target)}{method}{what}") from lacking
        operator = getattr(getattr(made, "transformation", None), "operator", None)
        if isinstance(operator, PlanOnly):
            raise Unsupported(f"{_receiver(target)}{method}")
        return made

    def argument(self, argument: Any) -> Any:
        """The Python value of an argument; functions are real ones."""
        if _is(argument, "fn"):
            name = argument["fn"]
            function = run_functions.function(name, argument.get("args", []), self.notes)
            if function is None:
                raise Lacking(name)
            return function
        if _is(argument, "tag"):
            tag_id = argument["tag"]
            return OutputTag(tag_id, TEXT if tag_id.startswith("s") else self.record_type)
        if _is(argument, "watermarks"):
            return run_time_functions.watermarks(argument["watermarks"], argument.get("args", []))
        if _is(argument, "trigger") and argument["trigger"] == "ByValue":
            return run_time_functions.ByValue()
        if any(_is(argument, kind) and argument[kind].startswith("D") for kind in ("assigner", "trigger", "evictor")):
            return _by_value(argument)
        return super().argument(argument)

    # --- calls that differ from those of plans --------------------------------------------------------------------

    def _enableObjectReuse(self, env: Any) -> None:
        """Set when the environment was made: it is a setting, not a call."""

    def _setParallelism(self, target: Any, parallelism: int) -> Any:
        scaled = self.parallelism is not None and target is self.environment
        return target.set_parallelism(self.parallelism if scaled else parallelism)

    def _transform(self, stream: Any, name: str, function: Any = None) -> Any:
        return stream.transform(name, self.record_type, self.argument(function))

    def _fixedDelayRestart(self, env: Any, attempts: int) -> None:
        env.set_restart_strategy(RestartStrategies.fixed_delay_restart(attempts, 0))

    def _source(self, env: Any, items: list[Any], options: dict[str, Any] | None = None) -> Any:
        return self._playing(self._play(items, **(options or {})), [items])

    def _play(self, items: list[Any], plain: bool = False, trace: str | None = None) -> Play:
        playing = items, self.record, plain
        return Play(self.notes, *playing) if trace is None else TracedPlay(self.notes, trace, *playing)

    def _parallelSource(self, env: Any, lists: list[list[Any]]) -> Any:
        return self._playing(PlayMany(self.notes, lists, self.record), lists).set_parallelism(len(lists))

    def _playing(self, source: Any, lists: list[list[Any]]) -> Any:
        gates = {key for items in lists for item in items if isinstance(item, dict) for key in item if key in _GATES}
        if gates and not isinstance(self.recorder.executor, LocalExecutor):
            raise Lacking(min(gates))
        return self.environment.add_source(source, type_info=self.record_type)

    def _collect(self, stream: Any, id: str) -> Any:
        return stream.add_sink(Collect(self.notes, id)).name(id)

    def _addSink(self, stream: Any, function: dict[str, Any]) -> Any:
        sink = stream.add_sink(self.argument(function))
        return sink.name(function["args"][0]) if function["fn"] == "TraceSink" else sink

    def _with_type(self, method: str, stream: Any, function: dict[str, Any]) -> Any:
        return getattr(stream, method)(self.argument(function), output_type=self._type_of(function))

    def _map(self, stream: Any, function: dict[str, Any]) -> Any:
        return self._with_type("map", stream, function)

    def _flatMap(self, stream: Any, function: dict[str, Any]) -> Any:
        return self._with_type("flat_map", stream, function)

    def _process(self, stream: Any, function: dict[str, Any]) -> Any:
        return self._with_type("process", stream, function)

    def _aggregate(self, stream: Any, function: dict[str, Any], *window_function: Any) -> Any:
        functions = [self.argument(f) for f in (function, *window_function)]
        return stream.aggregate(*functions, output_type=TEXT)

    def _reduce(self, stream: Any, function: dict[str, Any], *window_function: Any) -> Any:
        if not window_function:
            return stream.reduce(self.argument(function))
        functions = [self.argument(f) for f in (function, *window_function)]
        return stream.reduce(*functions, output_type=self._type_of(window_function[0]))

    def _fold(self, stream: Any, function: dict[str, Any]) -> Any:
        return stream.fold(self.record(["#", 0, 0]), self.argument(function), self.record_type)

    def _orderedWait(self, _: Any, *arguments: Any) -> Any:
        return self._wait("ordered_wait", *arguments)

    def _unorderedWait(self, _: Any, *arguments: Any) -> Any:
        return self._wait("unordered_wait", *arguments)

    def _wait(self, call: str, stream: Any, function: dict[str, Any], timeout: int, *capacity: int) -> Any:
        wait = getattr(AsyncDataStream, call)
        return wait(self.argument(stream), self.argument(function), timeout, *capacity, output_type=self.record_type)

    def _with(self, joined: Any, function: dict[str, Any]) -> Any:
        return self._with_type("with_", joined, function)

    def _type_of(self, function: dict[str, Any]) -> Any:
        return TEXT if function["fn"] in TEXTS else self.record_type

    def _apply(self, stream: Any, *functions: Any) -> Any:
        if len(functions) == 2:
            return self._reduce(stream, *functions)
        return self._with_type("apply", stream, *functions)


def _by_value(argument: dict[str, Any]) -> Any:
    """A dynamic session, delta trigger or delta evictor, whose function looks at the value."""
    (_, name), *_ = argument.items()
    arguments = argument.get("args", [])
    if name.startswith("Dynamic"):
        return getattr(window, name.removeprefix("Dynamic")).with_dynamic_gap(lambda r: r[1])
    delta = lambda old, new: new[1] - old[1]  # noqa: E731 - named as a plain lambda in operator names
    delta.__name__ = stand_ins._delta.__name__
    return getattr(evictor if "Evictor" in name else window, name).of(arguments[0], delta, *arguments[1:])


def _receiver(target: Any) -> str:
    """The kind of a receiver, for reports; nothing for streams and the environment."""
    plain = isinstance(target, (StreamExecutionEnvironment, DataStream))
    return "" if plain else f"{type(target).__name__}."


def _is(argument: Any, kind: str) -> bool:
    return isinstance(argument, dict) and kind in argument


# --- results ----------------------------------------------------------------------------------------------------------


def result_of(script: dict[str, Any], executor: Any = None, chaining: bool = True, **varied: Any) -> dict[str, Any]:
    """The result of a script: see the module's text.

    Args:
        script: to run.
        executor: the local one unless given.
        chaining: False runs every operator in a task of its own.
        varied: ``parallelism`` and ``settings`` as for :class:`Interpreter`.
    """
    with tempfile.TemporaryDirectory(prefix="penstock-run-") as folder:
        notes = Notes(folder, all_attempts=any(call[1] == "fixedDelayRestart" for call in script["calls"]))
        executor = executor or LocalExecutor()
        interpreter = Interpreter(script, executor, notes, chaining, **varied)
        try:
            refused = interpreter.run()
            if refused is not None:
                return {"refused": refused["error"]}
            interpreter.environment.execute("job")
        except Unsupported as lacking:
            return {"unsupported": str(lacking)}
        except UnsupportedError as error:
            return {"unsupported": str(error).partition(",")[0]}
        except JobExecutionError as failure:
            if isinstance(failure.__cause__, UnsupportedError):
                return {"unsupported": str(failure.__cause__).partition(".")[0]}
            return _noted(script, notes, interpreter) | {"error": _causes(failure.__cause__)}
        except PenstockError as error:
            return {"refused": {"class": error.flink_class, "message": str(error)}}
        random = _random_start(interpreter.recorder.stream_graph)
        noted = _noted(script, notes, interpreter) | {"counts": _counts(executor.reports, random)}
        late = [] if random else _late(executor.reports)
        return noted | ({"late_dropped": late} if late else {})


def _noted(script: dict[str, Any], notes: Notes, interpreter: Interpreter) -> dict[str, Any]:
    """``output`` and ``trace``."""
    random = _random_start(interpreter.recorder.stream_graph)
    output: dict[str, Any] = {sink: {"texts": []} for sink in _sinks(script)}
    for (sink, subtask), texts in notes.read("sink").items():
        output[sink]["texts"] += [[None if random else subtask, text] for text in texts]
    trace = {task: lines for (task, _), lines in notes.read("trace").items()}
    return {"output": output} | ({"trace": trace} if trace else {})


def _sinks(script: dict[str, Any]) -> Iterator[str]:
    for _, method, *arguments in script["calls"]:
        if method == "collect":
            yield arguments[0]
        elif method == "addSink" and arguments[0]["fn"] == "TraceSink":
            yield arguments[0]["args"][0]


def _random_start(graph: Any) -> bool:
    """Whether some edge deals records out from a random start."""
    parallelism = {node.id: node.parallelism for node in graph.nodes}
    return any(edge.partitioner in ("REBALANCE", "SHUFFLE") and parallelism[edge.target] > 1 for edge in graph.edges)


def _counts(reports: Iterable[Any], summed: bool) -> list[list[Any]]:
    """Counts by operator and subtask; summed, by name: Flink's metrics then know no more of an operator."""
    counts: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for report in reports:
        for counter in report.counters:
            if counter.name.startswith("IterationSource"):
                continue  # no operator to Flink
            place = (None, None) if summed else (report.subtask, counter.operator_id)
            count = counts[(_name(counter.name), *place)]
            count[0] += counter.records_in
            count[1] += counter.records_out
    rows = [[name, subtask, *count] for (name, subtask, _), count in counts.items()]
    return sorted(rows, key=lambda row: (row[0], -1 if row[1] is None else row[1], *row[2:]))


def _name(name: str) -> str:
    return "IterationSink" if name.startswith("IterationSink-") else name[:NAME_LENGTH]


def _late(reports: Iterable[Any]) -> list[list[int]]:
    late: dict[int, int] = defaultdict(int)
    for report in reports:
        late[report.subtask] += sum(counter.late_dropped for counter in report.counters)
    return [[subtask, count] for subtask, count in sorted(late.items()) if count]


_JAVA = {TimeoutError: "java.util.concurrent.TimeoutException"}


def _causes(error: BaseException | None) -> list[list[str]]:
    """Class and message of the user's exception and its causes, outermost first."""
    causes = []
    while error is not None:
        penstocks_own = error.flink_class if isinstance(error, PenstockError) else None
        causes.append(
            [penstocks_own or getattr(error, "java", _JAVA.get(type(error), type(error).__name__)), str(error)]
        )
        error = error.__cause__
    return causes


def results(lines: Iterable[str], executor: Any = None) -> Iterator[str]:
    """A line of result per line of script; blank lines are skipped. A defect of Penstock shows in its own line only."""
    for line in lines:
        if line.strip():
            record = json.loads(line)
            try:
                result = result_of(record.get("script", record), executor)
            except Exception as defect:
                traceback.print_exc()
                result = {"defect": repr(defect)}
            yield json.dumps(result, ensure_ascii=False)


def executor_of(arguments: list[str]) -> Any:
    """The executor that the command line asks for."""
    if arguments == ["--spark"]:
        from penstock.spark import SparkExecutor

        return SparkExecutor(master="local[2,4]", progress=False)
    if arguments:
        sys.exit("usage: run_scripts.py [--spark] < scripts > results")
    return LocalExecutor()


if __name__ == "__main__":
    for text in results(sys.stdin, executor_of(sys.argv[1:])):
        print(text, flush=True)
