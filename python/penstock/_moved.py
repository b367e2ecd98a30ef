"""Modules that are gone: a program that imports one gets the names from elsewhere, and a warning says where."""

from __future__ import annotations

import importlib
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_INTO_PACKAGES = {
    "penstock.common": "completable_future job_client job_execution_result job_id job_status types",
    "penstock.datastream": """
        async_data_stream checkpoint_config checkpoint_storage checkpointing_mode data_stream execution_mode
        externalized_checkpoint_retention output_tag stream_execution_environment time_characteristic time_domain
        timerservice
    """,
    "penstock.datastream.connectors": "number_seq",
    "penstock.metrics": "metricbase",
}
MOVED = {f"{package}.{name}": package for package, names in _INTO_PACKAGES.items() for name in names.split()} | {
    "penstock.common.serializer": "penstock.common.serialization",
    "penstock.datastream.async_retry_strategies": "penstock.common.async_retry",
}
"""Where the names of a module are now."""

PICKLED = {
    "penstock.common.watermark_generator": "penstock.common.watermark_strategy",
    "penstock.common.typesystem.collections": "penstock.common.typesystem.types",
    "penstock.common.typesystem.records": "penstock.common.typesystem.types",
    "penstock.common.typesystem.scalars": "penstock.common.typesystem.types",
    "penstock.datastream.connectors.file_sink": "penstock.datastream.connectors.file_system",
    "penstock.datastream.connectors.kafka.serialization": "penstock.datastream.connectors.kafka.sink",
    "penstock.runtime.kafka": "penstock.connectors.kafka",
    "penstock.runtime.io.bulk_sink": "penstock.connectors.files.bulk_sink",
    "penstock.runtime.io.file_sink": "penstock.connectors.files.file_sink",
    "penstock.runtime.io.frames": "penstock.connectors.spark.frames",
    "penstock.runtime.io.jdbc": "penstock.connectors.jdbc.sink",
    "penstock.runtime.io.packs": "penstock.connectors.files.packs",
    "penstock.runtime.io.part_files": "penstock.connectors.files.file_sink",
    "penstock.runtime.io.two_phase": "penstock.connectors.two_phase",
    "penstock.runtime.kafka.publishing": "penstock.connectors.kafka.transactions",
    "penstock.runtime.kafka.ranges": "penstock.connectors.kafka.split_source",
    "penstock.runtime.kafka.records": "penstock.connectors.kafka.records",
    "penstock.runtime.kafka.sink": "penstock.connectors.kafka.sink",
    "penstock.runtime.windows.assigner": "penstock.runtime.windows.assigners",
    "penstock.runtime.windows.count_windows": "penstock.runtime.windows.assigners",
    "penstock.runtime.windows.trigger": "penstock.runtime.windows.triggers",
}
"""The same for modules that no program imports: pickles in checkpoints of earlier versions name their classes."""


class MovedModules:
    """The finder and the loader of the modules in :data:`MOVED`, and :data:`PICKLED`, last in ``sys.meta_path``."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """How a module that has moved is made, None for others."""
        if name in MOVED or name in PICKLED:
            return ModuleSpec(name, self, is_package=f"{name}.sink" in PICKLED)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """A module like any other."""

    def exec_module(self, module: ModuleType) -> None:
        """Lead the names of the module to where they are now, with a DeprecationWarning for the importing module."""
        name = module.__name__
        if name in MOVED:
            warnings.warn(
                f"{name} is deprecated: import its names from {MOVED[name]}.", DeprecationWarning, stacklevel=2
            )
        names = importlib.import_module(MOVED.get(name) or PICKLED[name])
        vars(module)["__getattr__"] = lambda name: getattr(names, name)
