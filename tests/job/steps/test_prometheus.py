"""What Prometheus finds while a job runs."""

from __future__ import annotations

import contextlib
import socket
import sys
import urllib.error
import urllib.request
from contextlib import closing

import pytest

from penstock.common import Configuration
from penstock.common.jobs.job_control import JobControl
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.errors import ConfigurationError
from penstock.job.deployment import deploy
from penstock.job.steps.counts import StepSummary
from penstock.job.steps.progress import Progress
from penstock.job.steps.prometheus import exposed, samples
from penstock.metrics import SourceProgress, StateSize
from penstock.metrics.results import CounterValue, DistributionValue, GaugeValue, MeterValue
from tests.job.steps.loops import EndlessExecutor, chain, pipeline, write

parser = pytest.importorskip("prometheus_client.parser")
SECONDS = 60


def scraped(port: int) -> dict[tuple[str, str | None, str | None], float]:
    """Values by name, operator and subtask."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SECONDS) as answer:
        families = list(parser.text_string_to_metric_families(answer.read().decode()))
    assert {family.type for family in families} == {"gauge"}
    return {
        (sample.name, sample.labels.get("operator_name"), sample.labels.get("subtask_index")): sample.value
        for family in families
        for sample in family.samples
    }


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("key", ["penstock.metrics.prometheus.port", "metrics.reporter.prom.port"])
def test_a_job_is_scraped_while_it_runs_and_not_after(key: str) -> None:
    port, executor = free_port(), EndlessExecutor()
    settings = Configuration({key: str(port)})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor=executor).set_parallelism(2)
    write(env)
    client = env.execute_async("clicks")
    executor.step()
    executor.step()
    values = scraped(port)
    operator = "flink_taskmanager_job_task_operator_"
    assert values[f"{operator}numRecordsIn", "odd", "1"] == 100
    assert values[f"{operator}numRecordsOut", "Sink: Out", "0"] == 0
    assert values["flink_jobmanager_job_numberOfCompletedCheckpoints", None, None] == 2
    assert values["penstock_step_part_ms", None, None] == 40
    assert values["flink_taskmanager_job_task_busyTimeMsPerSecond", None, "1"] > 0
    client.stop().result()
    client.get_job_execution_result().result(SECONDS)
    with pytest.raises(urllib.error.URLError):
        scraped(port)


def test_jobs_of_one_process_share_a_port_and_a_range_gives_the_first_free_one() -> None:
    plan = pipeline()
    jobs = [Progress(deploy(plan), JobControl("clicks"), plan.job_graph) for _ in range(3)]
    with closing(socket.socket()) as taken:
        taken.bind(("", 0))
        taken.listen()
        first = taken.getsockname()[1]
        ports = (first, min(first + 20, 65_535))
        with exposed(jobs[0], ports) as one, exposed(jobs[1], ports) as other:
            assert one == other > first
            with urllib.request.urlopen(f"http://127.0.0.1:{one}/metrics", timeout=SECONDS) as answer:
                page = answer.read().decode()
            assert [job.job_id in page for job in jobs] == [True, True, False]
        with (
            pytest.raises(ConfigurationError, match=f"port is {first}, and {first} gives"),
            exposed(jobs[2], (first, first)),
        ):
            pass


def addresses(port: int) -> set[str]:
    """At which of two addresses of this machine a port is answered."""
    answering = set()
    for address in ("127.0.0.1", "127.0.0.2"):
        with contextlib.suppress(OSError), closing(socket.create_connection((address, port), SECONDS)):
            answering.add(address)
    return answering


@pytest.mark.skipif(sys.platform != "linux", reason="needs several loopback addresses")
def test_only_the_address_that_is_set_is_answered() -> None:
    plan = pipeline()
    jobs = [Progress(deploy(plan), JobControl("clicks"), plan.job_graph) for _ in range(3)]
    with exposed(jobs[0], (0, 0)) as usual, exposed(jobs[1], (0, 0), "127.0.0.2") as other:
        assert addresses(usual) == {"127.0.0.1"}
        assert addresses(other) == {"127.0.0.2"}
    with exposed(jobs[2], (0, 0), "0.0.0.0") as anywhere:
        assert addresses(anywhere) == {"127.0.0.1", "127.0.0.2"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs several loopback addresses")
def test_the_setting_of_the_address() -> None:
    port, executor = free_port(), EndlessExecutor()
    keys = {"penstock.metrics.prometheus.port": str(port), "penstock.metrics.prometheus.address": "127.0.0.2"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(keys), executor=executor)
    write(env.set_parallelism(2))
    client = env.execute_async("clicks")
    executor.step()
    assert addresses(port) == {"127.0.0.2"}
    client.stop().result()
    client.get_job_execution_result().result(SECONDS)


@pytest.mark.parametrize("address", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_refused(address: str) -> None:
    plan = pipeline()
    progress = Progress(deploy(plan), JobControl("clicks"), plan.job_graph)
    with pytest.raises(ConfigurationError, match=f"address is '{address}', which is not an address of this machine"):
        exposed(progress, (0, 0), address).__enter__()


def test_all_that_is_known_has_a_name() -> None:
    plan, control = pipeline(), JobControl("clicks")
    deployment = deploy(plan)
    progress = Progress(deployment, control, plan.job_graph, endless=True)
    source, sums = (vertex for level in deployment.levels for vertex in level)
    first = chain(deployment, sums.index, [(3, 3), (3, 0)], 1000, late=2)
    user = {
        "group.c-1": CounterValue(5),
        "m": MeterValue(4, 0.5),
        "d": DistributionValue(2, 6, 1, 5),
        "empty": DistributionValue(),
        "g": GaugeValue(1.5),
        "text": GaugeValue("no number"),
    }
    object.__setattr__(first[0], "user", user)
    state, behind = sums.operators[0].operator_id, source.operators[0].operator_id
    progress.step(
        StepSummary(
            1, 1.0, 1.05, {"plan": 1.0}, {}, {(sums.index, 0): first},
            {(state, 0): StateSize(7, 70)}, {behind: SourceProgress(3, 9)},
        )
    )  # fmt: skip
    values = {
        name.replace("flink_taskmanager_job_task_operator_", "…"): v
        for name, _, _, v in samples("id", progress.metrics())
    }
    known = {
        "…numLateRecordsDropped": 2, "…currentInputWatermark": 1000, "…pendingRecords": 9, "penstock_source_splits": 3,
        "…group_c_1": 5, "…m_rate": 0.5, "…m_count": 4, "…d_count": 2, "…d_sum": 6, "…d_min": 1, "…d_max": 5,
        "…empty_count": 0, "…g": 1.5, "flink_jobmanager_job_lastCheckpointFullSize": 70,
    }  # fmt: skip
    assert {name: values[name] for name in known} == known
    assert not [name for name in values if "text" in name or name == "…empty_min"]
    keys = {
        (name, dict(labels)["operator_id"]): v
        for name, _, labels, v in samples("id", progress.metrics())
        if "state_keys" in name
    }
    assert keys["penstock_operator_state_keys", state] == 7


class Counting(MapFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def map(self, value):
        self.seen.inc()
        return value


def test_without_the_library_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    settings = Configuration({"penstock.metrics.prometheus.port": "0"})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    env.from_collection([1]).map(Counting()).add_sink(lambda value: None)
    with pytest.raises(ConfigurationError, match=r"pip install 'penstock\[prometheus\]'"):
        env.execute()
