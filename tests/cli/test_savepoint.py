"""``penstock savepoint`` and ``penstock stop``: of jobs in other processes, and of what lies there."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[1] / "golden" / "savepoints" / "format-1"
ENDLESS = """
from penstock.common import Configuration, WatermarkStrategy
from penstock.datastream.connectors import Records, Source, Split
import time

class Numbers(Source):
    bounded = False
    def splits(self, parallelism):
        return [Split("all", 0, int(time.time() * 100) % 10**9)]
    def read(self, split):
        for number in range(max(split.start, split.end - 50), split.end):
            yield Records([number % 5], number + 1)

env = StreamExecutionEnvironment.get_execution_environment(
    Configuration.from_dict({{"execution.checkpointing.dir": "{folder}/job", "penstock.job.retained-manifests": "5"}})
)
stream = env.from_source(Numbers(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
stream.key_by(lambda n: n, Types.LONG()).sum().uid("sum").name("running sum").add_sink(lambda value: None)
env.execute("counts")
"""


@pytest.fixture
def running(program, tmp_path):
    """A job in a process of its own; its checkpoint directory."""
    command = [sys.executable, "-m", "penstock.cli", "run", "--local", program(ENDLESS.format(folder=tmp_path))]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not list((tmp_path / "job" / "manifests").glob("manifest-*.json")):
        assert time.monotonic() < until
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    yield process, tmp_path / "job"
    process.kill()
    process.wait()


def test_a_job_of_another_process(penstock, running, tmp_path):
    process, job = running
    created = penstock("savepoint", "create", job, tmp_path / "savepoints")
    assert (created.exit_code, created.stderr) == (0, "")
    [first] = (tmp_path / "savepoints").iterdir()
    assert created.stdout == f"{first}\n"
    verified = penstock("savepoint", "verify", first)
    assert verified.exit_code == 0
    assert re.search(r"good: .*, (1 file|[02-9] files), ", verified.stdout)
    stopped = penstock("stop", job, "--savepoint", tmp_path / "last")
    assert stopped.exit_code == 0, stopped.stderr
    [last] = (tmp_path / "last").iterdir()
    assert stopped.stdout == f"{last}\n"
    assert process.wait(60) == 0
    shown = penstock("savepoint", "show", last).stdout
    assert shown.startswith("Savepoint at the end of job 'counts', version ")
    assert re.search(r"running sum +sum +[0-9a-f]{32} +1 +128 +5 ", shown)
    assert re.search(r"numbers +[0-9a-f]{32} +all +\d+", shown)
    differs = penstock("savepoint", "diff", first, last)
    assert re.search(r"^source .*\(uid numbers\), [0-9a-f]{32}: split all: [\d,]+ -> [\d,]+$", differs.stdout, re.M)
    assert penstock("savepoint", "diff", last, last).stdout == "no difference\n"
    versions = re.search(
        r"the checkpoint directory has the versions ([\d, ]+)", penstock("savepoint", "show", job).stdout
    )
    assert versions is not None
    older = versions[1].split(", ")[0]
    assert penstock("savepoint", "create", f"{job}@{older}", tmp_path / "older").exit_code == 0
    assert json.loads(penstock("savepoint", "show", "--json", job).stdout)["versions"][0] == int(older)


def test_a_job_is_drained_from_outside(penstock, running):
    process, job = running
    stopped = penstock("stop", "--drain", job)
    assert (stopped.stdout, stopped.exit_code) == ("stopped\n", 0)
    assert process.wait(60) == 0
    again = penstock("stop", job)
    assert again.exit_code == 1
    assert "No job is running with the checkpoint directory" in again.stderr


def test_without_a_folder_the_job_must_have_one(penstock, running):
    _, job = running
    result = penstock("savepoint", "create", job)
    assert result.exit_code == 1
    assert "state.savepoints.dir" in result.stderr
    result = penstock("stop", job, "--savepoint")
    assert (result.exit_code, "state.savepoints.dir" in result.stderr) == (1, True)


def test_json(penstock):
    content = json.loads(penstock("savepoint", "show", "--json", GOLDEN).stdout)
    assert {operator["uid"] for operator in content["operators"]} == {"many", "rules", "windows"}
    assert content["about"]["kind"] == "savepoint"
    assert json.loads(penstock("savepoint", "diff", "--json", GOLDEN, GOLDEN).stdout) == []


def test_lines_fit(penstock):
    shown = penstock("savepoint", "show", GOLDEN).stdout
    assert max(map(len, shown.splitlines())) <= 100
    assert re.search(r"many kinds +by +MapState +Types\.STRING\(\), Types\.LONG\(\)", shown)


@pytest.mark.parametrize("command", ["show", "verify"])
def test_whatever_is_damaged_is_said_in_words(penstock, tmp_path, command):
    chance = random.Random(3)
    files = [GOLDEN / "savepoint.json", *sorted((GOLDEN / "state").iterdir())]
    for number in range(25):
        place = tmp_path / str(number)
        shutil.copytree(GOLDEN, place)
        path = place / chance.choice(files).relative_to(GOLDEN)
        data = path.read_bytes()
        if number % 3 == 0:
            path.write_bytes(data[: chance.randrange(len(data))])
        elif number % 3 == 1:
            path.unlink()
        else:
            path.write_bytes(b"\x00" * 20 + data[20:])
        result = penstock("savepoint", command, place)
        if command == "verify" or path.name == "savepoint.json":
            assert result.exit_code == 1, path
        assert "Traceback" not in result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert (result.exit_code == 1) == bool(result.stderr)


def test_what_is_no_savepoint(penstock, tmp_path):
    for command in (("show",), ("verify",), ("diff", GOLDEN)):
        result = penstock("savepoint", *command, tmp_path)
        assert result.exit_code == 1
        assert "There is no savepoint at" in result.stderr
    result = penstock("savepoint", "create", tmp_path, tmp_path)
    assert (result.exit_code, "is not a checkpoint directory" in " ".join(result.stderr.split())) == (1, True)


def test_verify_goes_on_behind_a_bad_one(penstock, tmp_path):
    result = penstock("savepoint", "verify", tmp_path, GOLDEN)
    assert (result.exit_code, result.stdout[:5]) == (1, "good:")


@pytest.mark.parametrize("command", ["create", "show", "verify", "diff"])
def test_each_has_examples_and_lines_that_fit(penstock, command):
    result = penstock("savepoint", command, "--help")
    assert f"    penstock savepoint {command}" in result.stdout.split("Examples:")[1]
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_all_that_is_printed(penstock):
    _, _, *shown = penstock("savepoint", "show", GOLDEN).stdout.splitlines(keepends=True)
    assert len(shown) > 25
    assert "".join(shown) == GOLDEN.parents[1].joinpath("savepoint_show.txt").read_text()


def test_one_by_reference(penstock, running, tmp_path):
    _, job = running
    created = penstock("savepoint", "create", "--reference", job, tmp_path / "savepoints")
    assert (created.exit_code, created.stderr) == (0, "")
    [first] = (tmp_path / "savepoints").iterdir()
    assert [path.name for path in first.iterdir()] == ["savepoint.json"]
    assert penstock("savepoint", "verify", first).stdout.endswith(f"bytes of state in the checkpoint directory {job}\n")
    assert "its state is in the checkpoint directory" in penstock("savepoint", "show", first).stdout
    version = json.loads(penstock("savepoint", "show", "--json", first).stdout)["about"]["version"]
    copied = penstock("savepoint", "copy", first, tmp_path / "copy")
    assert copied.stdout == f"{tmp_path}/copy\n"
    assert penstock("savepoint", "remove", first).exit_code == 0
    assert not first.exists()
    assert penstock("savepoint", "verify", tmp_path / "copy").stdout.endswith("bytes of state\n")
    assert json.loads(penstock("savepoint", "show", "--json", job).stdout)["kept"] == [version]  # nobody has cleaned
    assert "by reference" in penstock("savepoint", "show", job).stdout
    assert penstock("savepoint", "release", f"{job}@{version}").stdout == f"{job}@{version} was kept for 1 savepoint\n"
    refused = penstock("savepoint", "release", tmp_path / "copy").stderr
    assert "is not a checkpoint directory" in " ".join(refused.split())
    gone = penstock("savepoint", "remove", first)
    assert gone.exit_code == 1
    assert "there is no such folder" in gone.stderr
