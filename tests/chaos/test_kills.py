"""Kills at random moments and before changes of files: a few of those of ``make chaos``, which has a hundred."""

from __future__ import annotations

import random

import pytest

from tests.chaos.__main__ import LOCAL, SPARK
from tests.chaos.changes import died
from tests.chaos.lives import Chaos


def test_a_driver_that_is_killed_at_random_leaves_exact_outputs(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    chaos = Chaos(root, LOCAL, random.Random(12))
    chaos.run(3)
    assert sum(chaos.kills.values()) >= 1


@pytest.mark.parametrize("change", [0, 5, 10, 61, 95, 130, 171, 222, 273])
def test_a_driver_that_dies_before_a_change_leaves_exact_outputs(tmp_path, change):
    [(at, what)] = died(tmp_path, [change])
    assert at == change
    assert what


@pytest.mark.spark
def test_a_job_on_spark_that_is_killed_leaves_exact_outputs(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    chaos = Chaos(root, SPARK, random.Random(7), ("driver", "worker", "jvm"))
    chaos.run(2)
    assert sum(chaos.kills.values()) >= 1


def test_a_driver_whose_job_folder_is_on_a_store_leaves_exact_outputs(tmp_path, bucket):
    root = tmp_path / "root"
    root.mkdir()
    settings = LOCAL | {"penstock.job.folder": f"{bucket}/job", "penstock.step.records": "50"}
    chaos = Chaos(root, settings, random.Random(3), apart=2, lease=0.0)
    chaos.run(3)
    assert sum(chaos.kills.values()) >= 1
