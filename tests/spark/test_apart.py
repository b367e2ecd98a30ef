"""Programs run on workers whose Python has PyArrow only: Penstock and all that a program ships is brought to them.

Where mounts of one's own are allowed, the workers do not even see the driver's files (:mod:`tests.spark.bare`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs several loopback addresses and /proc")


def run(kind: str, folder: Path) -> dict:
    """What the programs gave, in a process of its own: a process can have one Spark."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "tests.spark.apart", kind, str(folder)]
    run = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.fixture(scope="session", params=["standalone", "connect"])
def found(request, tmp_path_factory):
    return {"kind": request.param, **run(request.param, tmp_path_factory.mktemp(request.param))}


def test_the_package_is_the_one_that_was_brought(found):
    for executable, file, native, there in found["where"]:
        assert executable.endswith("bare/python/bin/python")
        assert file.endswith("/penstock/__init__.py")
        assert not file.startswith(str(ROOT))
        assert native
        assert there == []


def test_workers_on_both_hosts_have_it(found):
    if found["kind"] == "connect":
        pytest.skip("the server of Spark Connect has one host")
    folders = {re.search(r"work-(\S+?)/", file).group(1) for _, file, *_ in found["where"]}
    assert folders == {"127.0.0.2", "127.0.0.3"}


@pytest.mark.parametrize("program", ["words", "state", "windows"])
def test_programs_give_what_they_give_in_one_process(found, program):
    assert found[program] is not False
    assert found[program] > 0


def test_all_that_a_program_ships_arrives(found):
    assert found["shipping"] == [[n, 10, 100, "to be", "weights"] for n in (1, 2, 3, 4)]


def test_local_files_are_for_one_host(found):
    refused, written = found["files"]
    if found["kind"] == "connect":
        assert not refused
    else:
        assert refused.startswith("UnsupportedError: Operator")
        assert "'/in.txt'" in refused
        assert "127.0.0.1, 127.0.0.2, 127.0.0.3" in refused
    assert written == ["a", "b"]


def test_a_job_is_cancelled(found):
    assert found["cancelled"] == [True, "CANCELED"]


def test_a_worker_that_is_killed_changes_nothing(found):
    if found["kind"] == "connect":
        pytest.skip("the server of Spark Connect is its only worker")
    assert found["killed"] == [5000, True]
