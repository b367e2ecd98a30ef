"""What is seen of a bounded job in this process moves while its tasks work, or it is said what the job waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.common import Types
from penstock.common.jobs.job_control import JobControl
from penstock.datastream import StreamExecutionEnvironment
from penstock.display.tables import Shown
from penstock.job.deployment import deploy
from penstock.job.steps.progress import Progress
from penstock.metrics.running_job import RunningMetrics, line, running_metrics
from tests.job.steps.loops import Time, pipeline

pytestmark = pytest.mark.slow

RECORDS, SECONDS = 120, 0.02


def slowly(number: int) -> int:
    time.sleep(SECONDS)
    return number


class Counting:
    """A source function."""

    def run(self, ctx) -> None:
        for number in range(RECORDS):
            ctx.collect(number)

    def cancel(self) -> None:
        """There is nothing to do."""


def of_a_collection(env, folder):
    return env.from_collection(list(range(RECORDS)), Types.INT())


def of_a_function(env, folder):
    return env.add_source(Counting(), type_info=Types.INT())


def of_a_file(env, folder):
    Path(folder, "in.txt").write_text("".join(f"{number}\n" for number in range(RECORDS)))
    return env.read_text_file(f"{folder}/in.txt").map(int, Types.INT())


def behind_an_exchange(env, folder):
    return of_a_collection(env, folder).key_by(lambda number: 0, Types.INT())


def seen_while(env: StreamExecutionEnvironment, look: Callable[[RunningMetrics], object]) -> list[object]:
    """What is seen of a job ten times a second."""
    client = env.execute_async("moving")
    samples: list[object] = []
    while not client.get_job_execution_result().done():
        samples.append(look(client.metrics()))
        time.sleep(0.1)
    client.get_job_execution_result().result()
    return samples


@pytest.mark.parametrize("source", [of_a_collection, of_a_function, of_a_file, behind_an_exchange])
def test_records_are_counted_while_a_slow_function_works(source, tmp_path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(1)
    source(env, tmp_path).map(slowly, Types.INT()).name("slow").add_sink(lambda number: None)
    counts = seen_while(env, lambda seen: seen["slow"].metrics.records_in)
    assert sorted(counts) == counts  # type: ignore[type-var]
    assert len(set(counts)) >= 5, counts


def test_what_a_job_waits_for_is_said() -> None:
    """A function that does not come back."""
    env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(1)
    _done.clear()
    env.from_collection([1], Types.INT()).map(waiting, Types.INT()).name("stuck").add_sink(lambda number: None)

    def look(seen: RunningMetrics) -> str:
        if seen.waits_for:
            _done.set()
        return seen.waits_for

    texts = [text for text in seen_while(env, look) if text]
    assert texts
    assert all("stuck" in text and "for one record or to open" in text for text in texts)  # type: ignore[operator]


_done = threading.Event()


def waiting(number: int) -> int:
    from tests.job.steps.test_moving import _done

    assert _done.wait(60)
    return number


def test_it_is_drawn_and_ends_with_the_job() -> None:
    plan, clock = pipeline(), Time()
    progress = Progress(deploy(plan), JobControl("clicks"), plan.job_graph, clock=clock)
    progress.waiting("Spark to start")
    assert "waits for Spark to start" in line(progress.metrics())
    assert any(
        "waits for Spark to start" in str(part) for part in running_metrics(progress.metrics(), Shown(9)).renderables
    )
    progress.waiting("")
    assert "waits" not in line(progress.metrics())
    progress.working(1, 0)
    clock.now += 3
    assert progress.metrics().waits_for.endswith(": its function has taken 3 s, for one record or to open")
    progress.ended()
    assert progress.metrics().waits_for == ""
