"""Programs that spark-submit starts: the Spark is the one that it was told of, and its pages name their jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.running import INTERPRETED

pytestmark = pytest.mark.spark
PROGRAM = """
import json
import time
from urllib.request import urlopen

from pyspark import SparkContext
from penstock.common import Configuration, Types
from penstock.datastream import StreamExecutionEnvironment

settings = Configuration({"pipeline.name": "orders", "parallelism.default": "1"})
env = StreamExecutionEnvironment.get_execution_environment(settings)
tens = env.from_collection([1, 2], type_info=Types.LONG()).map(lambda n: 10 * n, Types.LONG()).name("tens")
tens.print()
env.execute("submitted")
frame = tens.to_spark()
context = SparkContext.getOrCreate()
context.setJobDescription("of the user's")
frame.collect()


def get(path):
    with urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/{path}") as answer:
        return json.load(answer)


until = time.monotonic() + 240
while [query["status"] for query in get("sql")] != ["COMPLETED"] * 2 and time.monotonic() < until:
    time.sleep(0.2)
retained = context.getConf().get("spark.ui.retainedJobs")
jobs = [job["description"] for job in reversed(get("jobs"))]
plans = [query["planDescription"] for query in get("sql?planDescription=true")]
print(json.dumps([context.master, context.appName, retained, jobs, plans]))
"""


def test_a_submitted_program_runs_where_and_as_spark_submit_says(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = {"spark.ui.retainedJobs": "7", "spark.ui.port": "0", "spark.driver.memory": "512m", **INTERPRETED}
    options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    run = subprocess.run(
        [str(submit), "--master", "local[1,3]", "--name", "nightly", *options, "program.py"],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    *_, ten, twenty, seen = run.stdout.splitlines()  # before them is what the program writes to standard error
    assert (ten, twenty) == ("10", "20")
    master, name, retained, jobs, (executed, collected) = json.loads(seen)
    assert (master, name, retained) == ("local[1,3]", "nightly", "7")
    chain = "Source: Collection Source -> tens -> Sink: Print to Std. Out"
    assert jobs == [f"submitted: {chain}", "of the user's"]
    assert f"Arguments: {chain}" in executed
    assert "Arguments: orders: Source: Collection Source -> tens -> Sink: to_spark" in collected
