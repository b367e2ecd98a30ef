"""Executors that are lost, and tasks that are overtaken, leave exactly what the local executor leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.spark.inside_pyspark import version
from tests.spark.cluster import AGAIN

ROOT = Path(__file__).resolve().parents[2]
GIVEN_UP = "The step after checkpoint 0 has failed, and is run again: "


@pytest.mark.skipif(sys.platform != "linux", reason="finds executors by /proc, and needs several loopback addresses")
@pytest.mark.parametrize(
    "expected",
    [
        {
            "lost": "lost two executors",
            "late": f"lost late: {GIVEN_UP if version() >= (4, 2) else AGAIN}",
        },
        {"speculated": "overtaken: source -> map ("},
    ],
    ids=" ".join,
)
def test_a_cluster_loses_nothing(tmp_path, expected):
    """What fits one cluster happens in one: it takes longer to start than what happens."""
    command = [sys.executable, "-m", "tests.spark.cluster", str(tmp_path), *expected]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200, check=False)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()[-len(expected) :]
    assert [line.startswith(text) for line, text in zip(lines, expected.values(), strict=True)] == [True] * len(lines)
