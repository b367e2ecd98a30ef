"""Functions are opened where they run, on Spark too: also key selectors, on both sides of the exchange, and
partitioners."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import KeySelector, Partitioner, StreamExecutionEnvironment

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Initial(KeySelector):
    """Useless before it is opened."""

    def open(self, runtime_context):
        assert 0 <= runtime_context.get_index_of_this_subtask() < runtime_context.get_number_of_parallel_subtasks()
        self.position = 0

    def get_key(self, value):
        return value[0][self.position]

    def close(self):
        del self.position


class ByTable(Partitioner):
    """Useless before it is opened."""

    def open(self, runtime_context):
        self.table = {"a": 0, "b": 1}

    def partition(self, key, num_partitions):
        return self.table[key] % num_partitions


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_what_says_the_key_is_open(executor, mode):
    settings = Configuration.from_dict({"execution.runtime-mode": mode})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor=executor)
    env.set_parallelism(2)
    words = [("ann", 1), ("bob", 2), ("ada", 3), ("bea", 4)] * 5
    pairs = env.from_collection(words, PAIR)
    sums = pairs.key_by(Initial(), Types.STRING()).reduce(lambda one, other: (one[0], one[1] + other[1]))
    with sums.map(lambda pair: pair[1]).execute_and_collect() as results:
        assert max(results) == 5 * (2 + 4)
    with pairs.partition_custom(ByTable(), Initial()).map(lambda pair: pair).execute_and_collect() as results:
        assert Counter(results) == Counter(words)
