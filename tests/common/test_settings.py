"""The table of settings: every key with values that make sense and values that make none; keys that are near misses."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

from penstock.common import Configuration, RestartStrategies, RuntimeExecutionMode
from penstock.common.settings import hints
from penstock.common.settings.flink_keys import CHECKPOINT_DIRECTORY, STORAGES, STORES_KEYS, is_flinks, is_flinks_jar
from penstock.common.settings.setting import (
    Backend,
    Choice,
    Files,
    Flag,
    Pairs,
    Ports,
    Setting,
    Size,
    Span,
    Stores,
    Text,
    Texts,
    Whole,
)
from penstock.common.settings.settings import TABLE, Settings, find, retired, without_effect
from penstock.datastream import CheckpointingMode, TimeCharacteristic
from penstock.datastream.environment.executors import EXECUTORS
from penstock.errors import ConfigurationError, UnsupportedError
from penstock.plan import PROFILES

GOOD: dict[str, dict[str, Any]] = {
    "penstock.executor": {"spark": "spark", " Local ": "local"},
    "restart-strategy": {"none": "none", "off": "none", "fixeddelay": "fixed-delay", "failurerate": "failure-rate"},
    "restart-strategy.fixed-delay.attempts": {"0": 0, "3": 3},
    "restart-strategy.fixed-delay.delay": {"0": 0, "10 s": 10_000, "1 d": 86_400_000},
    "restart-strategy.failure-rate.max-failures-per-interval": {"1": 1, "3": 3},
    "restart-strategy.failure-rate.failure-rate-interval": {"1 min": 60_000, "1": 1},
    "restart-strategy.failure-rate.delay": {"0": 0, "1 s": 1000},
    "penstock.metrics.prometheus.port": {"9249": (9249, 9249), " 9250 - 9260 ": (9250, 9260), "0": (0, 0)},
    "penstock.metrics.prometheus.address": {"0.0.0.0": "0.0.0.0", "::1": "::1"},
    "pipeline.jars": {"file:///a.jar; file:///b.jar;": ("file:///a.jar", "file:///b.jar"), "": ()},
    "pipeline.classpaths": {"file:///a": ("file:///a",)},
    "python.files": {"a.py, b": ("a.py", "b"), "": ()},
    "python.archives": {"a.zip#a,b.tar": ("a.zip#a", "b.tar")},
    "python.requirements": {"requirements.txt#packages": "requirements.txt#packages"},
    "python.executable": {"python3": "python3"},
    "pipeline.cached-files": {
        "name:a,path:file:///a:b,executable:true; name:c,path:/c": (("a", "file:///a:b", True), ("c", "/c", False)),
        "": (),
    },
    "penstock.files.shared-folders": {"/mnt/a;/mnt/b c": ("/mnt/a", "/mnt/b c")},
    "penstock.flink": {"1.11": "1.11", "2.3": "2.3"},
    "pipeline.name": {"nightly": "nightly", "": ""},
    "parallelism.default": {"1": 1, " 7 ": 7, "-1": -1, "2147483647": 2**31 - 1},
    "pipeline.max-parallelism": {"1": 1, "32768": 32_768, "-1": -1},
    "pipeline.operator-chaining": {"true": True, "FALSE": False},
    "execution.buffer-timeout": {"0": 0, "100ms": 100, "2 s": 2000, "-1": -1},
    "execution.checkpointing.interval": {"10": 10, "1 min": 60_000, "2 Hours": 7_200_000},
    "execution.checkpointing.mode": {"at_least_once": "AT_LEAST_ONCE", "EXACTLY_ONCE": "EXACTLY_ONCE"},
    "pipeline.auto-generate-uids": {"true": True, "false": False},
    "pipeline.time-characteristic": {"EventTime": "EventTime", "ingestiontime": "IngestionTime"},
    "execution.runtime-mode": {mode.name.lower(): mode for mode in RuntimeExecutionMode},
    "pipeline.object-reuse": {"True": True, "false": False},
    "pipeline.auto-watermark-interval": {"0": 0, "200 ms": 200, "1 s": 1000},
    "pipeline.global-job-parameters": {"a:1, b:x:y": (("a", "1"), ("b", "x:y")), "": ()},
    "metrics.latency.interval": {"0": 0, "1000": 1000, "5 milli": 5},
    "penstock.runtime.form": {"fused": "fused", "LISTED": "listed"},
    "penstock.runtime.native": {"auto": True, "off": False},
    "penstock.native": {"auto": True, "OFF": False},
    "penstock.exchange.codec": {"auto": "auto", "pickle": "pickle", "columns": "columns"},
    "penstock.exchange.buffer-records": {"1": 1, "1000000": 1_000_000},
    "penstock.exchange.combine": {"auto": True, "off": False},
    "penstock.batches.size": {"1": 1, "4000": 4_000},
    "penstock.runtime.imports": {"": (), "a, b.c": ("a", "b.c")},
    "penstock.state.backend": {"memory": "memory", "Disk": "disk"},
    "state.backend": {"rocksdb": "disk", "org.x.RocksDBStateBackendFactory": "disk", "hashmap": "memory"},
    "penstock.state.memory": {"1048576": 1 << 20, "1mb": 1 << 20, "2048 kb": 2 << 20, "3 Gibibytes": 3 << 30},
    "penstock.storage.options": {"{}": {}, '{"s3": {"key": "k"}, "gs": {}}': {"s3": {"key": "k"}, "gs": {}}},
    "penstock.types.check": {"true": True, "false": False},
    "execution.checkpointing.dir": {"s3://b/job": "s3://b/job", "": ""},
    "penstock.job.retained-manifests": {"1": 1, "10": 10},
    "state.savepoints.dir": {"/savepoints": "/savepoints", "s3://bucket/savepoints": "s3://bucket/savepoints"},
    "penstock.savepoint.reference": {"true": True, "false": False},
    "execution.savepoint.path": {"/data/savepoint": "/data/savepoint", "": ""},
    "execution.savepoint.ignore-unclaimed-state": {"true": True, "false": False},
    "penstock.step.records": {"0": 0, "1000": 1000},
    "penstock.step.target": {"1": 1, "2 s": 2000},
    "penstock.files.commit-interval": {"0": 0, "10 s": 10_000},
    "penstock.step.available-now": {"true": True, "false": False},
    "scheduler-mode": {"reactive": True, "default": False, "Reactive": True},
    "penstock.pyflink": {"true": True, "false": False},
}
BAD: dict[type, list[str]] = {
    Flag: ["", "yes", "1", "perhaps"],
    Whole: ["", "many", "1.5", "1_0", "٣", "-2", "99999999999", "1 2"],
    Ports: ["", "many", "9260-9250", "-1", "70000", "1_0", "٣", "1-2-3"],
    Span: ["", "2 weeks", "1.5 s", "s", "-2", "٣ s"],
    Size: ["", "1", "1023", "1.5 gb", "-1", "1 tb", "٣ gb"],
    Choice: ["", "fast"],
    Pairs: ["a", "a:1,b", ":1"],
    Stores: [],  # not shown: test_a_secret_is_not_shown
    Text: [],
    Backend: [],
    Texts: [],
    Files: ["a", "name:a", "path:/a", "name:,path:/a", "name:a,path:/a,executable:yes", "name:a,path:/a,x:y"],
}
NEAR_MISSES = {
    "penstock.exectuor": "penstock.executor",
    "penstock.exchange.buffer-record": "penstock.exchange.buffer-records",
    "penstock.exchange.codecs": "penstock.exchange.codec",
    "penstock.runtime.forms": "penstock.runtime.form",
    "penstock.runtime.nativ": "penstock.runtime.native",
    "penstock.nativ": "penstock.native",
    "penstock.combine": "penstock.exchange.combine",
    "penstock.flnk": "penstock.flink",
    "penstock.Executor": "penstock.executor",
}


def attribute(key: str) -> str:
    return next(
        name for name, line in Settings.__dataclass_fields__.items() if line.metadata.get("setting") is find(key)
    )


def test_every_setting_is_tested() -> None:
    assert [setting.key for setting in TABLE] == list(GOOD)
    assert {type(setting.kind) for setting in TABLE} == BAD.keys()


@pytest.mark.parametrize(
    ("key", "text", "value"), [(key, text, value) for key, texts in GOOD.items() for text, value in texts.items()]
)
def test_values_that_make_sense(key: str, text: str, value: Any) -> None:
    setting = find(key)
    assert setting is not None
    for name in setting.keys:
        settings = Settings.of({name: text})
        assert getattr(settings, attribute(key)) == value
        assert settings.explicit == {name: text}
    assert setting.parse(key, setting.kind.text(value)) == value


@pytest.mark.parametrize(
    ("key", "text"), [(key, text) for setting in TABLE for key in setting.keys for text in BAD[type(setting.kind)]]
)
def test_values_that_make_none(key: str, text: str) -> None:
    setting = find(key)
    assert setting is not None
    with pytest.raises(ConfigurationError, match=re.escape(f"The setting {key} is {text!r}; it can be")) as caught:
        Settings.of({key: text})
    assert setting.allowed in str(caught.value)
    assert setting.doc in str(caught.value)
    assert (caught.value.flink_class is None) == key.startswith("penstock.")


@pytest.mark.parametrize("text", ["", "hush", '["hush"]', '{"ftp": {"key": "hush"}}', '{"s3": "hush"}', '{"s3": {}'])
def test_a_secret_is_not_shown(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"penstock\.storage\.options has an invalid value; .*JSON") as caught:
        Settings.of({"penstock.storage.options": text})
    assert "hush" not in str(caught.value)


def test_a_secret_shows_itself_nowhere() -> None:
    options = {"penstock.storage.options": '{"s3": {"key": "hush"}}'}
    assert "hush" not in repr(Settings.of(options))
    assert "hush" not in repr(Configuration.from_dict(options))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("parallelism.default", "0"),
        ("pipeline.max-parallelism", "32769"),
        ("penstock.exchange.buffer-records", "0"),
        ("penstock.exchange.buffer-records", "-1"),
        ("penstock.exchange.buffer-records", "1000001"),
        ("execution.checkpointing.interval", "9 ms"),
        ("execution.checkpointing.interval", "-1"),
        ("metrics.latency.interval", "-1"),
        ("restart-strategy.fixed-delay.attempts", "-1"),
        ("penstock.flink", "1.12"),
    ],
)
def test_values_out_of_range(key: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{key} is '{text}'; it can be"):
        Settings.of({key: text})


def test_a_near_miss_among_choices_is_named() -> None:
    with pytest.raises(
        ConfigurationError, match=r"pickle, columns, or auto, which is the default\. Did you mean 'columns'"
    ):
        Settings.of({"penstock.exchange.codec": "colums"})
    with pytest.raises(ConfigurationError, match="Did you mean 'BATCH'"):
        Settings.of({"execution.runtime-mode": "bath"})


@pytest.mark.parametrize(("key", "meant"), NEAR_MISSES.items())
def test_a_key_of_ours_that_does_not_exist(key: str, meant: str) -> None:
    with pytest.raises(ConfigurationError, match=f"There is no setting {key}. Did you mean {meant}?"):
        Settings.of({key: "x"})


def test_a_key_of_ours_that_is_near_none() -> None:
    with pytest.raises(ConfigurationError, match=r"There is no setting penstock\.z\. docs/settings\.md lists them all"):
        Settings.of({"penstock.z": "x"})


def test_what_flink_has_and_we_do_not_support() -> None:
    for key in ("restart-strategy", "restart-strategy.type"):
        with pytest.raises(UnsupportedError, match=f"{key} is 'exponential-delay', which is not supported; it can be"):
            Settings.of({key: "exponential-delay"})


def test_two_names_of_a_setting_must_agree() -> None:
    names = ("pipeline.operator-chaining", "pipeline.operator-chaining.enabled")
    assert not Settings.of(dict.fromkeys(names, "false")).chaining
    with pytest.raises(ConfigurationError, match=f"{names[0]} and {names[1]} are two names of one setting"):
        Settings.of(dict(zip(names, ("true", "false"), strict=True)))


def test_what_nothing_is_said_of_is_the_default() -> None:
    settings = Settings.of({})
    assert settings == Settings()
    for setting in TABLE:
        assert getattr(settings, attribute(setting.key)) == setting.default
        if setting.default is not None:
            assert setting.parse(setting.key, setting.kind.text(setting.default)) == setting.default


def test_the_choices_are_those_that_there_are() -> None:
    choices = {setting.key: tuple(setting.kind.names) for setting in TABLE if isinstance(setting.kind, Choice)}
    assert choices["penstock.executor"] == tuple(EXECUTORS)
    assert choices["penstock.flink"] == PROFILES
    assert choices["execution.checkpointing.mode"] == tuple(mode.name for mode in CheckpointingMode)
    assert choices["pipeline.time-characteristic"] == tuple(time.name for time in TimeCharacteristic)


def test_later_settings_win_and_the_others_stay() -> None:
    settings = Settings.of({"penstock.flink": "1.11", "parallelism.default": "4", "x": "1"})
    again = settings.updated({"penstock.flink": "2.3", "spark.x": "y"})
    assert (again.flink, again.parallelism, again.spark) == ("2.3", 4, {"spark.x": "y"})
    assert (settings.flink, settings.spark) == ("1.11", {})
    assert pickle.loads(pickle.dumps(again)) == again


def test_a_restart_strategy_is_read_as_flink_reads_it() -> None:
    none, fixed, rate = (
        RestartStrategies.no_restart(),
        RestartStrategies.fixed_delay_restart(1, 1000),
        RestartStrategies.failure_rate_restart(1, 60_000, 1000),
    )
    assert Settings().restart == none
    assert Settings.of({"restart-strategy": "fixed-delay"}).restart == fixed
    assert Settings.of({"restart-strategy.fixed-delay.attempts": "5"}).restart == none
    assert Settings.of({"restart-strategy": "failure-rate"}).restart == rate
    configured = Settings.of({"restart-strategy": "fixed-delay"})
    for strategy in (none, RestartStrategies.fixed_delay_restart(3, 50), rate):
        assert configured.restarting(strategy).restart == strategy
        assert configured.restarting(strategy).restarting(RestartStrategies.fall_back_restart()).restart == fixed
    assert Settings().restarting(rate).restarting(RestartStrategies.fall_back_restart()).restart == none


def test_jars_go_to_spark_but_for_flinks() -> None:
    options = {
        "pipeline.jars": "file:///lib/pg.jar;file:///lib/flink-sql-connector-kafka-1.17.1.jar;s3://lib/x.jar",
        "pipeline.classpaths": "file:///lib/classes/;file:///lib/flink-dist_2.12.jar",
        "spark.jars": "/own.jar,file:///lib/pg.jar",
        "spark.executor.extraClassPath": "/own",
    }
    assert Settings.of(options).spark == {
        "spark.jars": "/own.jar,file:///lib/pg.jar,s3://lib/x.jar",
        "spark.driver.extraClassPath": "/lib/classes/",
        "spark.executor.extraClassPath": "/own:/lib/classes/",
    }
    flinks = Settings.of({"pipeline.jars": "file:///flink-connector-jdbc.jar", "spark.x": "y"})
    assert flinks.spark == {"spark.x": "y"}


def test_functions_read_parameters_and_other_keys() -> None:
    settings = Settings.of({"pipeline.global-job-parameters": "limit:5", "limit": "7", "mine": "x"})
    assert [settings.parameter(key, "?") for key in ("limit", "mine", "other")] == ["5", "x", "?"]


def test_a_hint_is_what_was_given_last_by_whichever_name() -> None:
    hint = Setting("execution.old", Span(), 5, "nobody", "", ("execution.new",))
    settings = Settings.of({"execution.old": "1 s", "x": "y"})
    assert [Settings().hint(hint), settings.hint(hint)] == [5, 1000]
    assert settings.updated({"execution.new": "2 s"}).hint(hint) == 2000
    assert settings.updated({"execution.new": "2 s"}).hinted(hint, 3000).explicit == {
        "x": "y",
        "execution.old": "3000 ms",
    }
    assert settings.hinted(hint, None).hint(hint) == 5
    with pytest.raises(ConfigurationError, match=r"The setting execution\.new is 'soon'; it can be a duration"):
        Settings.of({"execution.new": "soon"}).hint(hint)


def test_every_hint_is_one_of_flinks_keys() -> None:
    all_hints = [value for value in vars(hints).values() if isinstance(value, Setting)]
    assert len(all_hints) > 5
    for hint in all_hints:
        assert without_effect(hint.keys[-1:])[0].startswith("These settings of Flink")
        if hint.default is not None:
            assert Settings().hinted(hint, hint.default).hint(hint) == hint.default


def test_keys_of_flink_for_which_there_is_a_setting_name_it() -> None:
    for key in ("execution.checkpointing.storage", "state.backend.fs.checkpointdir"):
        (text,) = without_effect([key])
        assert text.startswith(f"{key} has no effect in Penstock: set {CHECKPOINT_DIRECTORY}, the job's own checkpoint")
        assert without_effect([key], Settings(checkpoint_directory="job")) == []
    assert without_effect(["s3.access-key"]) == [
        "s3.access-key has no effect in Penstock: set penstock.storage.options, keys and endpoints of stores"
    ]
    assert all(is_flinks(key) or key.startswith("s3") for key in (*STORAGES, *STORES_KEYS))


@pytest.mark.parametrize("key", ["execution.checkpointing.dir", "state.checkpoints.dir"])
def test_programs_written_for_pyflink_share_the_folder_of_checkpoints(key: str) -> None:
    settings = Settings.of({"penstock.pyflink": "true", key: "shared"})
    assert settings.checkpoint_directory is None
    (text,) = without_effect([key], settings)
    assert text == (
        f"{key} has no effect in a program written for PyFlink: give the job a checkpoint directory of its own, from "
        "which it resumes, by `penstock run --checkpoint-directory` or the setting penstock.job.folder"
    )
    with_folder = settings.updated({"penstock.job.folder": "job"})
    assert (with_folder.checkpoint_directory, retired(with_folder.explicit, with_folder)) == ("job", [])
    assert with_folder.updated({key: "shared"}).checkpoint_directory == "job"
    assert settings.updated({key: "job"}, imposed=True).checkpoint_directory == "job"
    assert Settings.of({"penstock.job.folder": "job", **settings.explicit}).checkpoint_directory == "job"


def test_an_old_name_means_the_same() -> None:
    settings = Settings.of({"penstock.job.folder": "job"})
    assert settings.checkpoint_directory == "job"
    (text,) = retired(settings.explicit, settings)
    new = CHECKPOINT_DIRECTORY
    assert text == f"penstock.job.folder is the old name of the setting {new}: set {new}"
    assert retired([key for setting in TABLE for key in (setting.key, *setting.others)], settings) == []


def test_jars_that_only_flinks_connectors_need_mean_nothing() -> None:
    for name in ("kafka-clients-3.4.0.jar", "flink-connector-kafka-3.3.0-1.20.jar", "Flink_x.jar", "pyflink-a.jar"):
        assert is_flinks_jar(f"file:///lib/{name}")
    assert not any(is_flinks_jar(f"file:///lib/{name}") for name in ("postgresql.jar", "kafka-avro-serializer.jar"))
    options = {"pipeline.jars": "file:///lib/kafka-clients-3.4.0.jar;file:///lib/postgresql.jar"}
    assert Settings.of(options).spark["spark.jars"] == "file:///lib/postgresql.jar"


def test_keys_without_effect() -> None:
    assert without_effect(["spark.x", *(key for setting in TABLE for key in setting.keys)]) == []
    flinks = [
        "state.backend.incremental",
        "taskmanager.numberOfTaskSlots",
        "high-availability",
        "high-availability.storageDir",
    ]
    flinks += [
        "pipeline.closure-cleaner-level",
        "execution.checkpointing.unaligned",
        "restart-strategy.exponential-delay.jitter-factor",
    ]
    (text,) = without_effect(flinks)
    assert text == f"These settings of Flink have no effect in Penstock: {', '.join(sorted(flinks))}"
    near = {"pipeline.object-resue": "pipeline.object-reuse", "paralelism.default": "parallelism.default"}
    nobodys = ["high-availabilityx", "state", "my.limit", "pipeline.mine", *near]
    (text,) = without_effect(nobodys)
    assert text.startswith("These settings are neither Penstock's nor Flink's nor Spark's")
    assert all(key in text for key in nobodys)
    assert all(f"{key} (did you mean {meant}?)" in text for key, meant in near.items())
    (text,) = without_effect(["execution.checkpointing.intervall"])
    assert text.endswith("execution.checkpointing.intervall (did you mean execution.checkpointing.interval?)")


@pytest.mark.parametrize(
    ("options", "on_disk"),
    [
        ({}, False),
        ({"state.backend": "hashmap"}, False),
        ({"state.backend": "rocksdb"}, True),
        ({"state.backend.type": "RocksDB"}, True),
        ({"state.backend": "org.apache.flink.contrib.streaming.state.RocksDBStateBackendFactory"}, True),
        ({"state.backend": "rocksdb", "penstock.state.backend": "memory"}, False),
        ({"state.backend": "hashmap", "penstock.state.backend": "disk"}, True),
        ({"penstock.state.backend": "disk", "execution.runtime-mode": "BATCH"}, False),
    ],
)
def test_flinks_backends_say_where_state_is(options: dict[str, str], on_disk: bool) -> None:
    assert Settings.of(options).disk_state is on_disk
