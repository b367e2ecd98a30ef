"""How programs are put together: settings, laziness, ids, reprs. Plans themselves are held by test_api_scripts."""

from __future__ import annotations

import sys
import time

import pytest

from penstock.common import Configuration, JobExecutionResult, OutputTag, RestartStrategies, Types
from penstock.common.settings.settings import Settings
from penstock.datastream import (
    CheckpointingMode,
    MapFunction,
    ProcessAllWindowFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)
from penstock.datastream.environment import executors as executor_module
from penstock.errors import ConfigurationError, InvalidProgramError, PlanError


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


class Keeping:
    """An executor that keeps what it is given."""

    def __init__(self) -> None:
        self.pipelines = []

    def execute(self, pipeline):
        self.pipelines.append(pipeline)
        return JobExecutionResult(pipeline.name)


def nodes(env: StreamExecutionEnvironment) -> dict[int, dict]:
    return {node["id"]: node for node in env.get_stream_graph().to_dict()["nodes"]}


def test_setters_return_their_stream_and_count_after_use(env: StreamExecutionEnvironment) -> None:
    mapped = env.from_collection([1]).map(str)
    mapped.print()
    for setter in (
        lambda s: s.name("upper"),
        lambda s: s.set_description("in capitals"),
        lambda s: s.uid("u"),
        lambda s: s.set_uid_hash("0" * 31 + "A"),
        lambda s: s.set_parallelism(3),
        lambda s: s.set_max_parallelism(9),
        lambda s: s.set_buffer_timeout(7),
        lambda s: s.disable_chaining(),
        lambda s: s.start_new_chain(),
        lambda s: s.slot_sharing_group("g"),
    ):
        assert setter(mapped) is mapped
    node = nodes(env)[2]
    assert (node["name"], node["uid"], node["user_hash"]) == ("upper", "u", "0" * 31 + "A")
    assert (node["parallelism"], node["max_parallelism"], node["buffer_timeout"]) == (3, 9, 7)
    assert (node["chaining_strategy"], node["slot_sharing_group"]) == ("HEAD", "g")


def test_parallelism_is_the_environments_at_the_call(env: StreamExecutionEnvironment) -> None:
    source = env.from_collection([1])
    first = env.set_parallelism(2) and source.map(str)
    second = env.set_parallelism(5) and first.map(str)
    left_open = second.map(str).set_parallelism(-1)
    env.set_parallelism(7)
    assert [nodes(env)[s.transformation.id]["parallelism"] for s in (first, second, left_open)] == [2, 5, 7]


def test_reading_a_plan_changes_nothing(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(str).print()
    assert env.get_execution_plan() == env.get_execution_plan()
    assert env.get_stream_graph().to_dict() == env.get_stream_graph().to_dict()


def test_only_what_is_consumed_is_planned(env: StreamExecutionEnvironment) -> None:
    used, unused = env.from_collection([1]), env.from_collection([2])
    unused.rebalance().union(used)
    used.print()
    assert sorted(nodes(env)) == [1, 5]


def test_execute_hands_over_a_pipeline_and_forgets_the_operators() -> None:
    executor = Keeping()
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({"spark.x": "y"}), executor=executor
    )
    source = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
    tag = OutputTag("t", Types.LONG())
    summed = source.key_by(lambda v: v[0], Types.STRING()).sum(1)
    summed.get_side_output(tag).print()
    env.execute("first")
    (pipeline,) = executor.pipelines
    assert pipeline.name == "first"
    assert sorted(pipeline.operators) == [1, 3, 5]
    assert pipeline.partitioners[2].key_type == Types.STRING()
    assert pipeline.types[3] == source.get_type()
    assert pipeline.types[5] == Types.LONG()
    assert pipeline.settings.spark == {"spark.x": "y"}
    with pytest.raises(InvalidProgramError) as caught:
        env.execute("second")
    assert caught.value.flink_class == "java.lang.IllegalStateException"
    summed.print()  # an old stream is as good a root as any
    env.execute("third")
    assert len(executor.pipelines) == 2


def test_a_refused_program_can_be_mended_and_run() -> None:
    executor = Keeping()
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.set_parallelism(2)
    mapped = env.from_collection([1]).forward().map(str)
    with pytest.raises(PlanError) as caught:
        env.execute()
    assert caught.value.flink_class == "java.lang.UnsupportedOperationException"
    mapped.set_parallelism(1)
    env.execute()
    assert len(executor.pipelines) == 1


