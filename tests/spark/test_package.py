"""Penstock as an archive, and who is sent one. Nothing here starts Spark."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import ConfigurationError, UnsupportedError
from penstock.job.locations import refuse_local
from penstock.spark import inside_pyspark, shipped_code
from penstock.spark.failures import advice
from penstock.spark.job_sessions import JobSession
from penstock.spark.shipped_code import this_one

HERE = this_one()


def unpacked(folder: Path, name: str, native: bool = True) -> Path:
    with zipfile.ZipFile(shipped_code.archive_of(name, native)) as archive:
        archive.extractall(folder / name)
    return folder


def test_an_unpacked_archive_is_the_package(tmp_path):
    for name in shipped_code.PACKAGES:
        unpacked(tmp_path, name)
    says = (
        "import json, penstock, cloudpickle, penstock.spark.lowering\n"
        "from penstock.runtime import native\n"
        "print(json.dumps([penstock.__file__, cloudpickle.__file__, native.functions() is not None]))"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", says], env=env, capture_output=True, text=True, check=True)
    ours, other, native = json.loads(run.stdout)
    assert Path(ours).is_relative_to(tmp_path)
    assert Path(other).is_relative_to(tmp_path)
    assert native
    assert shipped_code.has_native()


def test_an_archive_without_native_code_has_the_same_python(tmp_path):
    names = {path.name for path in unpacked(tmp_path, "penstock", native=False).rglob("*") if path.is_file()}
    assert not [name for name in names if name.endswith((".so", ".pyi"))]
    assert {"lowering.py", "log4j2.properties"} <= names
    assert shipped_code.sources_of()(str(tmp_path / "penstock")) == shipped_code.own_sources()


def test_bytecode_is_used_where_it_is_unpacked(tmp_path, monkeypatch):
    package = tmp_path / "here" / "compiled_package"
    package.mkdir(parents=True)
    for name in ("__init__", "fresh", "stale", "never"):
        (package / f"{name}.py").write_text(f"name = {name!r}\n")
        if name != "never":
            py_compile.compile(str(package / f"{name}.py"), doraise=True)
    os.utime(package / "stale.py", (1, 1))
    monkeypatch.syspath_prepend(str(package.parent))
    folder = unpacked(tmp_path / "away", "compiled_package") / "compiled_package"
    assert sorted(path.name.split(".")[0] for path in folder.rglob("*.pyc")) == ["__init__", "fresh"]
    (folder / "fresh.py").write_text("raise AssertionError('compiled again')\n")
    says = "from compiled_package import fresh, never, stale; print(fresh.__file__, fresh.name, stale.name, never.name)"
    run = [sys.executable, "-B", "-c", says]
    output = subprocess.run(run, cwd=folder.parent, capture_output=True, text=True, check=True).stdout
    assert output.split() == [str(folder / "fresh.py"), "fresh", "stale", "never"]


def test_an_archive_is_the_same_whenever_it_is_made():
    first = shipped_code.archive_of("cloudpickle", True)
    data = first.read_bytes()
    shipped_code.archive_of.cache_clear()
    again = shipped_code.archive_of("cloudpickle", True)
    assert (again.name, again.read_bytes()) == (first.name, data)
    assert first.name.startswith("cloudpickle-")


def test_a_package_in_a_zip_cannot_be_sent(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("zipped_package/__init__.py", "")
    monkeypatch.syspath_prepend(str(tmp_path / "all.zip"))
    with pytest.raises(ConfigurationError, match="lack zipped_package, and it cannot be sent"):
        shipped_code.archive_of("zipped_package", True)


def test_this_process_has_what_it_has():
    assert HERE.sources == shipped_code.own_sources()
    assert HERE.cloudpickle
    assert HERE.executable == sys.executable


def test_workers_are_sent_what_one_of_them_lacks():
    assert shipped_code.lacking([HERE]) == ()
    assert shipped_code.lacking([HERE, replace(HERE, cloudpickle=False)]) == ("cloudpickle",)
    for sources in (None, "of another version"):
        assert shipped_code.lacking([HERE, replace(HERE, sources=sources)]) == shipped_code.PACKAGES


def test_native_code_goes_where_it_can_run(caplog):
    assert shipped_code._same_platform([HERE])
    assert not caplog.records
    assert not shipped_code._same_platform([HERE, replace(HERE, platform="linux riscv64")])
    (record,) = caplog.records
    assert "workers on linux riscv64 without its native code" in record.getMessage()


class Session:
    """Stands for a session of Spark Connect, or of a classic Spark."""

    def __init__(self, master=None):
        self.artifacts, self.archives = [], ["spark://x/files/other.zip"]
        if master is not None:
            self.sparkContext = self
            self.master, self.pythonExec = master, sys.executable

    def addArtifacts(self, *paths, **kind):
        self.artifacts.append((*paths, *kind))

    def addArchive(self, path):
        self.archives.append(path)

    listArchives = property(lambda self: self.archives)


def test_packages_are_brought_once():
    archive = Path("/tmp/penstock-1.zip")
    classic, connect = Session("spark://x"), Session()
    for _ in range(2):
        shipped_code._bring(classic, classic, "penstock", archive)
        shipped_code._bring(connect, None, "penstock", archive)
    assert classic.archives == ["spark://x/files/other.zip", "/tmp/penstock-1.zip#penstock"]
    assert connect.artifacts == [("/tmp/penstock-1.zip#penstock", "archive")] * 2  # of a job's own session each


def test_a_jobs_session_of_spark_connect_ends_with_the_job():
    calls = []

    class Client:
        def release_session(self):
            calls.append("released")

        def close(self):
            calls.append("closed")

    classic, connect = Session("spark://x"), Session()
    for session in (classic, connect):
        session.client = Client()
        with JobSession(lambda session=session: (None, session), lambda *_: frozenset()) as job:
            assert job.get() is session
            assert not calls
    assert calls == ["released", "closed"]


def test_a_session_that_has_ended_is_replaced_and_equipped(monkeypatch):
    """After a pause, or a step that has failed; not while steps follow each other."""
    sessions, equipped = [Session(), Session()], []
    monkeypatch.setattr(inside_pyspark, "has_ended", lambda session, failed: session is sessions[0])
    monkeypatch.setattr(inside_pyspark, "release", lambda session: None)
    opened = iter(sessions)
    with JobSession(lambda: ("base", next(opened)), lambda *pair: equipped.append(pair) or frozenset()) as job:
        job.equip()
        assert job.get() is sessions[0]
        job.doubt()
        assert [job.get(), job.get()] == [sessions[1]] * 2
    assert equipped == [(sessions[0], "base"), (sessions[1], "base")]


def test_nobody_is_asked_on_the_drivers_own_python():
    assert shipped_code.equip(Session("local[2,4]"), None, None) == frozenset()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ModuleNotFoundError: No module named 'pyarrow'", "Install pyarrow>=18 there"),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker",
            f"{sys.version_info.major}.{sys.version_info.minor}. Set PYSPARK",
        ),
        ('java.io.IOException: Cannot run program "/no/python": error=2', "do not have the Python"),
        ("No module named 'penstock'", sys.executable),
    ],
)
def test_what_workers_need_is_said(text, says):
    assert says in advice(f"An exception: {text} at org.apache")
    assert advice("something else") == ""


# --- files of each machine's own --------------------------------------------------------------------------------------


def test_local_paths_are_refused_where_there_are_several_hosts(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "shared")
    places = [("Source", "s3://bucket/in"), ("Sink", f"file://{tmp_path}/shared/out")]
    refuse_local(places, ["one"], [])
    refuse_local(places, [], [])
    refuse_local(places[:1], ["one", "two"], [])
    for folder in ("shared", "link/../shared/", "shared/out", "."):
        refuse_local(places, ["one", "two"], [f"{tmp_path}/{folder}"])
    refuse_local([("Sink", f"{tmp_path}/link/out")], ["one", "two"], [f"{tmp_path}/shared"])
    says = rf"Operator 'Sink' reads or writes 'file://{tmp_path}/shared/out'.*one, two.*penstock\.files\.shared-folders"
    for folders in ([], [f"{tmp_path}/share"], [f"{tmp_path}/shared/out/deeper"]):
        with pytest.raises(UnsupportedError, match=says):
            refuse_local(places, ["two", "one"], folders)
