"""An endpoint for Prometheus: what is known of the jobs that this process runs, whenever it is scraped.

Names are Flink's where Flink measures the same; others begin with ``penstock_``. ``docs/operations.md`` lists them.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import re
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from penstock.common.extras import library
from penstock.errors import ConfigurationError
from penstock.job.steps.progress import Progress
from penstock.metrics.results import CounterValue, DistributionValue, GaugeValue, MeterValue, SubtaskMetrics
from penstock.metrics.running_job import NO_WATERMARK, RunningMetrics, RunningOperator, RunningVertex

_OPERATOR, _TASK, _JOB = "flink_taskmanager_job_task_operator_", "flink_taskmanager_job_task_", "flink_jobmanager_job_"
_FOREIGN = re.compile(r"[^a-zA-Z0-9_]")
Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, str, Labels, float]  # name, what it is, labels, value

_Place = tuple[str, tuple[int, int]]  # an address, and the first and the last port

_LOG = logging.getLogger("penstock")
_lock = threading.Lock()
_endpoints: dict[_Place, _Endpoint] = {}


class _Endpoint:
    """A port that is answered while jobs of this process want it; a collector of the library's registry."""

    def __init__(self, place: _Place) -> None:
        client = library("prometheus_client", "prometheus", "The setting penstock.metrics.prometheus.port")
        self._family = library("prometheus_client.core", "prometheus", "Prometheus").GaugeMetricFamily
        self.jobs: list[Progress] = []
        registry = client.CollectorRegistry(auto_describe=False)
        registry.register(self)
        self.port, self.close = _served(client, registry, *place)

    def describe(self) -> list[Any]:
        """Nothing is known before a job runs."""
        return []

    def collect(self) -> Iterator[Any]:
        families: dict[str, Any] = {}
        for progress in tuple(self.jobs):
            for name, what, labels, value in samples(progress.job_id, progress.metrics()):
                if name not in families:
                    families[name] = self._family(name, what)
                families[name].add_sample(name, dict(labels), value)
        yield from families.values()


def _served(client: Any, registry: Any, address: str, ports: tuple[int, int]) -> tuple[int, Callable[[], None]]:
    first, last = ports
    for port in range(first, last + 1):
        try:
            server, thread = client.start_http_server(port, address, registry)
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise ConfigurationError(
                    f"penstock.metrics.prometheus.address is {address!r}, which is not an address of this machine: "
                    f"{error}. Give one of its own, 127.0.0.1 for this machine only, or 0.0.0.0 for all it has."
                ) from error
            failure = error
        else:
            return server.server_port, partial(_close, server, thread)
    raise ConfigurationError(
        f"No port is free for Prometheus: penstock.metrics.prometheus.port is {first if first == last else ports}, and "
        f"{last} gives: {failure}. Give another one, or a range such as 9250-9260."
    )


def _close(server: Any, thread: threading.Thread) -> None:
    server.shutdown()
    server.server_close()
    thread.join()


@contextlib.contextmanager
def exposed(progress: Progress, ports: tuple[int, int], address: str = "127.0.0.1") -> Generator[int, None, None]:
    """Within the block Prometheus finds a job at a port of a range, 0 for any, that jobs with one setting share."""
    place = address, ports
    with _lock:
        endpoint = _endpoints.get(place)
        if endpoint is None:
            endpoint = _endpoints[place] = _Endpoint(place)
        endpoint.jobs.append(progress)
    _LOG.info("Prometheus finds the job %s at http://%s:%d/metrics.", progress.job_id, address, endpoint.port)
    try:
        yield endpoint.port
    finally:
        with _lock:
            endpoint.jobs.remove(progress)
            if not endpoint.jobs:
                del _endpoints[place]
                endpoint.close()


def samples(job_id: str, metrics: RunningMetrics) -> Iterator[Sample]:
    """All numbers of a job. O(metrics times subtasks)."""
    job = (("job_id", job_id), ("job_name", metrics.job_name))
    yield from _of_job(job, metrics)
    for vertex in metrics.vertices:
        yield from _of_tasks(job, vertex)
        for operator_id in vertex.operators:
            operator = metrics.operators[operator_id]
            labels = (*job, ("task_name", vertex.name), ("operator_id", operator_id), ("operator_name", operator.name))
            yield from _of_operator(labels, operator)
            for subtask, measured in enumerate(operator.metrics.subtasks):
                yield from _of_subtask((*labels, ("subtask_index", str(subtask))), measured)


