"""Interpreter of the run scripts: runs the programs with Penstock and writes down what came out."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Mapping
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
from tests.datastream.run_notes import TEXT, Notes, Play, PlayMany, TracedPlay
from tests.datastream.run_results import causes, counts, late, noted, random_start
from tests.datastream.stand_ins import REC, Lacking

_GATES = ("await",)
"""Items that make a source wait for what a sink has got; a Spark job makes all rounds of its sources before."""


class Recorder:
    """An executor that keeps the plan of what it executes."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor
        self.stream_graph: Any = None

    def execute(self, pipeline: Any) -> Any:
        self.stream_graph = pipeline.stream_graph
        return self.executor.execute(pipeline)


class Interpreter(api_scripts.Interpreter):
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
        self.stepped = "execution.checkpointing.dir" in settings
        if self.environment.get_checkpoint_config().is_checkpointing_enabled():  # also where there are loops
            self.environment.enable_checkpointing(self.environment.get_checkpoint_interval(), force=True)
        self.environment.set_stream_time_characteristic(TimeCharacteristic.EventTime)
        if not chaining:
            self.environment.disable_operator_chaining()
        self.notes = notes
        named = {argument["fn"] for call in script["calls"] for argument in call[2:] if _is(argument, "fn")}
        self.mutable = not named.isdisjoint(MUTABLE)
        self.record = list if self.mutable else tuple
        self.record_type = None if self.mutable else REC

    def call(self, receiver: Any, method: str, arguments: list[Any]) -> Any:
        target = self.objects[receiver] if isinstance(receiver, int) else self.environment
        try:
            override = getattr(self, f"_{method}", None)
            result = super().call(receiver, method, arguments) if override is None else override(target, *arguments)
        except Lacking as lacking:
            what = "" if str(lacking) == method else f" with {lacking}"
            raise Unsupported(f"{_receiver(target)}{method}{what}") from lacking
        operator = getattr(getattr(result, "transformation", None), "operator", None)
        if isinstance(operator, PlanOnly):
            raise Unsupported(f"{_receiver(target)}{method}")
        return result

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
        if gates and not (self.stepped or isinstance(self.recorder.executor, LocalExecutor)):
            raise Lacking(min(gates))
        return self.environment.add_source(source, type_info=self.record_type)

    def _collect(self, stream: Any, id: str) -> Any:
        return self.notes.collect(stream, id).name(id)

    def _addSink(self, stream: Any, function: dict[str, Any]) -> Any:
        if function["fn"] == "TraceSink":
            return self.notes.collect(stream, function["args"][0], traced=True).name(function["args"][0])
        return stream.add_sink(self.argument(function))

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


def result_of(
    script: dict[str, Any],
    executor: Any = None,
    chaining: bool = True,
    notes: Notes | None = None,
    **varied: Any,
) -> dict[str, Any]:
    """The result of a script."""
    with contextlib.ExitStack() as open_until_the_end:
        if notes is None:
            folder = open_until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="penstock-run-"))
            notes = Notes(folder, all_attempts=restarts(script))
        interpreter = Interpreter(script, executor or LocalExecutor(), notes, chaining, **varied)
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
            notes.failed = True
            error = {"error": causes(failure.__cause__)}
            return noted(script, notes, random_start(interpreter.recorder.stream_graph)) | error
        except PenstockError as error:
            return {"refused": {"class": error.flink_class, "message": str(error)}}
        return _succeeded(script, notes, random_start(interpreter.recorder.stream_graph), interpreter.recorder.executor)


def _succeeded(script: dict[str, Any], notes: Notes, random: bool, executor: Any) -> dict[str, Any]:
    output = noted(script, notes, random) | {"counts": counts(executor.reports, random)}
    dropped = [] if random else late(executor.reports)
    return output | ({"late_dropped": dropped} if dropped else {})


def restarts(script: dict[str, Any]) -> bool:
    """Whether a script has a restart strategy."""
    return any(call[1] == "fixedDelayRestart" for call in script["calls"])


def main(arguments: list[str]) -> None:
    from tests.datastream import feeding, pool, restoring  # which need this module

    parser = argparse.ArgumentParser(prog="run_scripts.py", description="Runs scripts from standard input.")
    parser.add_argument("--spark", action="store_true", help="on Spark instead of in this process")
    parser.add_argument("--jobs", type=int, metavar="N", help="run so many at a time")
    parser.add_argument("--timeout", type=float, default=pool.PATIENCE, metavar="SECONDS", help="of each script")
    feeding.add_arguments(parser)
    restoring.add_arguments(parser)
    chosen = parser.parse_args(arguments)
    if chosen.feed is None and (chosen.kill is not None or chosen.restore is not None):
        parser.error("--kill and --restore need --feed")
    if chosen.rescale is not None and chosen.restore is None:
        parser.error("--rescale needs --restore")
    if chosen.restore is not None and chosen.kill is not None:
        parser.error("a job is either killed or restored")
    for result in pool.results(sys.stdin, chosen):
        print(json.dumps(result, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    from tests.datastream.run_scripts import main as command  # what is sent to workers must not be of __main__

    command(sys.argv[1:])
