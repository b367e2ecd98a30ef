"""Sizes of the benches, where results go, and the import path."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benches"):  # tests.reference, the slow planner; the modules beside this file
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

LADDER = (1_000, 10_000, 100_000, 1_000_000)
HUGE = 10_000_000  # only where a target names it
SMOKE_SIZES = (10, 200)
LIMITS = {
    "size": LADDER[-1],
    "uid_size": LADDER[-1],
    "python_size": 10_000,  # the slow planner in Python needs about a second there
    "networkx_size": 100_000,  # objects and dicts
    "huge_size": HUGE,
}
PARALLELISMS = (100, 1_000, 2_000, 4_000, 8_000)
SMOKE_PARALLELISMS = (2, 16)

Measure = Callable[..., Any]
Record = Callable[..., None]


def smoke(config: pytest.Config) -> bool:
    """Whether every bench runs once, at a tiny size, only to see that it works."""
    return bool(os.environ.get("PENSTOCK_BENCH_SMOKE")) or bool(config.getoption("benchmark_disable"))


def pytest_configure(config: pytest.Config) -> None:
    """In smoke mode each JVM is short-lived, as those of tests/conftest.py are."""
    if smoke(config):
        os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", os.environ["SPARK_SUBMIT_OPTS"])
        if Path(sys.prefix, "cache", "penstock").is_dir():  # the archive of Spark's classes that `make test` prepares
            os.environ["XDG_CACHE_HOME"] = os.environ["PENSTOCK_BENCH_CACHE"] = str(Path(sys.prefix, "cache"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``size`` and its like follow the mode: PENSTOCK_BENCH_SMOKE makes them tiny, PENSTOCK_BENCH_MAX caps them."""
    tiny = smoke(metafunc.config)
    limit = int(os.environ.get("PENSTOCK_BENCH_MAX", HUGE))
    for name in LIMITS.keys() & set(metafunc.fixturenames):
        ladder = (*LADDER, HUGE) if name == "huge_size" else LADDER
        sizes = SMOKE_SIZES if tiny else [size for size in ladder if size <= min(limit, LIMITS[name])]
        metafunc.parametrize(name, sizes)
    if "parallelism" in metafunc.fixturenames:
        metafunc.parametrize("parallelism", SMOKE_PARALLELISMS if tiny else PARALLELISMS)


@pytest.fixture(scope="session")
def tiny(pytestconfig: pytest.Config) -> bool:
    """Whether this is the smoke mode."""
    return smoke(pytestconfig)


@pytest.fixture(scope="session")
def record(pytestconfig: pytest.Config) -> Iterator[Record]:
    """Write one result down, at once, so that a crash of what comes later loses nothing.

    A result is a line of JSON in the file named by PENSTOCK_BENCH_RECORDS; without it, and in smoke mode, it is
    dropped.
    """
    path = os.environ.get("PENSTOCK_BENCH_RECORDS")
    if not path or smoke(pytestconfig):
        yield lambda **facts: None
        return
    with open(path, "a", buffering=1) as file:
        yield lambda **facts: print(json.dumps(facts), file=file)


@pytest.fixture
def measure(benchmark: Any, record: Record) -> Measure:
    """Run ``work(fresh())`` some times with only ``work`` on the clock, fewer times the bigger it is, and record it.

    Graphs may remember answers, so ``fresh`` makes a new one for every round.
    """

    def run(
        work: Callable[[Any], Any],
        fresh: Callable[[], Any],
        *,
        phase: str,
        shape: str,
        size: int,
        peer: str = "Penstock",
        rounds: int | None = None,
        **facts: Any,
    ) -> Any:
        benchmark.group = f"{phase}: {shape}"
        benchmark.extra_info.update(phase=phase, shape=shape, size=size, peer=peer, **facts)
        rounds = rounds or (20 if size <= 10_000 else 5 if size <= 100_000 else 3)
        warmup = 1 if size <= 100_000 and rounds > 1 else 0
        result = benchmark.pedantic(work, setup=lambda: ((fresh(),), {}), rounds=rounds, warmup_rounds=warmup)
        if benchmark.stats is not None:
            seconds = [float(f"{second:.4g}") for second in benchmark.stats.stats.data]
            record(phase=phase, shape=shape, size=size, peer=peer, seconds=seconds, **facts)
        return result

    return run
