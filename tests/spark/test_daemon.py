"""Workers are forked from a daemon that has loaded what they need."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipimport
from pathlib import Path
from zipfile import ZipFile

import pytest

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.spark import daemon

ROOT = Path(__file__).resolve().parents[2]


def make_archives(folder: Path) -> list[str]:
    paths = [folder / "pyspark.zip", folder / "py4j-0.10-src.zip", folder / "spark-core_2.13.jar", folder / "mine.zip"]
    for path in paths:
        with ZipFile(path, "w") as archive:
            for package in ("mine",) if path.name == "mine.zip" else ("pyspark", "py4j"):
                archive.writestr(f"{package}/__init__.py", "")
    return [str(path) for path in paths]


def test_installed_code_is_preferred_to_archives(monkeypatch, tmp_path):
    archives, path = make_archives(tmp_path), list(sys.path)
    monkeypatch.setattr(sys, "path", [*archives, *path])
    importers = {archive: zipimport.zipimporter(archive) for archive in archives}
    monkeypatch.setattr(sys, "path_importer_cache", {**importers, f"{archives[0]}/pyspark": None, path[-1]: None})
    daemon.forget_archives()
    assert sys.path == [archives[3], *path]
    assert [known for known in sys.path_importer_cache if known.startswith(str(tmp_path))] == [archives[3]]


def test_archives_stay_where_nothing_is_installed(monkeypatch, tmp_path):
    """Where Spark comes without pip, its Python code is in the archives only."""
    library = [sysconfig.get_path("stdlib")]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j")]:
        monkeypatch.delitem(sys.modules, name)
    before = [*make_archives(tmp_path), *library]
    monkeypatch.setattr(sys, "path", list(before))
    monkeypatch.setattr(sys, "path_importer_cache", {})
    daemon.forget_archives()
    assert sys.path == before


def environment_of(number: int) -> tuple[bool, bool, list[str]]:
    """Whether this worker has come loaded, whether it has pandas, and the archives that it looks into."""
    loaded = all(module in sys.modules for module in daemon.MODULES)
    zips = [path for path, importer in sys.path_importer_cache.items() if isinstance(importer, zipimport.zipimporter)]
    return loaded, "pandas" in sys.modules, zips


@pytest.mark.spark
def test_workers_come_loaded_and_without_pandas(executor):
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor).set_parallelism(2)
    numbers = env.generate_sequence(1, 100)
    keyed = numbers.key_by(lambda number: number % 7, key_type=Types.LONG()).map(environment_of)
    with keyed.execute_and_collect() as results:
        assert set(map(repr, results)) == {repr((True, False, []))}


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="kills processes")
@pytest.mark.parametrize(("moment", "times"), [("start", 4), ("child", 1)])
def test_a_daemon_that_dies_while_it_starts_a_worker_costs_a_step(tmp_path, moment, times):
    """Spark does not try again on local[2]."""
    deaths = tmp_path / "deaths"
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "DYING": f"{moment},{times},{deaths}"}
    command = [sys.executable, "-m", "tests.spark.dying_daemon", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    assert sorted(line.rpartition("> ")[2] for line in run.stdout.splitlines()) == ["1", "2", "3"]
    assert len(deaths.read_text()) == times
    assert "ended while it started" in run.stderr
