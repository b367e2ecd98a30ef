"""``penstock check``: whether a program goes on with its state, and which lines make it do so."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from penstock.cli.diff import FORMATS
from penstock.cli.opening import Planning, reading
from penstock.cli.options import as_flink, means_pyflink, program_arguments, program_file


@click.command(
    name="check",
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  penstock check counts.py
  penstock check --fix counts.py
  penstock check --from-savepoint /data/savepoints/savepoint-1f0c2a counts.py
  penstock check --format github counts.py
""",
)
@click.option("--lock", "path", type=click.Path(dir_okay=False), help="The file.  [default: penstock.lock beside FILE]")
@click.option("--from-savepoint", "savepoint", metavar="PLACE", help="Compare with a savepoint, or a job folder.")
@click.option("--fix", is_flag=True, help="Write the lines that keep the state into the program.")
@click.option("--allow-non-restored-state", is_flag=True, help="State may be left behind.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the output.")
@as_flink
@means_pyflink
@program_file
@program_arguments
def command(
    path: str | None,
    savepoint: str | None,
    fix: bool,
    allow_non_restored_state: bool,
    form: str,
    flink: str | None,
    pyflink: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Fail if the program FILE would lose state.

    It is compared with its lock file, or with a savepoint; then the lock file says more of why operators have moved. If
    state would be lost, the lines are printed that give its operators the IDs that their state lies under.

    The exit status is 0 if no state is lost, 1 if some is or a restore would be refused, and 2 if something cannot be
    read.
    """
    from penstock.cli.checking import Check, old_of, tell, tell_age
    from penstock.lock.format import NAME

    lock = Path(path) if path is not None else Path(file).parent / NAME
    planning = Planning(flink, pyflink, arguments)
    with reading(file):
        old = old_of(file, lock, savepoint, explicit=path is not None)
        check = Check(file, planning, old, allow_non_restored_state)
        found = check.first()
        if fix and not found.safe:
            found = check.fixed(found)
        tell(found, form, file)
        if found.safe and form == "text" and savepoint is None:
            tell_age(found, lock, file)
    sys.exit(0 if found.safe else 1)
