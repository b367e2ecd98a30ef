"""The setting ``state.backend`` acts, so nobody is told that it has no effect."""

from __future__ import annotations

import warnings

import pytest

from penstock.common import Configuration
from penstock.common.settings.settings import TABLE, without_effect
from penstock.datastream import EmbeddedRocksDBStateBackend, StreamExecutionEnvironment


@pytest.mark.parametrize("key", ["state.backend", "state.backend.type"])
@pytest.mark.parametrize(("name", "on_disk"), [("rocksdb", True), ("hashmap", False), ("filesystem", False)])
def test_it_says_where_state_is_kept(key, name, on_disk) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        configuration = Configuration.from_dict({key: name})
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
    assert env.settings.disk_state is on_disk
    assert env.get_state_backend() is not None
    ours = {**configuration.to_dict(), "penstock.state.backend": "memory"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(ours))
    assert not env.settings.disk_state


def test_whatever_acts_is_not_said_to_have_no_effect() -> None:
    assert without_effect([key for setting in TABLE for key in setting.keys]) == []
    assert without_effect(["state.backend.incremental"]) != []
    env = StreamExecutionEnvironment.get_execution_environment().set_state_backend(EmbeddedRocksDBStateBackend())
    assert env.settings.disk_state
