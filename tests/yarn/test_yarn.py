"""Programs on YARN, with all that they read, write and keep on HDFS."""

from __future__ import annotations

import os
import signal
from collections import Counter
from itertools import pairwise

import pytest
from click.testing import CliRunner

from penstock.cli import group
from penstock.storage.stores import storage_of
from tests.yarn.hadoop import wait_for
from tests.yarn.submitting import Cluster, Submitted

pytestmark = pytest.mark.yarn
KEYS = 7  # of sums.py

WORDS = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]


def lines_of(folder: str) -> list[str]:
    """The lines of all files below a folder that are to be seen."""
    storage = storage_of(folder)
    paths = [entry.path for entry in storage.list(folder, deep=True)]
    shown = [path for path in paths if "/." not in path[len(folder) :]]
    return [line for path in shown for line in storage.get(path).decode().splitlines()]


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_word_count(mode: str, cluster: Cluster, hdfs: str) -> None:
    for part in range(3):
        storage_of(hdfs).put(f"{hdfs}/in/{part}", "\n".join([" ".join(WORDS)] * 100).encode())
    cluster.submit(mode, "counts.py", hdfs).succeeds()
    expected = [f"{word} {count}" for word, n in Counter(WORDS).items() for count in range(1, 300 * n + 1)]
    assert sorted(lines_of(f"{hdfs}/out")) == sorted(expected)


class Sums:
    """The numbers from 1 on as they are given to ``sums.py``, and what it has made of them."""

    def __init__(self, folder: str) -> None:
        self._folder, self._files = folder, 0

    def feed(self, files: int = 2) -> None:
        for _ in range(files):
            numbers = range(self._files * 50 + 1, self._files * 50 + 51)
            storage_of(self._folder).put(f"{self._folder}/in/{self._files}", "\n".join(map(str, numbers)).encode())
            self._files += 1

    def complete(self) -> bool:
        """Whether there is a line for each number; whether it is right, :meth:`check` says."""
        return len(lines_of(f"{self._folder}/out")) >= self._files * 50

    def check(self) -> None:
        """Each number was added once: the steps from sum to sum of a key are its numbers, in any order."""
        sums: dict[int, list[int]] = {key: [0] for key in range(KEYS)}
        for line in lines_of(f"{self._folder}/out"):
            key, value = map(int, line.split())
            sums[key].append(value)
        for key, values in sums.items():
            steps = sorted(later - earlier for earlier, later in pairwise(sorted(values)))
            assert steps == [number for number in range(1, self._files * 50 + 1) if number % KEYS == key]

    def go_on(self, program: Submitted) -> None:
        """Give it more, and wait for what it makes of it."""
        self.feed()
        wait_for(self.complete, "the sums", program.process, program.log)
        self.check()

    def stop(self, program: Submitted) -> None:
        result = CliRunner().invoke(group, ["stop", f"{self._folder}/job"])
        assert result.exit_code == 0, result.output
        program.succeeds()
        self.check()


def test_running_sums_go_on_from_the_job_folder(cluster: Cluster, hdfs: str) -> None:
    """In cluster mode when the application master is killed, then in client mode when a node is lost."""
    sums, hadoop = Sums(hdfs), cluster.hadoop
    sums.feed()
    program = cluster.submit("cluster", "sums.py", hdfs)
    sums.go_on(program)
    (first,) = program.attempts()
    os.kill(hadoop.processes(first["containerId"])[0], signal.SIGKILL)
    sums.go_on(program)
    assert len(program.attempts()) == 2
    assert "Resuming from checkpoint" in hadoop.logs(program.application())
    sums.stop(program)

    program = cluster.submit("client", "sums.py", hdfs)
    sums.go_on(program)
    (master,) = [attempt["nodeId"].partition(":")[0] for attempt in program.attempts()]
    (other,) = hadoop.running() - {master}
    sums.feed()
    hadoop.lose_node(other)
    sums.go_on(program)
    wait_for(lambda: hadoop.running() == {master}, "the loss of a node")
    sums.stop(program)
