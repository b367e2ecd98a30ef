"""Metrics: what a user function counts (PyFlink: ``pyflink.metrics``), and what a finished job tells of all operators.

A function gets its :class:`MetricGroup` in ``open``, from ``runtime_context.get_metrics_group()``. The values travel in
the row by which a finished subtask reports, so a failed, retried or repeated attempt counts nothing. After the job
``JobExecutionResult.metrics`` has them: :class:`JobMetrics`. While a job runs its ``JobClient.metrics()`` has what is
known of it so far: :class:`RunningMetrics`.
"""

from penstock.metrics.group import Counter, Distribution, Meter, Metric, MetricGroup
from penstock.metrics.results import DistributionValue, JobMetrics, MeterValue, OperatorMetrics, SubtaskMetrics
from penstock.metrics.running import (
    Bottleneck,
    RunningMetrics,
    RunningOperator,
    RunningTask,
    RunningVertex,
    SourceProgress,
    StateSize,
    StepTimes,
)

__all__ = [
    "Bottleneck",
    "Counter",
    "Distribution",
    "DistributionValue",
    "JobMetrics",
    "Meter",
    "MeterValue",
    "Metric",
    "MetricGroup",
    "OperatorMetrics",
    "RunningMetrics",
    "RunningOperator",
    "RunningTask",
    "RunningVertex",
    "SourceProgress",
    "StateSize",
    "StepTimes",
    "SubtaskMetrics",
]
