"""The ground that programs, planner and runtime share: types, rows, tags, configuration, checks of arguments;
interfaces of states, contexts and timers, which the runtime implements. No logic of a job. Imports neither pyspark nor
pyarrow."""

from __future__ import annotations

from penstock.common.class_names import formerly
from penstock.common.configuration import Configuration
from penstock.common.execution_config import ExecutionConfig
from penstock.common.functions.output_tag import OutputTag
from penstock.common.functions.state import TimeDomain
from penstock.common.jobs.completable_future import CompletableFuture
from penstock.common.jobs.job import JobExecutionResult, JobID, JobStatus
from penstock.common.jobs.job_client import JobClient
from penstock.common.jobs.job_executions import JobExecutions, VertexExecutions
from penstock.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from penstock.common.row import Row, RowKind
from penstock.common.savepoint_restore_settings import SavepointRestoreSettings
from penstock.common.settings.settings import RuntimeExecutionMode
from penstock.common.time import Duration, Instant, Time
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.watermark_strategy import TimestampAssigner, Watermark, WatermarkGenerator, WatermarkStrategy

__all__ = [
    "CompletableFuture",
    "Configuration",
    "Duration",
    "ExecutionConfig",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobExecutions",
    "JobID",
    "JobStatus",
    "OutputTag",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "RuntimeExecutionMode",
    "SavepointRestoreSettings",
    "Time",
    "TimeDomain",
    "TimestampAssigner",
    "TypeInformation",
    "Types",
    "VertexExecutions",
    "Watermark",
    "WatermarkGenerator",
    "WatermarkStrategy",
    "formerly",
]
