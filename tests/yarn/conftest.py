"""A cluster of two nodes, and the environment that jobs take along."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.yarn.environment import pack
from tests.yarn.hadoop import Hadoop
from tests.yarn.submitting import Cluster

NODES = "127.0.0.2", "127.0.0.3"


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def cluster(hadoop: Hadoop, archive: Path, tmp_path: Path) -> Iterator[Cluster]:
    """YARN with its nodes, those that an earlier test has lost among them; what was submitted ends with the test."""
    for host in NODES:
        hadoop.have_node(host)
    with Cluster(hadoop, archive, tmp_path) as cluster:
        yield cluster
