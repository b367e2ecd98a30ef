"""Metrics of user functions (PyFlink: ``pyflink.metrics``), and of all operators of a job.

A function gets its :class:`MetricGroup` in ``open``, from ``runtime_context.get_metrics_group()``. The values travel
in the row with which a finished subtask reports, so a failed or repeated attempt counts nothing. After the job
``JobExecutionResult.metrics`` has them: :class:`JobMetrics`. While a job runs ``JobClient.metrics()`` has the current
ones: :class:`RunningMetrics`.
"""

from penstock.metrics.group import Counter, Distribution, Meter, Metric, MetricGroup
from penstock.metrics.results import DistributionValue, JobMetrics, MeterValue, OperatorMetrics, SubtaskMetrics
from penstock.metrics.running_job import (
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
