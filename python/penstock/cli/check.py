"""``penstock check``: whether a program resumes with its state, and which lines make it do so."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from penstock.cli.compared_plans import reading
from penstock.cli.diff import FORMATS
from penstock.cli.options import FilesCommand, lock_file, may_lose_state, planned, program, written_as
from penstock.cli.program import Planning


@click.command("check", FilesCommand)
@lock_file
@click.option(
    "--from-savepoint", "savepoint", metavar="PLACE", help="Compare with a savepoint, or a checkpoint directory."
)
@click.option("--fix", is_flag=True, help="Write the lines that keep the state into the program.")
@may_lose_state
@written_as(FORMATS, "Of the output.")
@planned()
@program
def command(
    path: str | None,
    savepoint: str | None,
    fix: bool,
    allow_non_restored_state: bool,
    form: str,
    planning: Planning,
    file: str,
) -> None:
    """Fail if the program FILE would lose state.

    The program runs with its arguments ARGS until its first env.execute(), or that of --job; each job of a program has
    a lock file of its own. It is compared with its lock file, or with a savepoint; then the lock file says more of why
    operators have moved. If state would be lost, the command prints the lines that give its operators the IDs of
    their state.

    The exit status is 0 if no state is known to be lost, 1 if some is or a restore would be refused, and 2 if
    something cannot be read.

    Examples:
      penstock check counts.py
      penstock check --fix counts.py
      penstock check jobs/*/job.py               several programs
      penstock check --from-savepoint /data/savepoints/savepoint-1f0c2a counts.py
      penstock check --format github counts.py
    """
    from penstock.cli.comparison import Check, old_of, refuse_other_job, tell, tell_age
    from penstock.lock.format import NAME

    lock = Path(path) if path is not None else Path(file).parent / NAME
    with reading(file):
        old = old_of(file, lock, savepoint, explicit=path is not None)
        check = Check(file, planning, old, allow_non_restored_state, savepoint)
        difference = check.first()
        if planning.job is not None and path is None and savepoint is None:
            refuse_other_job(lock, difference, file)
        if fix and not difference.passes:
            difference = check.fixed(difference)
        tell(difference, form, file)
        if difference.passes and form == "text" and savepoint is None:
            tell_age(difference, lock, file)
    sys.exit(0 if difference.passes else 1)
