"""Configurations and the objects that stand for parts of them: what is set counts, or is kept and given back."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import Configuration, ExecutionConfig, RestartStrategies, WatermarkStrategy
from penstock.common.settings.setting import Setting
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.errors import ConfigurationError, InvalidProgramError
from penstock.runtime.operators import watermarks


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


@pytest.fixture
def config(env: StreamExecutionEnvironment) -> ExecutionConfig:
    return env.get_config()


# --- configure() ------------------------------------------------------------------------------------------------------


def test_what_is_configured_wins_and_the_rest_stays(env) -> None:
    env.set_parallelism(3).set_max_parallelism(64)
    early = env.from_collection([1]).map(lambda v: v)
    env.configure(Configuration({"parallelism.default": 2, "pipeline.operator-chaining": False}))
    assert (env.get_parallelism(), env.get_max_parallelism(), env.is_chaining_enabled()) == (2, 64, False)
    env.set_parallelism(5)
    assert env.get_parallelism() == 5
    assert early.transformation.parallelism == 3


def test_a_setting_is_parsed_once_when_it_is_set(env, monkeypatch) -> None:
    parsed: list[str] = []
    parse = Setting.parse
    monkeypatch.setattr(Setting, "parse", lambda setting, key, text: parsed.append(key) or parse(setting, key, text))
    configuration = Configuration({"parallelism.default": 2, "spark.x": "y"})
    configuration.set_string("pipeline.name", "one").remove_config("pipeline.name")
    assert parsed == ["parallelism.default", "pipeline.name"]
    copy = Configuration(configuration)
    env.configure(copy)
    assert StreamExecutionEnvironment.get_execution_environment(copy).get_parallelism() == env.get_parallelism() == 2
    assert env.settings.name == "Flink Streaming Job"
    assert parsed == ["parallelism.default", "pipeline.name"]


def test_a_program_may_choose_its_executor_later() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.configure(Configuration({"penstock.executor": "local", "pipeline.name": "later"}))
    env.from_collection([1]).add_sink(bool)
    assert env.execute().job_name == "later"


def test_keys_without_effect_are_named_at_the_call(env) -> None:
    with pytest.warns(UserWarning, match="rest.port") as caught:
        env.configure(Configuration({"rest.port": 8081}))
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.configure(Configuration({"parallelism.default": 2}))


def test_two_names_of_a_setting_must_agree(env) -> None:
    both = {"restart-strategy": "none", "restart-strategy.type": "fixed-delay"}
    with pytest.raises(ConfigurationError, match="two names of one setting"):
        env.configure(Configuration(both))


# --- ExecutionConfig --------------------------------------------------------------------------------------------------

SETTERS: dict[str, tuple[str, Any, Any]] = {
    "set_parallelism": ("get_parallelism", 1, 4),
    "set_max_parallelism": ("get_max_parallelism", -1, 256),
    "set_auto_watermark_interval": ("get_auto_watermark_interval", 200, 0),
    "set_latency_tracking_interval": ("get_latency_tracking_interval", 0, 1000),
    "set_global_job_parameters": ("get_global_job_parameters", {}, {"limit": "5"}),
    "set_task_cancellation_interval": ("get_task_cancellation_interval", 30_000, 10),
    "set_task_cancellation_timeout": ("get_task_cancellation_timeout", 180_000, 0),
    "set_use_snapshot_compression": ("is_use_snapshot_compression", False, True),
    "set_restart_strategy": (
        "get_restart_strategy",
        RestartStrategies.no_restart(),
        RestartStrategies.fixed_delay_restart(3, 5),
    ),
}
SWITCHES: dict[str, tuple[str, bool]] = {
    "object_reuse": ("is_object_reuse_enabled", False),
    "auto_generated_uids": ("has_auto_generated_uids_enabled", True),
    "closure_cleaner": ("is_closure_cleaner_enabled", True),
    "force_avro": ("is_force_avro_enabled", False),
    "force_kryo": ("is_force_kryo_enabled", False),
}


@pytest.mark.parametrize("setter", SETTERS)
def test_what_is_set_is_given_back(setter: str, env, config) -> None:
    getter, default, value = SETTERS[setter]
    assert getattr(config, getter)() == default
    assert getattr(config, setter)(value) is config
    assert getattr(config, getter)() == value
    assert getattr(env.get_config(), getter)() == value, "it is the program's, not the object's"


@pytest.mark.parametrize("switch", SWITCHES)
def test_switches(switch: str, env, config) -> None:
    getter, default = SWITCHES[switch]
    assert getattr(config, getter)() is default
    for on in (True, False, True):
        assert getattr(config, f"{'enable' if on else 'disable'}_{switch}")() is config
        assert getattr(env.get_config(), getter)() is on


def test_generic_types_are_asked_for_the_other_way_round(config) -> None:
    assert config.has_generic_types_disabled() is False
    assert config.disable_generic_types().has_generic_types_disabled() is True
    assert config.enable_generic_types().has_generic_types_disabled() is False


def test_a_configuration_says_the_same() -> None:
    keys = {
        "pipeline.closure-cleaner-level": "none",
        "task.cancellation.timeout": "1 min",
        "pipeline.auto-watermark-interval": "2 s",
        "pipeline.generic-types": "false",
    }
    with pytest.warns(UserWarning, match="no effect"):
        env = StreamExecutionEnvironment.get_execution_environment(Configuration(keys))
    config = env.get_config()
    assert not config.is_closure_cleaner_enabled()
    assert (config.get_task_cancellation_timeout(), config.get_auto_watermark_interval()) == (60_000, 2000)
    assert config.has_generic_types_disabled()
    assert config.enable_closure_cleaner().is_closure_cleaner_enabled()


def test_nothing_is_registered_with_kryo(config) -> None:
    registered = config.get_default_kryo_serializer_classes(), config.get_registered_kryo_types()
    assert (*registered, config.get_registered_pojo_types()) == ({}, [], [])
    assert (config.PARALLELISM_DEFAULT, config.PARALLELISM_UNKNOWN) == (-1, -2)


def test_a_stream_knows_the_config_of_its_program(env) -> None:
    stream = env.from_collection([1])
    stream.get_execution_config().set_parallelism(7)
    assert stream.key_by(lambda v: v).map(lambda v: v).transformation.parallelism == 7
    assert repr(env.get_config()) == "<ExecutionConfig parallelism=7>"


class Limited(MapFunction):
    def open(self, runtime_context):
        self.limit = runtime_context.get_job_parameter("limit", "none")

    def map(self, value):
        return self.limit


def test_functions_read_job_parameters(env, config) -> None:
    config.set_global_job_parameters({"limit": 5})
    assert env.from_collection([1]).map(Limited()).execute_and_collect(limit=1) == ["5"]


ONES: dict[str, Callable[[Any], Any]] = {
    "a source": lambda env: env.from_collection([1]).map(lambda v: v).uid("map").print().uid("print"),
    "an operator": lambda env: env.from_collection([1]).uid("ones").map(lambda v: v).print().uid("print"),
    "a sink": lambda env: env.from_collection([1]).uid("ones").map(lambda v: v).uid("map").print(),
}
NAMES = {"a source": "Collection Source", "an operator": "Map", "a sink": "Print to Std. Out"}


@pytest.mark.parametrize("kind", ONES)
def test_without_generated_uids_every_operator_needs_one(kind: str, env, config) -> None:
    config.disable_auto_generated_uids()
    ONES[kind](env)
    with pytest.raises(InvalidProgramError, match=f"operator {NAMES[kind]!r} has no uid") as caught:
        env.get_execution_plan()
    assert caught.value.flink_class == "java.lang.IllegalStateException"
    config.enable_auto_generated_uids()
    assert len(json.loads(env.get_execution_plan())["nodes"]) == 3


def test_a_uid_hash_counts_as_a_uid(env, config) -> None:
    config.disable_auto_generated_uids()
    env.from_collection([1]).rebalance().map(lambda v: v).set_uid_hash("ab" * 16).print().uid("print")
    with pytest.raises(InvalidProgramError, match="'Collection Source'"):
        env.get_execution_plan()


@pytest.mark.parametrize("interval", [200, 0])
def test_without_an_interval_watermarks_come_at_the_end(interval: int, env, config, monkeypatch) -> None:
    monkeypatch.setattr(watermarks, "PERIOD", 2)
    config.set_auto_watermark_interval(interval)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    stream = env.from_collection([10, 20, 30]).assign_timestamps_and_watermarks(strategy)
    seen = stream.process(lambda value, ctx: [ctx.timer_service().current_watermark()])
    assert seen.execute_and_collect(limit=9)[-1] == (-(2**63) if interval == 0 else 19)


# --- jars -------------------------------------------------------------------------------------------------------------

KAFKA = "file:///lib/flink-sql-connector-kafka-3.0.1.jar"


def test_jars_add_up_and_those_of_flink_are_named_once(env) -> None:
    with pytest.warns(
        UserWarning, match=r"no effect in Penstock.*: flink-sql-connector-kafka-3\.0\.1\.jar\."
    ) as caught:
        env.add_jars("file:///lib/a.jar", KAFKA)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.add_jars("file:///lib/b.jar", "file:///lib/a.jar")
        env.add_classpaths("file:///lib/classes")
    assert env.settings.jars == ("file:///lib/a.jar", KAFKA, "file:///lib/b.jar")
    assert env.settings.spark["spark.jars"] == "file:///lib/a.jar,file:///lib/b.jar"
    assert env.settings.spark["spark.driver.extraClassPath"] == "/lib/classes"


def test_jars_of_flink_in_a_configuration_are_named_too() -> None:
    with pytest.warns(UserWarning, match="flink-sql-connector-kafka") as caught:
        StreamExecutionEnvironment.get_execution_environment(Configuration({"pipeline.jars": KAFKA}))
    assert [warning.filename for warning in caught] == [__file__]


def test_a_closed_environment_has_forgotten_its_operators(env) -> None:
    env.from_collection([1]).print()
    env.close()
    with pytest.raises(InvalidProgramError, match="no operators"):
        env.execute()
    assert env.from_collection([1]).map(lambda v: v + 1).execute_and_collect(limit=1) == [2]
    assert env.is_chaining_of_operators_with_different_max_parallelism_enabled()
