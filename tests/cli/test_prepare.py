"""``penstock prepare``: an archive of classes that the next Spark uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.spark.session import archive_path, java_options

JOB = """
from penstock.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment(master="local[1]")
with env.from_collection([1, 2, 3]).execute_and_collect() as found:
    print(list(found))
from pyspark import SparkContext
with open(f"/proc/{SparkContext._gateway.proc.pid}/maps") as maps:
    print({line.split()[-1] for line in maps if "/penstock/" in line})
"""


@pytest.fixture
def java(monkeypatch, tmp_path):
    """A Java that says which it is, and a cache folder."""
    home = tmp_path / "java"
    home.mkdir()
    (home / "release").write_text('JAVA_VERSION="17"\n')
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.delenv("SPARK_HOME", raising=False)  # Spark's own scripts, which look for that Java
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return home


def test_every_java_has_an_archive_of_its_own(java, tmp_path):
    before = archive_path()
    assert before is not None
    assert before.parent == tmp_path / "cache" / "penstock"
    (java / "release").write_text('JAVA_VERSION="21"\n')
    assert archive_path() not in (None, before)
    (java / "release").unlink()
    assert archive_path() is None


def test_only_an_archive_that_is_there_is_used(java, monkeypatch, tmp_path):
    assert java_options() == ""
    path = archive_path()
    assert path is not None
    path.parent.mkdir(parents=True)
    path.touch()
    assert java_options().startswith(f" -XX:SharedArchiveFile={path} ")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    (tmp_path / "my cache").symlink_to(tmp_path / "cache")
    assert java_options() == ""


@pytest.mark.slow
def test_a_java_that_is_not_whole_is_explained(penstock, java):
    (java / "bin").mkdir()
    (java / "bin" / "java").write_text("#!/bin/sh\necho no Java at all\nexit 1\n")
    (java / "bin" / "java").chmod(0o755)
    result = penstock("prepare")
    assert result.exit_code == 1
    assert "did not write its archive" in result.stderr
    assert "usual causes are a Java that is too old" in result.stderr.replace("\n ", "")
    (java / "release").unlink()
    assert "The version of this Java is unknown" in penstock("prepare").stderr
    assert not list(Path(os.environ["XDG_CACHE_HOME"]).rglob("*.jsa"))


@pytest.mark.spark
def test_the_next_spark_uses_the_archive(tmp_path):
    """The one that `make test` has prepared, or else one that is prepared here."""
    environment = dict(os.environ)

    def run(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    written = str(archive_path())
    if not Path(written).exists():
        environment["XDG_CACHE_HOME"] = str(tmp_path)
        written = run("-m", "penstock.cli", "prepare").removeprefix("written: ").strip()
    assert Path(written).stat().st_size > 50 << 20
    values, mapped = run("-c", JOB).splitlines()
    assert values == "[1, 2, 3]"
    assert written in mapped
