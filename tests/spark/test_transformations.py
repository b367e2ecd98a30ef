"""Programs of transformations give on Spark what they give in this process."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from penstock.common import RuntimeExecutionMode
from penstock.datastream import StreamExecutionEnvironment
from tests.datastream import side_output_programs, transformations

PROGRAMS = {**transformations.PROGRAMS, **side_output_programs.PROGRAMS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, spark):
    build, expected = PROGRAMS[name]
    env = StreamExecutionEnvironment.get_execution_environment(spark=spark).set_parallelism(2)
    with build(env).execute_and_collect() as records:
        assert Counter(map(repr, records)) == Counter(map(repr, expected))


def test_a_cached_stream(spark):
    env = StreamExecutionEnvironment.get_execution_environment(spark=spark).set_parallelism(2)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    cached = env.generate_sequence(1, 9).map(lambda n: (n, random.random())).cache()
    first = list(cached.execute_and_collect())
    assert list(cached.execute_and_collect()) == first
    assert sorted(n for n, _ in first) == list(range(1, 10))
    cached.map(str)
    assert [metrics.name for metrics in env.execute().metrics.values()] == ["Source: Cache: Map", "Map"]