def _of_job(job: Labels, metrics: RunningMetrics) -> Iterator[Sample]:
    step = metrics.step
    yield f"{_JOB}uptime", "Milliseconds since the job was started", job, metrics.seconds * 1000
    yield f"{_JOB}numRestarts", "Steps that failed and ran again", job, metrics.failed_steps
    yield f"{_JOB}numberOfCompletedCheckpoints", "Checkpoints committed", job, metrics.version
    yield f"{_JOB}lastCheckpointDuration", "Milliseconds of the last checkpoint", job, step.last_ms
    size = sum(operator.state.bytes for operator in metrics.operators.values())
    yield f"{_JOB}lastCheckpointFullSize", "Bytes of state in the newest checkpoint", job, size
    for part, milliseconds in step.parts.items():
        yield "penstock_step_part_ms", "Median of the last 100 steps", (*job, ("part", part)), milliseconds
    for quantile, milliseconds in (("0.5", step.median_ms), ("0.99", step.p99_ms)):
        yield "penstock_step_ms", "Length of the last 100 steps", (*job, ("quantile", quantile)), milliseconds


def _of_tasks(job: Labels, vertex: RunningVertex) -> Iterator[Sample]:
    for subtask, task in enumerate(vertex.tasks):
        labels = (*job, ("task_name", vertex.name), ("subtask_index", str(subtask)))
        yield f"{_TASK}busyTimeMsPerSecond", "Milliseconds at work per second", labels, task.busy * 1000
        yield "penstock_task_attempt", "Number of the current execution", labels, task.attempt
        yield "penstock_task_state", "1 for the state of the current execution", (*labels, ("state", task.state)), 1


def _of_operator(labels: Labels, operator: RunningOperator) -> Iterator[Sample]:
    yield f"{_OPERATOR}numRecordsInPerSecond", "Over ten seconds, all subtasks", labels, operator.in_rate
    yield f"{_OPERATOR}numRecordsOutPerSecond", "Over ten seconds, all subtasks", labels, operator.out_rate
    yield "penstock_operator_state_keys", "Keys with state", labels, operator.state.keys
    yield "penstock_operator_state_bytes", "Bytes of state files", labels, operator.state.bytes
    if operator.watermark_lag_ms is not None:
        yield "penstock_operator_watermark_lag_ms", "Clock minus watermark", labels, operator.watermark_lag_ms
    if operator.source is not None:
        yield "penstock_source_splits", "Splits that are read", labels, operator.source.splits
        if operator.source.records_behind is not None:
            yield f"{_OPERATOR}pendingRecords", "There, and not read yet", labels, operator.source.records_behind


def _of_subtask(labels: Labels, metrics: SubtaskMetrics) -> Iterator[Sample]:
    numbers = {
        "numRecordsIn": metrics.records_in,
        "numRecordsOut": metrics.records_out,
        "numLateRecordsDropped": metrics.late_dropped,
        "numBytesIn": metrics.bytes_in,
        "numBytesOut": metrics.bytes_out,
    }
    for name, number in numbers.items():
        yield f"{_OPERATOR}{name}", "Since the job was started", labels, number
    for name, watermark in (("Input", metrics.input_watermark), ("Output", metrics.output_watermark)):
        if watermark != NO_WATERMARK:
            yield f"{_OPERATOR}current{name}Watermark", "Milliseconds since the epoch", labels, watermark
    for identifier, value in metrics.user.items():
        name = _OPERATOR + _FOREIGN.sub("_", identifier)
        for suffix, number in _numbers(value):
            yield f"{name}{suffix}", "Of the program", labels, number


def _numbers(value: Any) -> Iterable[tuple[str, float]]:
    """The samples of a user's metric; a gauge only if it is a number."""
    if isinstance(value, CounterValue):
        return [("", value.count)]
    if isinstance(value, MeterValue):
        return [("_rate", value.rate), ("_count", value.count)]
    if isinstance(value, DistributionValue):
        ends: Mapping[str, float | None] = {"_min": value.min, "_max": value.max}
        known = [(suffix, number) for suffix, number in ends.items() if number is not None]
        return [("_count", value.count), ("_sum", value.sum), *known]
    if isinstance(value, GaugeValue) and isinstance(value.value, (int, float)):
        return [("", float(value.value))]
    return []
