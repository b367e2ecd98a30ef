"""CheckpointConfig, state backends, checkpoint storages: given back as they were told; two settings enter the plan."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from penstock.common import Configuration, Duration
from penstock.common.settings.settings import Settings
from penstock.datastream import (
    CheckpointingMode,
    CustomCheckpointStorage,
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    ExternalizedCheckpointCleanup,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    FsStateBackend,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    StreamExecutionEnvironment,
)
from penstock.datastream.environment import executors
from penstock.datastream.state_backend import named

NOT_EXTERNALIZED = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
RETAIN = ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


CHECKPOINTS: dict[str, tuple[str, Any, Any]] = {
    "set_checkpoint_interval": ("get_checkpoint_interval", -1, 500),
    "set_checkpointing_mode": (
        "get_checkpointing_mode",
        CheckpointingMode.EXACTLY_ONCE,
        CheckpointingMode.AT_LEAST_ONCE,
    ),
    "set_checkpoint_timeout": ("get_checkpoint_timeout", 600_000, 10),
    "set_min_pause_between_checkpoints": ("get_min_pause_between_checkpoints", 0, 5000),
    "set_max_concurrent_checkpoints": ("get_max_concurrent_checkpoints", 1, 2),
    "set_tolerable_checkpoint_failure_number": ("get_tolerable_checkpoint_failure_number", 0, 3),
    "set_fail_on_checkpointing_errors": ("is_fail_on_checkpointing_errors", True, False),
    "set_externalized_checkpoint_retention": ("get_externalized_checkpoint_retention", NOT_EXTERNALIZED, RETAIN),
    "enable_externalized_checkpoints": ("get_externalized_checkpoint_cleanup", None, RETAIN),
    "enable_unaligned_checkpoints": ("is_unaligned_checkpoints_enabled", False, True),
    "set_force_unaligned_checkpoints": ("is_force_unaligned_checkpoints", False, True),
    "set_aligned_checkpoint_timeout": ("get_aligned_checkpoint_timeout", Duration(0), Duration.of_seconds(2)),
    "set_alignment_timeout": ("get_alignment_timeout", Duration(0), Duration.of_seconds(2)),
    "set_checkpoint_storage": ("get_checkpoint_storage", None, JobManagerCheckpointStorage()),
}


@pytest.mark.parametrize("setter", CHECKPOINTS)
def test_what_is_set_of_checkpoints_is_given_back(setter: str, env) -> None:
    getter, default, value = CHECKPOINTS[setter]
    config = env.get_checkpoint_config()
    assert getattr(config, getter)() == default
    assert getattr(config, setter)(value) is config
    assert getattr(env.get_checkpoint_config(), getter)() == value


def test_checkpoints_as_the_environment_sees_them(env) -> None:
    config = env.get_checkpoint_config()
    assert not config.is_checkpointing_enabled()
    env.enable_checkpointing(2000, CheckpointingMode.AT_LEAST_ONCE)
    assert (config.is_checkpointing_enabled(), config.get_checkpoint_interval()) == (True, 2000)
    config.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE).set_checkpoint_interval(3000)
    assert (env.get_checkpoint_interval(), env.get_checkpointing_consistency_mode()) == (
        3000,
        CheckpointingMode.EXACTLY_ONCE,
    )
    config.enable_unaligned_checkpoints().set_force_unaligned_checkpoints()
    assert env.is_unaligned_checkpoints_enabled()
    assert env.is_force_unaligned_checkpoints()
    assert not config.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()
    assert repr(config) == "<CheckpointConfig interval=3000>"


def test_the_checkpointing_mode_is_in_the_plan(env) -> None:
    env.get_checkpoint_config().set_checkpoint_interval(500).set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)
    env.from_collection([1]).print()
    settings = env.get_stream_graph().to_dict()["settings"]
    assert (settings["checkpoint_interval"], settings["checkpointing_mode"]) == (500, "AT_LEAST_ONCE")


def test_externalized_checkpoints_are_enabled_unless_there_are_none(env) -> None:
    config = env.get_checkpoint_config()
    assert not config.is_externalized_checkpoints_enabled()
    assert config.set_externalized_checkpoint_retention(RETAIN).is_externalized_checkpoints_enabled()
    none = ExternalizedCheckpointCleanup.NO_EXTERNALIZED_CHECKPOINTS
    assert not config.set_externalized_checkpoint_cleanup(none).is_externalized_checkpoints_enabled()


def test_a_configuration_says_the_same_of_checkpoints_and_state() -> None:
    keys = {
        "execution.checkpointing.timeout": "2 min",
        "execution.checkpointing.dir": "file:///tmp/checkpoints",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "state.backend.type": "rocksdb",
        "state.savepoints.dir": "file:///tmp/savepoints",
    }
    with pytest.warns(UserWarning, match="no effect in Penstock: execution.checkpointing.externalized") as caught:
        env = StreamExecutionEnvironment.get_execution_environment(Configuration(keys))
    assert len(caught) == 1
    assert env.settings.checkpoint_directory == "file:///tmp/checkpoints"
    config = env.get_checkpoint_config()
    assert (config.get_checkpoint_timeout(), config.get_externalized_checkpoint_retention()) == (120_000, RETAIN)
    storage = config.get_checkpoint_storage()
    assert isinstance(storage, FileSystemCheckpointStorage)
    assert storage.get_checkpoint_path() == "file:///tmp/checkpoints"
    assert isinstance(env.get_state_backend(), EmbeddedRocksDBStateBackend)
    assert env.get_default_savepoint_directory() == "file:///tmp/savepoints"
    assert env.set_default_savepoint_directory("other").get_default_savepoint_directory() == "other"


def test_state_backends_are_given_back(env) -> None:
    assert env.get_state_backend() is None
    assert env.is_changelog_state_backend_enabled() is None
    backends = [HashMapStateBackend(), MemoryStateBackend("file:///a"), CustomStateBackend("of Java")]
    env.configure(Configuration({"execution.checkpointing.dir": "job"}))
    for backend in [*backends, FsStateBackend("file:///b", "file:///c")]:
        assert env.set_state_backend(backend).get_state_backend() is backend
        assert repr(backend) == f"<{type(backend).__name__}>"
    for enabled in (True, False):
        assert env.enable_changelog_state_backend(enabled).is_changelog_state_backend_enabled() is enabled
    names = {"hashmap": HashMapStateBackend, "jobmanager": MemoryStateBackend, "org.example.Own": CustomStateBackend}
    for name, kind in names.items():
        assert type(named(name)) is kind


def test_backends_give_back_what_they_were_told() -> None:
    memory = MemoryStateBackend("a", "b", 7, False)
    assert (memory.get_checkpoint_path(), memory.get_savepoint_path(), memory.get_max_state_size()) == ("a", "b", 7)
    assert not memory.is_using_asynchronous_snapshots()
    assert MemoryStateBackend().get_max_state_size() == MemoryStateBackend.DEFAULT_MAX_STATE_SIZE == 5 << 20
    files = FsStateBackend("a", "b", 7, 8, True)
    assert (files.get_checkpoint_path(), files.get_savepoint_path()) == ("a", "b")
    assert (files.get_min_file_size_threshold(), files.get_write_buffer_size()) == (7, 8)
    assert files.is_using_asynchronous_snapshots()
    assert FsStateBackend("a").get_write_buffer_size() == 4096
    rocks = RocksDBStateBackend(checkpoint_stream_backend=files, enable_incremental_checkpointing=True)
    assert rocks.get_checkpoint_backend() is files
    assert type(RocksDBStateBackend("a").get_checkpoint_backend()) is FsStateBackend
    assert (rocks.is_incremental_checkpoints_enabled(), rocks.get_options(), rocks.get_db_storage_paths()) == (
        *(True, None),
        [],
    )
    rocks.set_db_storage_paths("/x", "/y").set_options("org.example.Factory").set_number_of_transfer_threads(2)
    rocks.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    assert (rocks.get_db_storage_paths(), rocks.get_options()) == (["/x", "/y"], "org.example.Factory")
    assert (rocks.get_number_of_transfer_threads(), rocks.get_predefined_options().value) == (2, 3)


FOLDERS = {
    "set_checkpoint_storage_dir": lambda env: env.get_checkpoint_config().set_checkpoint_storage_dir("file:///a"),
    "FileSystemCheckpointStorage": lambda env: env.get_checkpoint_config().set_checkpoint_storage(
        FileSystemCheckpointStorage("file:///a")
    ),
    "JobManagerCheckpointStorage": lambda env: env.get_checkpoint_config().set_checkpoint_storage(
        JobManagerCheckpointStorage("file:///a")
    ),
    "MemoryStateBackend": lambda env: env.set_state_backend(MemoryStateBackend("file:///a")),
    "FsStateBackend": lambda env: env.set_state_backend(FsStateBackend("file:///a")),
    "RocksDBStateBackend": lambda env: env.set_state_backend(RocksDBStateBackend("file:///a")),
}


@pytest.mark.parametrize("call", FOLDERS)
def test_a_folder_for_checkpoints_names_the_checkpoint_directory(env, call: str) -> None:
    text = (
        "The folder for checkpoints 'file:///a' has no effect in Penstock: set execution.checkpointing.dir, the job's "
        "own checkpoint directory, from which it resumes. See docs/settings.md."
    )
    with pytest.warns(UserWarning, match=re.escape(text)) as caught:
        FOLDERS[call](env)
    assert [warning.filename for warning in caught] == [__file__]
    env.configure(Configuration({"execution.checkpointing.dir": "job"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FOLDERS[call](env)


OLD = "penstock.job.folder is the old name of the setting execution.checkpointing.dir: set execution.checkpointing.dir"


def test_the_old_name_of_the_checkpoint_directory_is_named_at_the_line_of_the_program(env) -> None:
    for call in (env.configure, StreamExecutionEnvironment.get_execution_environment):
        with pytest.warns(DeprecationWarning, match=re.escape(OLD)) as caught:
            env = call(Configuration({"penstock.job.folder": "job"})) or env
        assert [warning.filename for warning in caught] == [__file__]
        assert env.settings.checkpoint_directory == "job"
        assert env.get_checkpoint_config().get_checkpoint_storage().get_checkpoint_path() == "job"
    env.configure(Configuration({"state.checkpoints.dir": "other"}))
    assert env.settings.checkpoint_directory == "other"


def test_a_tool_sets_the_checkpoint_directory_by_another_name() -> None:
    values = {"state.checkpoints.dir": "a"}
    with executors.impose({"execution.checkpointing.dir": "b"}):
        env = StreamExecutionEnvironment.get_execution_environment(Configuration(values), executor="local")
        env.from_collection([1]).print()
        env.configure(Configuration(values))
        assert env.to_pipeline().settings.checkpoint_directory == "b"
    assert Settings.of(values, {"execution.checkpointing.dir": "b"}).checkpoint_directory == "b"


@pytest.mark.parametrize("place", ["/{}", "file:///{}", "file:/{}"])
def test_a_url_of_a_file_is_the_folder(tmp_path, place: str) -> None:
    for key in ("execution.checkpointing.dir", "state.checkpoints.dir"):
        folder = place.format(f"{tmp_path}/job"[1:])
        env = StreamExecutionEnvironment.get_execution_environment(Configuration({key: folder}), executor="local")
        env.from_collection([1]).print()
        env.execute()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["job"]


def test_what_has_no_folder_says_nothing(env) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.get_checkpoint_config().set_checkpoint_storage(JobManagerCheckpointStorage())
        env.get_checkpoint_config().set_checkpoint_storage(CustomCheckpointStorage(5))
        env.set_state_backend(MemoryStateBackend()).set_state_backend(EmbeddedRocksDBStateBackend())


def test_storages_give_back_what_they_were_told() -> None:
    memory = JobManagerCheckpointStorage("a", 7)
    assert (memory.get_checkpoint_path(), memory.get_max_state_size(), memory.get_savepoint_path()) == ("a", 7, None)
    files = FileSystemCheckpointStorage("a", 7, 8)
    assert (files.get_checkpoint_path(), files.get_min_file_size_threshold()) == ("a", 7)
    assert (files.get_write_buffer_size(), files.get_savepoint_path()) == (8, None)
    assert FileSystemCheckpointStorage("a").get_write_buffer_size() == 20 << 10
    assert repr(CustomCheckpointStorage(5)) == "<CustomCheckpointStorage>"
