"""A word count that ends, on Spark and in this process: ``python -m tests.sparks.words``."""

from __future__ import annotations

import random
from collections import Counter

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.spark import SparkExecutor

COUNT, PARALLELISM = 20_000, 3


def main() -> None:
    """Count words, as Python does."""
    words = random.Random(1).choices(["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"], k=COUNT)
    env = StreamExecutionEnvironment.get_execution_environment(executor=SparkExecutor(master="local[2,4]"))
    pairs = env.set_parallelism(PARALLELISM).from_collection(words, type_info=Types.STRING()).rebalance()
    counted = pairs.map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.LONG()]))
    with counted.key_by(lambda pair: pair[0], Types.STRING()).sum(1).execute_and_collect() as results:
        counts = Counter[str]()
        for word, count in results:
            counts[word] = max(counts[word], count)
    assert counts == Counter(words), counts


if __name__ == "__main__":
    main()
