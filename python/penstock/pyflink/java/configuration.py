"""Flink's Java configuration as a Python object: that of an environment, whose settings it reads and changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from penstock.common import Configuration
from penstock.common.java.java_objects import JavaObject
from penstock.common.settings.settings import Settings, find
from penstock.pyflink.java.collections import JavaMap

if TYPE_CHECKING:
    from typing_extensions import Self

_LISTS = {"pipeline.jars", "pipeline.classpaths"}  # what PyFlink writes as the text of a Python list


class HasSettings(Protocol):
    """An environment, as far as its settings go."""

    settings: Settings


class JavaOption(JavaObject):
    """An option by name, such as ``ExecutionOptions.RUNTIME_MODE``."""

    java_class = "org.apache.flink.configuration.ConfigOption"

    def __init__(self, key: str) -> None:
        self._key = key

    def key(self) -> str:
        return self._key

    def __str__(self) -> str:
        return f"Key: '{self._key}'"


class JavaConfiguration(JavaObject):
    """Settings by Java's methods."""

    java_class = "org.apache.flink.configuration.Configuration"

    def __init__(self, environment: HasSettings | None = None) -> None:
        self.environment = environment
        self._values: dict[str, str] = {}

    def values(self) -> dict[str, str]:
        """All settings; of an environment also those that its methods have set."""
        if self.environment is None:
            return dict(self._values)
        return dict(explicit(self.environment.settings))

    def _put(self, key: str | JavaOption, value: object) -> Self:
        name = _key(key)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if self.environment is None:
            self._values.update(Configuration({name: text}).to_dict())
        else:
            self.environment.settings = self.environment.settings.updated({name: text})
        return self

    def setString(self, key: str | JavaOption, value: object) -> Self:
        return self._put(key, value)

    set = setInteger = setLong = setBoolean = setFloat = setDouble = setString

    def _text(self, key: str | JavaOption) -> str | None:
        name = _key(key)
        setting = find(name)
        names = (name,) if setting is None else setting.keys
        values = self.values()
        return next((values[name] for name in names if name in values), None)

    def getString(self, key: str | JavaOption, default: str | None = None) -> str | None:
        text = self._text(key)
        if text is not None and _key(key) in _LISTS:
            return str([part for part in text.split(";") if part])
        return default if text is None else text

    def getValue(self, option: str | JavaOption) -> str | None:
        text = self.getString(option)
        setting = find(_key(option))
        return setting.kind.text(setting.default) if text is None and setting is not None else text

    def get(self, option: str | JavaOption, default: Any = None) -> Any:
        text, setting = self._text(option), find(_key(option))
        if setting is None:
            return default if text is None else text
        if text is not None:
            return setting.parse(_key(option), text)
        return setting.default if default is None else default

    def getInteger(self, key: str | JavaOption, default: int | None = None) -> int | None:
        text = self._text(key)
        return default if text is None else int(text)

    getLong = getInteger

    def getBoolean(self, key: str | JavaOption, default: bool | None = None) -> bool | None:
        text = self._text(key)
        return default if text is None else text.strip().lower() == "true"

    def getDouble(self, key: str | JavaOption, default: float | None = None) -> float | None:
        text = self._text(key)
        return default if text is None else float(text)

    getFloat = getDouble

    def contains(self, key: str | JavaOption) -> bool:
        return self._text(key) is not None

    containsKey = contains

    def keySet(self) -> set[str]:
        return set(self.values())

    def addAll(self, other: JavaConfiguration) -> None:
        for key, value in other.values().items():
            self._put(key, value)

    def toMap(self) -> JavaMap[str]:
        return JavaMap(self.values())

    def __str__(self) -> str:
        return str(self.values())


def _key(key: str | JavaOption) -> str:
    return key.key() if isinstance(key, JavaOption) else key


def explicit(settings: Settings) -> Mapping[str, str]:
    """The configured values, over those that methods have set and that are not the default."""
    changed: dict[str, str] = {}
    for line in fields(settings):
        setting, value = line.metadata.get("setting"), getattr(settings, line.name)
        if setting is not None:
            text = settings.explicit_text(setting.key)
            if value != (setting.default if text is None else setting.parse(setting.key, text)):
                changed[setting.key] = setting.kind.text(value)
    return {**settings.explicit, **changed}


_OPTIONS = {
    "PipelineOptions": "pipeline.",
    "ExecutionOptions": "execution.",
    "CheckpointingOptions": "execution.checkpointing.",
    "ExecutionCheckpointingOptions": "execution.checkpointing.",
    "PythonOptions": "python.",
    "DeploymentOptions": "execution.",
    "TaskManagerOptions": "taskmanager.",
    "JobManagerOptions": "jobmanager.",
    "RestOptions": "rest.",
    "StateBackendOptions": "state.backend.",
}
"""Flink's classes of options, with what the keys of most of them begin with."""
_NAMES = {
    "CoreOptions.DEFAULT_PARALLELISM": "parallelism.default",
    "CheckpointingOptions.CHECKPOINTS_DIRECTORY": "state.checkpoints.dir",
    "CheckpointingOptions.SAVEPOINT_DIRECTORY": "state.savepoints.dir",
    "CheckpointingOptions.CHECKPOINTING_INTERVAL": "execution.checkpointing.interval",
    "CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE": "execution.checkpointing.mode",
    "ExecutionCheckpointingOptions.CHECKPOINTING_INTERVAL": "execution.checkpointing.interval",
    "ExecutionCheckpointingOptions.CHECKPOINTING_MODE": "execution.checkpointing.mode",
    "PythonOptions.MAX_BUNDLE_SIZE": "python.fn-execution.bundle.size",
    "PythonOptions.MAX_BUNDLE_TIME_MILLS": "python.fn-execution.bundle.time",
    "PythonOptions.PYTHON_EXECUTION_MODE": "python.execution-mode",
    "PythonOptions.PYTHON_REQUIREMENTS": "python.requirements",
    "RestartStrategyOptions.RESTART_STRATEGY": "restart-strategy",
    "StateBackendOptions.STATE_BACKEND": "state.backend",
    "TaskManagerOptions.NUM_TASK_SLOTS": "taskmanager.numberOfTaskSlots",
    "DeploymentOptions.TARGET": "execution.target",
}
"""Those whose key does not follow from their name."""


def option(path: str) -> JavaOption | None:
    """The option that a path in Java names, None if it names none."""
    match = re.fullmatch(r"org\.apache\.flink\.(?:[a-z0-9]+\.)+(\w*Options)\.([A-Z][A-Z_0-9]*)", path)
    if match is None:
        return None
    owner, name = match.groups()
    key = _NAMES.get(f"{owner}.{name}")
    if key is None and owner in _OPTIONS:
        key = _OPTIONS[owner] + name.lower().replace("_", "-")
    return None if key is None else JavaOption(key)
