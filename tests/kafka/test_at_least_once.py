"""A KafkaSink without transactions, in a program that runs in steps: no step counts before its records are written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import DeliveryGuarantee, NumberSequenceSource
from penstock.job.steps.commits import Commits
from tests.kafka.topics import NONE, Topics

ALL = [str(number) for number in range(40)]


def run(servers: str, topic: str, folder: str) -> None:
    """Numbers, ten in a step; a producer by itself would wait for an hour until it sends them."""
    settings = {"execution.checkpointing.dir": folder, "penstock.step.records": "5"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor="local")
    env.set_parallelism(2)
    sink = Topics(servers).sink(topic, DeliveryGuarantee.AT_LEAST_ONCE).set_property("linger.ms", "900000")
    sink.set_property("delivery.timeout.ms", "1000000")
    env.from_source(NumberSequenceSource(0, 39), NONE, "numbers").map(str, Types.STRING()).sink_to(sink.build())
    env.execute("at least once")


def dying(servers: str, topic: str, folder: str, moment: str) -> None:
    """Run it, and die at the second step, before its manifest or behind it."""
    commit = Commits.commit

    def committing(self: Commits, manifest: object) -> None:
        if manifest.version == 2 and moment == "before":  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGKILL)
        commit(self, manifest)  # type: ignore[arg-type]
        if manifest.version == 2:  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGKILL)

    Commits.commit = committing  # type: ignore[assignment, method-assign]
    run(servers, topic, folder)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "behind"])
def test_a_step_counts_when_its_records_are_written(mock_cluster: Topics, tmp_path, moment: str) -> None:
    topic = mock_cluster.name()
    arguments = mock_cluster.servers, topic, str(tmp_path / "job")
    command = [sys.executable, "-m", "tests.kafka.test_at_least_once", *arguments, moment]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(mock_cluster.values(topic)) == 20  # at once, not with the step
    run(*arguments)
    values = Counter(mock_cluster.values(topic))
    assert values.keys() == set(ALL)
    assert values.total() == len(ALL) + (10 if moment == "before" else 0)


if __name__ == "__main__":
    dying(*sys.argv[1:])
