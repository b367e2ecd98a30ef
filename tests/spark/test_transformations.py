"""Programs of transformations give on Spark what they give in this process."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.datastream import StreamExecutionEnvironment
from tests.datastream.transformations import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, spark):
    build, expected = PROGRAMS[name]
    env = StreamExecutionEnvironment.get_execution_environment(spark=spark).set_parallelism(2)
    with build(env).execute_and_collect() as records:
        assert Counter(map(repr, records)) == Counter(map(repr, expected))