def test_configuration_reaches_the_environment() -> None:
    settings = {
        "parallelism.default": "4",
        "pipeline.max-parallelism": "64",
        "pipeline.operator-chaining": "false",
        "pipeline.name": "nightly",
        "execution.buffer-timeout": "2 s",
        "execution.checkpointing.interval": "1 min",
        "execution.checkpointing.mode": "AT_LEAST_ONCE",
        "pipeline.time-characteristic": "EventTime",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    assert (env.get_parallelism(), env.get_max_parallelism(), env.is_chaining_enabled()) == (4, 64, False)
    assert (env.get_buffer_timeout(), env.get_checkpoint_interval()) == (2000, 60_000)
    assert env.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert env.get_stream_time_characteristic() is TimeCharacteristic.EventTime
    env.from_collection([1]).print()
    assert env.get_stream_graph().to_dict()["settings"]["job_name"] == "nightly"


def test_what_a_method_sets_and_a_tool_imposes_wins() -> None:
    settings = {"execution.runtime-mode": "BATCH", "restart-strategy": "fixed-delay", "penstock.flink": "1.11"}
    executor = Keeping()
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor=executor)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING).set_restart_strategy(RestartStrategies.no_restart())
    env.set_parallelism(3)
    env.from_collection([1]).print()
    with executor_module.impose({"penstock.flink": "2.3"}):
        env.execute()
    carried = executor.pipelines[0].settings
    assert (carried.batch, carried.restart.restarts, carried.parallelism) == (False, False, 3)
    assert (executor.pipelines[0].flink, env.settings.flink) == ("2.3", "1.11")


def test_a_tool_cannot_impose_what_makes_no_sense(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).print()
    with executor_module.impose({"penstock.flnk": "2.3"}), pytest.raises(ConfigurationError, match=r"penstock\.flink"):
        env.execute()


def test_functions_read_job_parameters() -> None:
    class Parameters(MapFunction):
        def open(self, runtime_context):
            self.get = runtime_context.get_job_parameter

        def map(self, value):
            return self.get(value, "none")

    settings = Configuration({"pipeline.global-job-parameters": "limit:5", "parallelism.default": 1})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    keys = env.from_collection(["limit", "parallelism.default", "other"])
    with keys.map(Parameters()).execute_and_collect() as results:
        assert list(results) == ["5", "1", "none"]


def test_an_override_wins_over_everything() -> None:
    mine, planted = Keeping(), Keeping()
    env = StreamExecutionEnvironment.get_execution_environment(executor=mine)
    stream = env.from_collection([1])
    with executor_module.override(planted):
        stream.print()
        env.execute()
    stream.print()
    env.execute()
    assert len(planted.pipelines) == len(mine.pipelines) == 1


def test_executors_are_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.local import LocalExecutor
    from penstock.spark import SparkExecutor

    monkeypatch.setenv("PENSTOCK_EXECUTOR", "local")
    assert isinstance(executor_module.choose(None, Settings(), None, None), LocalExecutor)
    assert isinstance(executor_module.choose(None, Settings(executor="spark"), None, None), SparkExecutor)
    monkeypatch.setenv("PENSTOCK_EXECUTOR", "flink")
    with pytest.raises(ConfigurationError, match="no executor 'flink'"):
        executor_module.choose(None, Settings(), None, None)
    with pytest.raises(ConfigurationError, match="uses no Spark"):
        executor_module.get("local", master="local[2]")


def test_reprs_say_what_a_stream_is(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
    assert repr(stream.map(str)) == (
        "<SingleOutputStreamOperator of OneInputTransformation(id=2, name='Map', type=undeclared, parallelism=1)>"
    )
    assert repr(stream.key_by(0)).startswith("<KeyedStream of PartitionTransformation(id=3")
    assert repr(env) == "<StreamExecutionEnvironment parallelism=1 operators=1>"


def test_a_collection_is_read_once_and_at_once(env: StreamExecutionEnvironment) -> None:
    elements = [1, 2]
    source = env.from_collection(elements)
    elements.append(3)
    assert source.transformation.operator.function.elements == [1, 2]
    assert env.from_collection(i for i in range(3)).transformation.operator.function.elements == [0, 1, 2]


@pytest.mark.slow
def test_long_programs_are_built_and_translated_in_linear_time(env: StreamExecutionEnvironment) -> None:
    size = 100_000
    stream = env.from_collection([1])
    begin = time.process_time()
    for _ in range(size):
        stream = stream.map(str)
    graph = env.get_stream_graph()
    elapsed = time.process_time() - begin
    assert len(graph.nodes) == size + 1
    assert elapsed < 10, "a line of 100,000 operators takes about a second"


def test_long_runs_of_partitioners_and_unions_need_no_stack(env: StreamExecutionEnvironment) -> None:
    source = env.from_collection([1])
    stream = source
    for _ in range(20_000):
        stream = stream.rebalance()
    united = source
    for _ in range(5_000):
        united = united.union(source)
    stream.print()
    united.print()
    assert len(env.get_stream_graph().edges) == 5_002


def test_windows_over_a_whole_stream_name_the_place_of_their_call(env: StreamExecutionEnvironment) -> None:
    windows = env.from_collection([(1, 2)]).count_window_all(3)
    assert windows.reduce(max).get_name().endswith(", AllWindowedStream.reduce(AllWindowedStream.java:240))")
    place = "test_windows_over_a_whole_stream_name_the_place_of_their_call(test_streams.py:"
    line = sys._getframe().f_lineno + 1
    assert windows.process(Shown()).get_name().endswith(f", AllWindowedStream.{place}{line}))")


class Shown(ProcessAllWindowFunction):
    def process(self, context, elements):
        return elements
