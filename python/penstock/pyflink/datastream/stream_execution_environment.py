"""The names of PyFlink's ``pyflink.datastream.stream_execution_environment``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.execution_config import ExecutionConfig
from penstock.common.execution_mode import RuntimeExecutionMode
from penstock.common.job import JobExecutionResult
from penstock.common.job_client import JobClient
from penstock.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from penstock.common.scalar_types import TypeInformation
from penstock.common.typeinfo import Types
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.datastream.checkpoint_config import CheckpointConfig
from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.datastream.connectors import Source
from penstock.datastream.data_stream import DataStream
from penstock.datastream.formats import InputFormat
from penstock.datastream.functions import SourceFunction
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.datastream.state_backend import StateBackend
from penstock.datastream.time_characteristic import TimeCharacteristic
from penstock.pyflink.deviating import (
    Configuration,
    StreamExecutionEnvironment,
    get_gateway,
    get_j_env_configuration,
    is_local_deployment,
)
from penstock.pyflink.missing import (
    Public,
    ResultTypeQueryable,
    add_jars_to_context_class_loader,
    get_field_value,
    invoke_method,
    load_java_class,
)

__all__ = [
    "CheckpointConfig",
    "CheckpointingMode",
    "Configuration",
    "DataStream",
    "ExecutionConfig",
    "InputFormat",
    "JobClient",
    "JobExecutionResult",
    "Public",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "ResultTypeQueryable",
    "RuntimeExecutionMode",
    "SlotSharingGroup",
    "Source",
    "SourceFunction",
    "StateBackend",
    "StreamExecutionEnvironment",
    "TimeCharacteristic",
    "TypeInformation",
    "Types",
    "WatermarkStrategy",
    "add_jars_to_context_class_loader",
    "get_field_value",
    "get_gateway",
    "get_j_env_configuration",
    "invoke_method",
    "is_local_deployment",
    "load_java_class",
]
