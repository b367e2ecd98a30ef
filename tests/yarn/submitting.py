"""Programs that are submitted to YARN, as docs/clusters.md says."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pyspark

from tests.conftest import SHORT_LIVED
from tests.running import INTERPRETED
from tests.soak.processes import below
from tests.yarn.hadoop import Hadoop, wait_for

HOME = Path(pyspark.__file__).parent
END_SECONDS = 400
SETTINGS = {
    "spark.pyspark.python": "./environment/bin/python",
    "spark.yarn.jars": f"local:{HOME}/jars/*",  # else 400 MB are copied to HDFS for each job
    "spark.executor.instances": "2",
    "spark.executor.memory": "512m",
    "spark.executor.memoryOverhead": "256m",
    "spark.driver.memory": "512m",
    "spark.yarn.am.memory": "256m",
    "spark.ui.enabled": "false",
    "spark.yarn.report.interval": "500ms",
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    **INTERPRETED,
}
"""The nodes have 2 GiB each: room for an application master and an executor."""


class Submitted:
    """A program on YARN: spark-submit, which in client mode is also its driver."""

    def __init__(self, cluster: Hadoop, command: list[str], log: Path, environment: dict[str, str]) -> None:
        self._cluster, self._log = cluster, log
        self.earlier = cluster.applications()
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                command, env=environment, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
            )

    def log(self) -> str:
        return self._log.read_text()[-20_000:] + "".join(map(self._cluster.logs, self._ids()))

    def _ids(self) -> list[str]:
        return sorted(self._cluster.applications() - self.earlier)

    def application(self) -> str:
        """Its application, when YARN has it."""
        return wait_for(self._ids, "the application", self.process, self.log)[0]

    def attempts(self) -> list[dict[str, Any]]:
        """The attempts of its application master, the newest last."""
        attempts = self._cluster.ask(f"apps/{self.application()}/appattempts")["appAttempts"]["appAttempt"]
        return sorted(attempts, key=lambda attempt: attempt["id"])

    def succeeds(self) -> None:
        """Wait for its end."""
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        assert code == 0, self.log()
        assert self._cluster.ask(f"apps/{self.application()}")["app"]["finalStatus"] == "SUCCEEDED", self.log()

    def end(self) -> None:
        for process in below(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, 9)
        self.process.wait()
        for application in self._ids():
            self._cluster.kill(application)


class Cluster:
    """Where programs are submitted to; those that run are ended with the block."""

    def __init__(self, hadoop: Hadoop, archive: Path, folder: Path) -> None:
        self.hadoop, self._archive, self._folder = hadoop, archive, folder
        self._programs: list[Submitted] = []

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for program in self._programs:
            program.end()

    def submit(self, mode: str, program: str, *arguments: str) -> Submitted:
        """Start a program of this folder, in ``client`` or ``cluster`` mode."""
        settings = dict(SETTINGS)
        if mode == "client":
            settings["spark.pyspark.driver.python"] = str(self._archive.parent / "packed/bin/python")
        command = [str(HOME / "bin/spark-submit"), "--master", "yarn", "--deploy-mode", mode]
        command += ["--archives", f"{self._archive}#environment"]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        command += [str(Path(__file__).with_name(program)), *arguments]
        variables = os.environ | {"HADOOP_CONF_DIR": str(self.hadoop.settings), "SPARK_HOME": str(HOME)}
        for name in ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):  # they would go along
            variables.pop(name, None)
        log = self._folder / f"submit-{len(self._programs)}.log"
        self._programs.append(Submitted(self.hadoop, command, log, variables))
        return self._programs[-1]
