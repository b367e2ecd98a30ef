"""``penstock diff``: what an edit of a program does to its operators and their state."""

from __future__ import annotations

import sys

import click

from penstock.cli.compared_plans import opened, reading
from penstock.cli.options import Command, may_lose_state, of_job, planned, written_as
from penstock.cli.program import Planning
from penstock.plan import PROFILES

FORMATS = ("text", "json", "markdown", "github")


@click.command("diff", Command)
@written_as(FORMATS, "The form of the output.")
@may_lose_state
@planned(
    of_job,
    click.option(
        "--flink", type=click.Choice(PROFILES), help="Plan as this Flink.  [default: as the programs say, or 1.11]"
    ),
    click.option("--pyflink", is_flag=True, help="Let the programs' `import pyflink` mean penstock.pyflink."),
)
@click.argument("old")
@click.argument("new")
def command(form: str, allow_non_restored_state: bool, planning: Planning, old: str, new: str) -> None:
    """Show what differs between OLD and NEW, and what becomes of state.

    Each is a program (.py), a plan or the description of a graph (JSON), a lock file, a savepoint's folder, a
    checkpoint directory for its newest version, JOB@VERSION, or a savepoint of Flink. Programs run without arguments
    until their first env.execute(), or that of --job. Shown are operators that were kept, moved to another operator ID
    (and why), added and removed, and state that would be lost or could not be read.

    The exit status is 0 if no state is known to be lost, 1 if some is or a restore would be refused, and 2 if OLD or
    NEW cannot be read.

    Examples:
      penstock diff old/counts.py counts.py
      penstock diff penstock.lock counts.py
      penstock diff /data/jobs/counts counts.py              what a job has, and what is to go on
      penstock diff /data/savepoints/savepoint-1f0c2a counts.py
      penstock diff --format markdown penstock.lock counts.py >> $GITHUB_STEP_SUMMARY
    """
    from penstock.cli.comparison import fixes
    from penstock.compare.difference import compare
    from penstock.compare.texts import FORMATS as MAKERS

    with reading(old):
        before = opened(old, planning, apart=new.endswith(".py"))
    with reading(new):
        after = opened(new, planning)
    difference = compare(before, after, allow=allow_non_restored_state)
    click.echo(MAKERS[form](difference, [*fixes(difference)]), nl=False)
    sys.exit(0 if difference.passes else 1)
