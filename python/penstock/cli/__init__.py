"""The ``penstock`` command: run and stop programs, savepoints, explain plans, plan bare graphs, look up operator
IDs, clean up, prepare.

Here: the command group and its entry point. One module per command; :mod:`penstock.cli.program` runs a user's file,
:mod:`penstock.cli.report` prints errors, :mod:`penstock.cli.render` what objects draw of themselves. No decision about
plans or jobs is made here. Heavy modules (rich, pyspark) are imported by the commands that need them, when they do.
"""

from __future__ import annotations

import click

from penstock.cli import (
    check,
    clean,
    diff,
    explain,
    lint,
    lock,
    plan,
    prepare,
    rescale,
    run,
    savepoint,
    stop,
    uid,
    view,
    watch,
)
from penstock.cli.options import Group


@click.group("penstock", Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="penstock", prog_name="penstock")
def group() -> None:
    """Plan Flink-style DataStream programs exactly as Apache Flink does, and run them on Apache Spark.

    Examples:
      penstock explain examples/word_count.py
      penstock run examples/word_count.py --window 20
      penstock run --master 'local[4]' examples/word_count.py
      penstock savepoint create /data/jobs/counts /data/savepoints
      penstock stop /data/jobs/counts
      penstock rescale /data/jobs/counts 8 counts.py
      penstock uid word-counter
      penstock plan graphs.jsonl > plans.jsonl
      penstock clean counts
      penstock prepare
    """


for _module in (
    run,
    watch,
    stop,
    rescale,
    savepoint,
    explain,
    view,
    diff,
    lock,
    check,
    lint,
    plan,
    uid,
    clean,
    prepare,
):
    group.add_command(_module.command)


def main() -> None:
    """Entry point of the console script."""
    group(prog_name="penstock")
