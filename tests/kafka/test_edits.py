"""A program that reads topics is edited between its runs: its sources go on at the offsets of their OperatorIDs."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.datastream.connectors import KafkaOffsetsInitializer, KafkaSource
from penstock.errors import InvalidProgramError
from tests.datastream.random_edits import check
from tests.generator.operators import INT
from tests.generator.sinks import collect
from tests.job.restore.jobs import ending_after, environment
from tests.kafka.edits import Numbers, TopicFeed
from tests.kafka.topics import NONE, Topics

SEEDS = 4
MORE = 10
STEP = {"penstock__step__records": 3, "penstock__step__available_now": "true"}


@pytest.mark.spark  # as the broker is a JVM
def test_sources_go_on_with_their_offsets_and_new_ones_begin(broker: Topics, tmp_path: Path) -> None:
    for seed in range(SEEDS):
        check(seed, str(tmp_path / str(seed)), feed=TopicFeed(broker, f"edited-{seed}"))


@pytest.fixture
def topic(mock_cluster: Topics) -> str:
    name = mock_cluster.name()
    mock_cluster.fill(name, [{"value": str(value), "partition": value % 3} for value in range(MORE)])
    return name


def add(cluster: Topics, topic: str, *values: int) -> None:
    cluster.fill(topic, [{"value": str(value), "partition": value % 4} for value in values])


def read(
    cluster: Topics, topic: str, folder: Path, *, ends: bool, steps: int = 1000, parallelism: int = 2
) -> list[int]:
    """What a run of the program reads."""
    env = environment(folder, parallelism, **STEP)
    builder = KafkaSource.builder().set_bootstrap_servers(cluster.servers).set_topics(topic)
    builder.set_value_only_deserializer(Numbers())
    if ends:
        builder.set_bounded(KafkaOffsetsInitializer.latest())
    collect(env.from_source(builder.build(), NONE, "in", INT).uid("in"), "out", 1)
    with ending_after(steps):
        return sorted(env.execute().collected.get("out", ()))


def test_a_source_without_an_end_gets_one(mock_cluster: Topics, topic: str, tmp_path: Path) -> None:
    assert read(mock_cluster, topic, tmp_path / "job", ends=False) == list(range(MORE))
    add(mock_cluster, topic, 20, 21, 23)
    values_read = read(mock_cluster, topic, tmp_path / "job", ends=True, steps=1)
    add(mock_cluster, topic, 30, 31)  # behind the end, which stays where it was found
    values_read += read(mock_cluster, topic, tmp_path / "job", ends=True)
    assert sorted(values_read) == [20, 21, 23]
    with pytest.raises(InvalidProgramError, match=r"was read to the end that set_bounded\(\) gave"):
        read(mock_cluster, topic, tmp_path / "job", ends=False, parallelism=3)


def test_a_source_with_an_end_has_none_any_more(mock_cluster: Topics, topic: str, tmp_path: Path) -> None:
    values_read = read(
        mock_cluster, topic, tmp_path / "job", ends=True, steps=1, parallelism=1
    )  # no partition to its end
    assert 0 < len(values_read) < MORE
    add(mock_cluster, topic, 20, 21, 23)
    values_read += read(mock_cluster, topic, tmp_path / "job", ends=False)
    assert sorted(values_read) == [*range(MORE), 20, 21, 23]


@pytest.mark.slow
@pytest.mark.parametrize("parallelism", [(1, 2), (2, 1), (1, 3)])
def test_a_source_with_an_end_goes_on_at_another_parallelism(mock_cluster, topic, tmp_path, parallelism) -> None:
    before, after = parallelism
    values_read = read(mock_cluster, topic, tmp_path / "job", ends=True, steps=1, parallelism=before)
    assert 0 < len(values_read) < MORE
    values_read += read(mock_cluster, topic, tmp_path / "job", ends=True, parallelism=after)
    assert sorted(values_read) == list(range(MORE))
