"""Which names of hosts are those of one machine, and what that means for paths of each machine's own."""

from __future__ import annotations

import socket
import types
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ConfigurationError, UnsupportedError
from penstock.job import locations
from penstock.job.deployment import deploy
from penstock.job.locations import machines, refuse_local
from penstock.spark import inside_pyspark, session, shipped_code
from tests.job.steps.loops import pipeline

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "this.one": ["192.0.2.7"],
    "other": ["192.0.2.8"],
    "other.example.org": ["192.0.2.8", "2001:db8::8"],
    "[2001:db8::9]": ["2001:db8::9"],
}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of a network; 192.0.2.7 is this machine's."""

    def resolve(host: str, port: Any) -> list[Any]:
        if host.replace(".", "").isdigit() or ":" in host:
            return [(0, 0, 0, "", (host, 0))]
        if host not in NAMES:
            raise socket.gaierror(-2, "Name or service not known")
        return [(0, 0, 0, "", (address, 0)) for address in NAMES[host]]

    monkeypatch.setattr(locations.socket, "getaddrinfo", resolve)
    monkeypatch.setattr(locations, "_is_own", lambda address: address == "192.0.2.7")


@pytest.mark.parametrize(
    ("hosts", "number"),
    [
        ([], 0),
        (["127.0.0.1", "localhost"], 1),
        (["127.0.0.1", "localhost", "::1", "this.one", "192.0.2.7"], 1),
        (["localhost", "other"], 2),
        (["other", "192.0.2.8", "other.example.org"], 1),
        (["unknown", "UNKNOWN"], 1),
        (["unknown", "localhost"], 2),
        (["127.0.0.1", "127.0.0.2", "127.0.0.3"], 3),  # by these tests play several
    ],
)
def test_names_of_one_machine(hosts, number) -> None:
    assert len(machines(hosts)) == number


def test_the_real_addresses_of_this_machine_are_its_own(monkeypatch) -> None:
    monkeypatch.undo()
    assert len(machines(["127.0.0.1", "localhost", socket.gethostname()])) == 1
    assert not locations._is_own("192.0.2.8") or not locations._is_own("198.51.100.8")


def test_a_local_path_is_fine_on_one_machine_of_two_names() -> None:
    refuse_local([("Sink", "/out")], {"127.0.0.1", "localhost"}, ())
    with pytest.raises(UnsupportedError, match="the job runs on several: localhost, other"):
        refuse_local([("Sink", "/out")], {"localhost", "other"}, ())


class Cluster:
    """What is asked of a session on a cluster.

    Args:
        dynamic: whether executors come and go.
    """

    def __init__(self, dynamic: bool = False) -> None:
        self.hosts = {"localhost"}
        conf = {"spark.dynamicAllocation.enabled": str(dynamic).lower()}
        self.sparkContext = types.SimpleNamespace(master="spark://localhost:7077", getConf=lambda: conf)


@pytest.fixture
def deployment(monkeypatch, tmp_path) -> Any:
    monkeypatch.setattr(inside_pyspark, "executor_hosts", lambda session: frozenset(session.hosts))
    planned = deploy(pipeline())
    object.__setattr__(planned, "locations", (("Sink", str(tmp_path)),))
    return planned


def test_a_host_that_comes_later_is_seen(deployment) -> None:
    cluster = Cluster()
    shipped_code.check_places(cluster, deployment)
    cluster.hosts.add("other")
    with pytest.raises(UnsupportedError, match="runs on several: localhost, other"):
        shipped_code.check_places(cluster, deployment)


def test_where_executors_come_and_go_one_host_is_not_enough(deployment) -> None:
    with pytest.raises(UnsupportedError, match=r"may at any time run on several.*spark\.dynamicAllocation\.enabled"):
        shipped_code.check_places(Cluster(dynamic=True), deployment)


