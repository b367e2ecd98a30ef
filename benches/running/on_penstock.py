"""The programs on Penstock: word count with running sums, and a chain of maps."""

from __future__ import annotations

from typing import Any

from functions import MAPS, SINKS, Sink, keep, pair, split, word_of
from spark_session import Job, measured

Settings = dict[str, str]


def environment(parallelism: int, settings: Settings | None) -> Any:
    """An environment on Spark with these settings."""
    from penstock.common import Configuration
    from penstock.datastream import StreamExecutionEnvironment

    configuration = Configuration()
    for key, value in (settings or {}).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration, master=f"local[{parallelism}]")
    return env.set_parallelism(parallelism)


def word_count(parallelism: int = 2, settings: Settings | None = None, sink: str = "sum") -> Job:
    """Word count with running sums."""
    from penstock.common import Types

    def job(data: str, folder: str) -> None:
        env = environment(parallelism, settings)
        (
            env.read_text_file(data)
            .flat_map(split, output_type=Types.STRING())
            .map(pair, output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
            .key_by(word_of, key_type=Types.STRING())
            .sum(1)
            .add_sink(SINKS[sink](folder))
        )
        env.execute("word count")

    return measured(job)


def maps(parallelism: int = 2, settings: Settings | None = None, chaining: bool = True) -> Job:
    """Five maps and a filter over the numbers from 0; ``chaining=False`` makes each a task of its own."""
    from penstock.common import Types

    def job(numbers: int, folder: str) -> None:
        env = environment(parallelism, settings)
        if not chaining:
            env.disable_operator_chaining()
        stream = env.generate_sequence(0, numbers - 1)
        for function in MAPS:
            stream = stream.map(function, output_type=Types.LONG())
        stream.filter(keep).add_sink(Sink(folder))
        env.execute("maps")

    return measured(job)
