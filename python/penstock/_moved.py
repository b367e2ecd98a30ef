"""Modules that are gone: a program that imports one gets the names from where they are now, and a warning says where.

All stood where PyFlink has them; programs that want PyFlink's modules have :mod:`penstock.pyflink`.
"""

from __future__ import annotations

import importlib
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "penstock.common.completable_future": "penstock.common",
    "penstock.common.job_client": "penstock.common",
    "penstock.common.job_execution_result": "penstock.common",
    "penstock.common.job_id": "penstock.common",
    "penstock.common.job_status": "penstock.common",
    "penstock.common.types": "penstock.common",
    "penstock.datastream.async_data_stream": "penstock.datastream",
    "penstock.datastream.async_retry_strategies": "penstock.common.async_retry",
    "penstock.datastream.connectors.number_seq": "penstock.datastream.connectors",
    "penstock.datastream.checkpoint_config": "penstock.datastream",
    "penstock.datastream.checkpoint_storage": "penstock.datastream",
    "penstock.datastream.checkpointing_mode": "penstock.datastream",
    "penstock.datastream.data_stream": "penstock.datastream",
    "penstock.datastream.execution_mode": "penstock.datastream",
    "penstock.datastream.externalized_checkpoint_retention": "penstock.datastream",
    "penstock.datastream.output_tag": "penstock.datastream",
    "penstock.datastream.stream_execution_environment": "penstock.datastream",
    "penstock.datastream.time_characteristic": "penstock.datastream",
    "penstock.datastream.time_domain": "penstock.datastream",
    "penstock.datastream.timerservice": "penstock.datastream",
    "penstock.metrics.metricbase": "penstock.metrics",
}
"""Where the names of a module are now."""

PICKLED = {
    "penstock.datastream.connectors.file_sink": "penstock.datastream.connectors.file_system",
    "penstock.datastream.connectors.kafka.serialization": "penstock.datastream.connectors.kafka.sink",
    "penstock.runtime.kafka": "penstock.connectors.kafka",
    "penstock.runtime.io.bulk_sink": "penstock.connectors.files.bulk_sink",
    "penstock.runtime.io.file_sink": "penstock.connectors.files.file_sink",
    "penstock.runtime.io.frames": "penstock.connectors.spark.frames",
    "penstock.runtime.io.jdbc": "penstock.connectors.jdbc.sink",
    "penstock.runtime.io.packs": "penstock.connectors.files.packs",
    "penstock.runtime.io.part_files": "penstock.connectors.files.part_files",
    "penstock.runtime.io.two_phase": "penstock.connectors.two_phase",
    "penstock.runtime.kafka.publishing": "penstock.connectors.kafka.publisher",
    "penstock.runtime.kafka.ranges": "penstock.connectors.kafka.ranges",
    "penstock.runtime.kafka.records": "penstock.connectors.kafka.records",
    "penstock.runtime.kafka.sink": "penstock.connectors.kafka.sink",
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
        """Lead the names of the module to where they are now.

        Raises:
            DeprecationWarning: said to the importing module; raised where warnings are errors.
        """
        name = module.__name__
        if name in MOVED:
            warnings.warn(
                f"{name} is deprecated: import its names from {MOVED[name]}.", DeprecationWarning, stacklevel=2
            )
        names = importlib.import_module(MOVED.get(name) or PICKLED[name])
        vars(module)["__getattr__"] = lambda name: getattr(names, name)
