"""Programs run on workers whose Python has PyArrow only: Penstock and all that a program ships is brought to them.

Where mounts of one's own are allowed, the workers do not even see the driver's files (:mod:`tests.spark.bare`).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.spark.inside_pyspark import version
from tests.spark.bare import unshare
from tests.sparks.sums import LENGTH

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs several loopback addresses and /proc")


def run(kind: str, folder: Path) -> dict:
    """What the programs of a kind gave, or another module's, in a process of its own: a process can have one Spark."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    what = [f"tests.spark.{kind}"] if kind == "connect_streams" else ["tests.spark.apart", kind]
    command = [sys.executable, "-m", *what, str(folder)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, log = process.communicate(timeout=1200)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
        raise
    assert process.returncode == 0, log
    return json.loads(output.splitlines()[-1])


def shared(kind: str, tmp_path_factory) -> dict:
    """The same, once for all processes of pytest: the first runs them, and the others wait."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return run(kind, tmp_path_factory.mktemp(kind))
    folder = tmp_path_factory.getbasetemp().parent
    with (folder / f"{kind}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = folder / f"{kind}.json"
        if not path.exists():
            path.write_text(json.dumps(run(kind, tmp_path_factory.mktemp(kind))))
        return json.loads(path.read_text())


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Both kinds at a time: else a process of pytest would wait for what another one runs, and a core be idle."""
    tmp_path_factory.getbasetemp()  # made here, as each thread asks for it
    with ThreadPoolExecutor(2) as threads:
        kinds = ("standalone", "connect") if version() >= (4, 3) else ("standalone",)
        yield {kind: threads.submit(shared, kind, tmp_path_factory) for kind in kinds}


@pytest.fixture(scope="session")
def standalone(runs):
    return runs["standalone"].result()


@pytest.fixture(scope="session")
def connect(runs):
    if "connect" not in runs:
        pytest.skip("programs run over Spark Connect from Spark 4.3 on")
    return runs["connect"].result()


@pytest.fixture(params=["standalone", "connect"])
def results(request):
    return request.getfixturevalue(request.param)


def test_the_package_is_the_one_that_was_brought(results):
    for executable, file, native, modules in results["streaming"]["where"]:
        assert executable.endswith("bare/python/bin/python")
        assert file.endswith("/penstock/__init__.py")
        assert not file.startswith(str(ROOT))
        assert native
        assert modules == [] or unshare() is None  # else tasks look where the driver does, and find it


@pytest.mark.parametrize("program", ["words", "state", "batch", "windows"])
def test_programs_give_what_they_give_in_one_process(results, program):
    count = {**results, **results["streaming"]}[program]
    assert count is not False
    assert count > 0


def test_all_that_a_program_ships_arrives(results):
    assert results["shipping"] == [[n, 10, 100, "to be", "weights"] for n in (1, 2, 3, 4)]


def test_tables_of_spark_are_read_and_written(results):
    totals = [["w0", 18], ["w1", 22], ["w2", 26]]
    assert results["tables"] == [3, 12, totals, totals]  # a function runs once, and views are there


def test_records_of_a_stranger_run_nothing(results):
    errors, ran = results["hostile"]
    assert [error[1:] for error in errors] == [["JobExecutionError", "n", "ValueError"]] * 2
    assert not ran


def test_a_dataframe_that_fails_says_so_in_words(results):
    assert "JobExecutionError: Operator 'number'" in results["failing"]
    assert "Details for the driver" not in results["failing"]


def test_a_server_whose_python_cannot_hand_streams_over_is_explained(connect):
    stream, records = connect["lacking"]
    assert "'Source: Spark Source' cannot be read: its server has started no Python" in stream
    assert records == [0, 1]


def test_a_job_in_steps_goes_on_over_connect_with_the_settings_of_the_server(connect):
    assert connect["resumed"] == 2 * LENGTH


def test_a_job_outlives_its_session(connect):
    assert connect["ended"] == [LENGTH, 2]


def test_a_client_that_was_killed_comes_back(connect):
    assert connect["client"] == [[-signal.SIGKILL] * 2, LENGTH]


def test_an_endless_job_over_connect_writes_tables_until_it_is_stopped(connect):
    assert connect["endless"] == [True, "FINISHED"]


def test_a_job_is_cancelled(results):
    assert results["cancelled"] == [True, "CANCELED"]


def test_workers_on_both_hosts_have_the_package(standalone):
    folders = {re.search(r"work-(\S+?)/", file).group(1) for _, file, *_ in standalone["streaming"]["where"]}
    assert folders == {"127.0.0.2", "127.0.0.3"}


def test_local_files_are_refused_on_several_hosts(standalone):
    refused, written = standalone["files"]
    assert refused.startswith("UnsupportedError: Operator 'Source: Custom File Source' reads or writes '/in.txt'")
    assert "127.0.0.1, 127.0.0.2, 127.0.0.3" in refused
    assert written == ["a", "b"]  # into a folder that is said to be shared


def test_local_files_are_fine_on_one_host(connect):
    assert connect["files"] == ["", ["a", "b"]]


def test_a_python_that_cannot_run_tasks_is_explained(standalone):
    without, missing = standalone["unfit"]
    assert "ConfigurationError: Spark cannot run tasks: the Python of its workers does not have PyArrow" in without
    assert "ConfigurationError: Spark cannot run tasks: its workers do not have the Python" in missing


def test_a_worker_that_is_killed_changes_nothing(standalone):
    assert standalone["killed"] == [5000, True]
