"""``penstock prepare``: let Spark start faster on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from penstock.cli.options import Command
from penstock.cli.report import guard
from penstock.errors import ConfigurationError

_TIMEOUT = 600  # seconds
_EXIT = 120  # seconds that the JVM may take to write its archive


@click.command("prepare", Command)
def command() -> None:
    """Let Spark start faster on this machine.

    Runs a small job, and keeps the classes that Spark has loaded for it in a file of about 160 MB in the cache folder,
    ~/.cache/penstock. Jobs with a local master start in half the CPU time of the JVM from then on. Deleting the file
    undoes it.

    Examples:
      penstock prepare                       once per machine, and again for another Java or Spark
    """
    with guard():
        click.echo(f"written: {prepare()}")


def prepare() -> Path:
    """Write the archive, which replaces an older one when it is whole; a ConfigurationError if Java cannot do this."""
    from penstock.spark.session import archive_path, check_java

    target = archive_path()
    check_java()
    if target is None:
        raise ConfigurationError(
            "The version of this Java is unknown: its folder has no file `release`. Set JAVA_HOME to a whole "
            "installation of Java."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        archive = Path(folder, "classes.jsa")
        child = [sys.executable, "-m", "penstock.cli.prepare", str(archive)]
        without = {**os.environ, "XDG_CACHE_HOME": folder}  # no archive is made with the help of another
        run = subprocess.run(child, env=without, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        if run.returncode or not archive.is_file():
            output = (run.stdout + run.stderr).strip()[-1_000:] or f"nothing, with status {run.returncode}"
            raise ConfigurationError(f"Java did not write its archive of classes. It said: {output}")
        os.replace(archive, target)
    return target


def _record(path: str) -> None:
    """In a process of its own: run a job, and wait until the JVM has ended, which is when it writes the archive."""
    from penstock.common import Configuration, Types
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.spark.inside_pyspark import end_jvm

    settings = Configuration().set_string("spark.driver.extraJavaOptions", f"-XX:ArchiveClassesAtExit={path}")
    env = StreamExecutionEnvironment.get_execution_environment(settings, master="local[2]").set_parallelism(2)
    keyed = env.generate_sequence(1, 100).key_by(lambda number: number % 7, key_type=Types.LONG())
    with keyed.sum(0).execute_and_collect("prepare") as results:
        assert len(list(results)) == 100
    end_jvm(_EXIT)


if __name__ == "__main__":
    _record(sys.argv[1])