def test_where_nothing_is_local_nobody_is_asked(deployment, monkeypatch) -> None:
    monkeypatch.setattr(inside_pyspark, "executor_hosts", lambda session: 1 // 0)
    for where in ((), (("Sink", "s3://bucket/out"),)):
        object.__setattr__(deployment, "locations", where)
        object.__setattr__(deployment, "steps", False)
        shipped_code.check_places(Cluster(dynamic=True), deployment)


@pytest.mark.parametrize("version", ["3.4.4", "3.4.0.dev1", "5.0.0", "2.4"])
def test_a_spark_that_cannot_run_jobs_is_named(version) -> None:
    with pytest.raises(ConfigurationError, match=rf"is {version}, and Penstock runs on Spark 3.5 to 4.3\. Install"):
        session.check_version(version)


@pytest.mark.parametrize("version", ["3.5.0", "4.0.3", "4.1.0", "4.2.1", "4.3.0", "4.4.0-rc1"])
def test_the_others_run(version, monkeypatch) -> None:
    monkeypatch.setattr(session.importlib.util, "find_spec", lambda name: name)
    session.check_version.cache_clear()
    session.check_version(version)


def test_where_distutils_is_gone_an_old_spark_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(session.importlib.util, "find_spec", lambda name: None)
    session.check_version.cache_clear()
    session.check_version("4.0.0")
    with pytest.raises(ConfigurationError, match=r"is 3\.5\.6, which is for Python up to 3\.11.*setuptools"):
        session.check_version("3.5.6")


def test_an_old_pyspark_is_refused_before_spark_starts(monkeypatch) -> None:
    import pyspark

    monkeypatch.setattr(pyspark, "__version__", "3.4.4")
    monkeypatch.setattr(session, "_opened", lambda *arguments: 1 // 0)
    with pytest.raises(ConfigurationError, match=r"PySpark that is installed is 3\.4\.4"):
        session.open_session("local[1]", {})


def test_a_session_of_an_old_spark_is_refused() -> None:
    old_session: Any = types.SimpleNamespace(newSession=lambda: types.SimpleNamespace(version="3.4.4"))
    with pytest.raises(ConfigurationError, match=r"The Spark of the session is 3\.4\.4"):
        session.check_runs(old_session)


def test_connect_is_for_newer_sparks(monkeypatch) -> None:
    import pyspark

    monkeypatch.setattr(pyspark, "__version__", "4.2.0")
    with pytest.raises(ConfigurationError, match=r"from PySpark 4\.3 on.*Python 3\.11.*PySpark 4\.2 is installed"):
        session._connected("sc://host", {}, None)


@pytest.mark.skipif(inside_pyspark.version() < (4,), reason="without the errors that its client needs")
@pytest.mark.parametrize("error", [ImportError("grpcio is not there"), SystemExit(0)])
def test_without_what_connect_needs_the_way_out_is_said(monkeypatch, error) -> None:
    import pyspark
    from pyspark.sql import SparkSession

    def remote(builder: Any, server: str) -> Any:
        raise error

    monkeypatch.setattr(pyspark, "__version__", "4.3.0")
    monkeypatch.setattr(SparkSession.Builder, "remote", remote)
    with pytest.raises(ConfigurationError, match=r"pip install 'penstock\["):
        session._connected("sc://host", {}, None)


@pytest.mark.parametrize(
    ("python", "asked"), [("3.10", {"spark": True, "connect": False}), ("3.11", {"connect": True})]
)
def test_what_pip_is_asked_for(python, asked) -> None:
    """Python 3.10 has no PySpark 4.3, and so no extra that pip could not install."""
    from packaging.requirements import Requirement

    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    lines = {line.partition(" = ")[0]: line for line in text.splitlines()}
    extras = {name: lines[name].split('"')[1] for name in ("spark", "connect")}
    for name, wanted in asked.items():
        marker = Requirement(extras[name]).marker
        assert (marker is None or marker.evaluate({"python_version": python})) is wanted
