"""Sizes of the benches, and the import path."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # for tests.shapes and the peer, tests.reference

LADDER = (1_000, 10_000, 100_000, 1_000_000)
SMOKE_SIZES = (10, 200)
PEER_LIMIT = 10_000  # the slow planner in Python needs about a second there


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``size`` and ``peer_size`` follow the mode: PENSTOCK_BENCH_SMOKE or --benchmark-disable make them tiny,
    PENSTOCK_BENCH_MAX caps them."""
    smoke = bool(os.environ.get("PENSTOCK_BENCH_SMOKE")) or metafunc.config.getoption("benchmark_disable")
    limit = int(os.environ.get("PENSTOCK_BENCH_MAX", LADDER[-1]))
    sizes = SMOKE_SIZES if smoke else tuple(size for size in LADDER if size <= limit)
    if "size" in metafunc.fixturenames:
        metafunc.parametrize("size", sizes)
    if "peer_size" in metafunc.fixturenames:
        metafunc.parametrize("peer_size", [size for size in sizes if size <= PEER_LIMIT])
    if "parallelism" in metafunc.fixturenames:
        metafunc.parametrize("parallelism", (2, 16) if smoke else (100, 1_000, 2_000, 4_000, 8_000))
