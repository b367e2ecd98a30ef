"""Kills at random moments and before changes: some of those of ``make chaos``, which has a hundred."""

from __future__ import annotations

import random
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.chaos.changes import died
from tests.chaos.job import PACE
from tests.chaos.lives import Chaos
from tests.chaos.parts import LOCAL, PARTS, SPARK, Kills, Places
from tests.effort import one_of

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


FEWER_STEPS = {"penstock.step.records": "20"}
"""On Spark, where each takes half a second: as many kills in half the steps."""


def with_interval(settings, interval):
    return settings if interval is None else settings | {"execution.checkpointing.interval": interval, PACE: "0.003"}


@pytest.mark.parametrize(("interval", "apart"), [(None, 6), ("150 ms", 2)])
def test_a_driver_that_is_killed_at_random_leaves_exact_outputs(root, interval, apart):
    chaos = Chaos(root, with_interval(LOCAL, interval), random.Random(12), apart=apart, pause=0.02)
    chaos.run(3)
    assert len(chaos.kills) == 3


CHANGES = [0, 5, 10, 61, 95, 130, 171, 222, 273]


@pytest.mark.parametrize("change", CHANGES[:: one_of(4)])
def test_a_driver_that_dies_before_a_change_leaves_exact_outputs(tmp_path, change):
    [death] = died(tmp_path, [change])
    assert death.number == change
    assert death.change


@pytest.mark.parametrize("change", [40, 3, 90][:: one_of(3)])
def test_a_driver_that_dies_before_a_change_of_a_store_leaves_exact_outputs(tmp_path, bucket, change):
    [death] = died(tmp_path, [change], bucket)
    assert death.change


def test_a_driver_whose_job_folder_is_on_a_store_leaves_exact_outputs(root, bucket):
    settings = LOCAL | {"execution.checkpointing.dir": f"{bucket}/job", "penstock.step.records": "20"}
    chaos = Chaos(root, settings, random.Random(3), apart=3, lease=0.0)
    chaos.run(2)
    assert len(chaos.kills) == 2


@pytest.mark.spark
@pytest.mark.parametrize(
    ("interval", "apart", "victims"), [(None, 3, ("driver", "worker", "jvm")), ("2 s", 2, ("driver",))]
)
def test_a_job_on_spark_that_is_killed_leaves_exact_outputs(root, interval, apart, victims):
    settings = with_interval(SPARK | FEWER_STEPS, interval)
    chaos = Chaos(root, settings, random.Random(7), victims, apart=apart)
    chaos.run(len(victims))
    assert Counter(kill.victim for kill in chaos.kills) == Counter(victims)


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="needs several loopback addresses and /proc")
def test_a_job_on_a_cluster_that_is_killed_leaves_exact_outputs(tmp_path):
    part = PARTS["cluster"]
    assert isinstance(part, Kills)
    part = replace(part, settings={**part.settings, **FEWER_STEPS}, apart=3)
    with ExitStack() as stack:
        places = Places(tmp_path, stack, 5)
        (tmp_path / "root").mkdir()
        chaos = part.job(places, tmp_path / "root", random.Random(5))
        chaos.victims = "executor", "worker", "host"
        chaos.run(3)
    assert {kill.victim for kill in chaos.kills} == set(chaos.victims)
