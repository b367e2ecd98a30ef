"""What a step costs Spark's driver, by the number of subtasks: a keyed sum in steps on many executors of one core, and
beside it a bare job of Spark with as many tasks in two stages. Executors run on this machine, so only the driver's CPU
time says something of a large cluster; the time that passes does not."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import Records, Source, Split
from penstock.spark import SparkExecutor, steps
from results import Results, Run
from running import tree
from speed import Table
from targets import time as duration

SCALE, SUM, BARE = "scale", "keyed sum, a step", "bare job of Spark"
JVM, PYTHON, WALL = "jvm", "python", "wall"
KEY_GROUPS = 10_000
SUBTASKS = (4, 16, 64, 250, 1_000)
EACH = 2
"""Records that a subtask reads in a step."""
WARM = 2
"""Steps that do not count."""
HEAP, NEEDED = "300m", 330 << 20
"""The heap of an executor, and what Spark has to believe that it takes."""
TAKEN = 520 << 20
"""What it takes of this machine, with its workers of Python: measured with eight."""
MOST = 24
"""Executors: 12 GiB."""


class Numbers(Source[int]):
    """Some numbers for each subtask, :data:`EACH` in a step."""

    bounded = False

    def __init__(self, steps: int) -> None:
        self.count = EACH * steps

    def splits(self, parallelism: int) -> list[Split]:
        return [Split(f"{subtask}", 0, self.count, finite=False) for subtask in range(parallelism)]

    def limited(self, split: Split, records: int) -> Split:
        return Split(split.id, split.start, min(split.end, split.start + EACH), finite=False)

    def read(self, split: Split) -> Iterator[Records[int]]:
        yield Records(list(range(split.start, split.end)), split.end)


@dataclass(frozen=True)
class Cost:
    """What a step has taken of the driver, in seconds."""

    jvm: float
    python: float
    wall: float


def cluster() -> str:
    """The master of a cluster on this machine with as many executors of one core as fit into its memory."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    return f"local-cluster[{max(2, min(MOST, free * 3 // 4 // TAKEN))},1,330]"


def session(master: str) -> Any:
    """A session with that master."""
    from penstock.spark.session import open_session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    small = {
        "spark.executor.memory": HEAP,
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "spark.testing.reservedMemory": "0",  # else an executor needs 450 MiB
        "spark.testing.memory": str(NEEDED),
    }
    return open_session(master, small if master.startswith("local-cluster") else {})


def summed(session: Any, folder: Path, parallelism: int, count: int) -> list[Cost]:
    """The costs of the steps of a keyed sum, from one to the next."""
    marks: list[Cost] = []
    driver = partial(spent, session)
    original = steps.SparkSteps.step

    def step(runner: steps.SparkSteps, *arguments: Any) -> Any:
        marks.append(driver())
        return original(runner, *arguments)

    settings = {
        "execution.checkpointing.dir": str(folder / f"{parallelism}"),
        "penstock.step.available-now": "true",
        "penstock.step.records": str(EACH * parallelism),
        "pipeline.max-parallelism": str(KEY_GROUPS),
    }
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict(settings), executor=SparkExecutor(session, progress=False)
    ).set_parallelism(parallelism)
    numbers = env.from_source(Numbers(count), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    pairs = numbers.map(lambda number: (number % 5, number), Types.TUPLE([Types.LONG(), Types.LONG()]))
    sums = pairs.key_by(lambda pair: pair[0], Types.LONG()).reduce(lambda one, other: (one[0], one[1] + other[1]))
    with_results = sums.map(lambda pair: pair[1], Types.LONG())
    steps.SparkSteps.step = step  # type: ignore[method-assign]
    try:
        with with_results.execute_and_collect() as records:
            last = max(records)
    finally:
        steps.SparkSteps.step = original  # type: ignore[method-assign]
    end = EACH * count - 1
    assert last == parallelism * sum(range(end % 5, end + 1, 5)), "the sums are wrong"
    return between(marks)


def bare(session: Any, parallelism: int, count: int) -> list[Cost]:
    """The costs of jobs of Spark with two stages, which pass a row from task to task."""
    from pyspark.sql import functions as F

    def same(batches: Any) -> Any:
        yield from batches

    marks = [spent(session)]
    for _ in range(count):
        rows = session.range(0, parallelism, 1, parallelism).mapInArrow(same, "id long")
        rows = rows.repartitionById(parallelism, F.col("id").cast("int")).mapInArrow(same, "id long")
        assert rows.toArrow().num_rows == parallelism
        marks.append(spent(session))
    return between(marks)


def spent(session: Any) -> Cost:
    """What the driver has taken so far."""
    seconds = {process.pid: process.own_seconds for process in tree.family()}
    return Cost(seconds[session.sparkContext._gateway.proc.pid], seconds[os.getpid()], time.perf_counter())


def between(marks: list[Cost]) -> list[Cost]:
    """The costs between moments, but for those that do not count."""
    pairs = zip(marks[WARM:], marks[WARM + 1 :], strict=False)
    return [Cost(two.jvm - one.jvm, two.python - one.python, two.wall - one.wall) for one, two in pairs]


def middle(costs: list[Cost], what: str) -> float:
    """The median of one kind of cost."""
    return statistics.median(getattr(cost, what) for cost in costs)


def line(points: list[tuple[int, float]]) -> tuple[float, float]:
    """The seconds of no subtask, and of one more: the line through points with the smallest squares of relative
    distances, so that small numbers of subtasks count as much as large ones."""
    weights = [1 / (seconds * seconds) for _, seconds in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    slope = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points, strict=True)) / spread
    return mean_y - slope * mean_x, slope


def run_of(results: Results) -> Run:
    """The run whose figures are shown; it may have been stopped at the largest number, as that takes long."""
    return results.together(
        *((SCALE, SUM, size, JVM) for size in SUBTASKS[:-1]), beside=[(SCALE, BARE, size, JVM) for size in SUBTASKS]
    )


def scale_table(results: Results) -> Table | str:
    """A step by the number of subtasks."""
    run = run_of(results)
    head = ("subtasks", "tasks", "driver's JVM", "bare job of Spark", "driver's Python")
    rows: list[tuple[str, ...]] = []
    for size, _ in run.sizes(SCALE, SUM, JVM):
        values = [run.seconds(SCALE, SUM, size, JVM), run.seconds(SCALE, BARE, size, JVM)]
        values.append(run.seconds(SCALE, SUM, size, PYTHON))
        rows.append((f"{size:,}", f"{2 * size:,}", *("" if value is None else duration(value) for value in values)))
    return head, rows


def law(results: Results) -> str:
    """The lines through the figures, and what they say of more subtasks."""
    run = run_of(results)
    kinds = {"The driver's JVM": (SUM, JVM), "its Python": (SUM, PYTHON), "the JVM of a bare job": (BARE, JVM)}
    texts = []
    for name, (shape, kind) in kinds.items():
        points = run.sizes(SCALE, shape, kind)
        if len(points) < 2:
            return "Not measured yet."
        fixed, slope = line(points)
        texts.append(f"{name} takes {duration(fixed)} and {duration(slope)} per subtask ({off(points, fixed, slope)})")
    jvm, python = (line(run.sizes(SCALE, SUM, kind)) for kind in (JVM, PYTHON))
    far = 10_000
    step = max(jvm[0] + jvm[1] * far, python[0] + python[1] * far)
    return (
        f"Run of {run.started}. {'; '.join(texts)}. So with {far:,} subtasks of each operator a step would take "
        f"{duration(step)} of one core of the driver; that is fitted, not measured."
    )


def off(points: list[tuple[int, float]], fixed: float, slope: float) -> str:
    """How far figures are from a line, in words."""
    worst = max(abs(seconds - fixed - slope * size) / seconds for size, seconds in points)
    return f"figures are within {worst:.0%} of that line"


def manifest(results: Results) -> str:
    """How long a manifest takes, and the document in it."""
    keys = [("manifest", direction, 10_000, peer) for direction in ("write", "read") for peer in ("Penstock", "json")]
    run = results.together(*keys)
    values = [run.seconds(*key) for key in keys]
    if None in values:
        return "Not measured yet."
    written, alone, read, parsed = (duration(value) for value in values if value is not None)
    return (
        f"A manifest of 10,000 subtasks is written in {written} and read in {read}; `json` alone writes the document "
        f"in {alone} and reads it in {parsed}."
    )


TABLES: dict[str, Callable[[Results], Table | str]] = {
    "scale": scale_table,
    "scale_law": law,
    "scale_manifest": manifest,
}
