"""``penstock savepoint read | export | drop | rename-uid | set-max-parallelism | merge``: savepoints as data."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.options import Command, means_pyflink, program_path, written_as
from penstock.cli.program import within
from penstock.cli.report import guard
from penstock.errors import SavepointError

if TYPE_CHECKING:
    from penstock.savepoints import Savepoint
    from penstock.savepoints.flink_savepoint import SavepointOfFlink

_new = click.argument("new", metavar="NEW")
_uid = click.argument("operator", metavar="UID")


def _opens(*, flinks: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The argument SAVEPOINT, which the command gets open, and options for objects of any class in it. The command runs
    where the classes of the program are, and what it returns is printed if it is a place, and else called. With
    ``flinks`` it can be a savepoint of Flink, too."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--unpickle",
            is_flag=True,
            help="Make objects of any class, which can run any code: for savepoints that you trust only.",
        )
        @click.option(
            "--program",
            "file",
            metavar="FILE",
            type=program_path,
            help="The program whose own file has classes of objects: it runs until its first env.execute(). With "
            "--unpickle.",
        )
        @means_pyflink
        @click.argument("savepoint")
        @functools.wraps(function)
        def command(savepoint: str, unpickle: bool, file: str | None, pyflink: bool, **options: Any) -> None:
            from penstock.savepoints import Savepoint, read

            if file is None and pyflink:
                raise click.UsageError("--pyflink needs a program: add --program FILE.")
            if file is not None and not unpickle:
                raise click.UsageError(
                    "--program is only needed for objects of its classes: add --unpickle, or leave --program out."
                )

            def action() -> Any:
                opened = read(savepoint, unpickle=unpickle) if flinks else Savepoint(savepoint, unpickle=unpickle)
                return function(savepoint=opened, **options)

            with guard(file):
                done = action() if file is None else within(file, action, pyflink=pyflink)
                click.echo(done) if isinstance(done, str) else done()

        return command

    return decorate


@click.command(cls=Command)
@written_as(("json", "csv", "arrow", "parquet"), "Lines of JSON, CSV, Arrow's IPC stream, or Parquet.")
@click.option("--timers", is_flag=True, help="The timers of the operator.")
@_opens(flinks=True)
@_uid
@click.argument("state", required=False)
def read(
    form: str, timers: bool, savepoint: Savepoint | SavepointOfFlink, operator: str, state: str | None
) -> Callable[[], None]:
    """Print a state of the operator with the uid, or OperatorID, UID: a line for each key.

    Of a source, and without STATE, the positions of its splits. SAVEPOINT can be a savepoint of Apache Flink, too, UID
    the name of an operator in it, and the positions of its sources are states.

    Examples:
      penstock savepoint read /data/jobs/counts sum total
      penstock savepoint read --timers --format csv /data/jobs/counts@17 sum
      penstock savepoint read --unpickle --program counts.py /data/jobs/counts sum baskets
      penstock savepoint read --format arrow /data/savepoints/before sum total > total.arrows
      penstock savepoint read /data/flink/savepoint-1f0c2a-6d3b9c01e7f2 counts total
    """
    from penstock.cli.savepoint_tables import write_table

    if timers and state is not None:
        raise click.UsageError("--timers shows the timers of the whole operator: leave STATE out.")
    if timers:
        table = savepoint.timers(operator)
    else:
        table = savepoint.positions(operator) if state is None else savepoint.read(operator, state)
    return lambda: write_table(table, form, sys.stdout.buffer)  # not the output of a program that runs now


@click.command(cls=Command)
@written_as(("parquet", "json", "csv", "arrow"), "Parquet, lines of JSON, CSV, or Arrow's IPC stream.")
@click.option(
    "--operator", "operators", metavar="NAME", multiple=True, help="Only of this operator: a uid, ID or name."
)
@click.option("--state", "states", metavar="NAME", multiple=True, help="Only states with this name, and no timers.")
@_opens(flinks=True)
@click.argument("folder")
def export(
    form: str,
    operators: Collection[str],
    states: Collection[str],
    savepoint: Savepoint | SavepointOfFlink,
    folder: str,
) -> Callable[[], None]:
    """Write all states and timers of a savepoint, or of one of Apache Flink, to files in FOLDER, a path or URL.

    FOLDER must be empty, or not be there. A state becomes OPERATOR/states/STATE.parquet, timers become
    OPERATOR/timers.parquet; OPERATOR is the uid, else the ID, and what a name of a file cannot have is written as in a
    URL. Each file is printed. A state that cannot be written is an error on standard error, the others are written,
    and the exit status is 1.

    Examples:
      penstock savepoint export /data/jobs/counts /data/tables
      penstock savepoint export --operator sum --state total --format csv /data/jobs/counts@17 /data/tables
      penstock savepoint export /data/flink/savepoint-1f0c2a-6d3b9c01e7f2 s3://bucket/tables
    """
    from penstock.cli.report import explanation
    from penstock.cli.savepoint_tables import export_tables

    refusals: list[SavepointError] = []
    places = list(export_tables(savepoint, folder, form, operators, states, refusals.append))

    def end() -> None:
        for place in places:
            click.echo(place)
        for refusal in refusals:
            click.echo(explanation(refusal), err=True)
        if refusals:
            sys.exit(1)

    return end


@click.command(cls=Command)
@_opens()
@_new
@_uid
@click.argument("state", required=False)
def drop(savepoint: Savepoint, new: str, operator: str, state: str | None) -> str:
    """Make the savepoint NEW, without the state of an operator.

    UID is the operator's, or its OperatorID; a source begins again. With STATE, only that state goes.

    Examples:
      penstock savepoint drop /data/savepoints/before /data/savepoints/after fraud
      penstock savepoint drop /data/jobs/counts /data/savepoints/after sum history
    """
    from penstock.savepoints import SavepointWriter

    return SavepointWriter(savepoint).drop(operator, state).write(new).place


@click.command(cls=Command)
@click.argument("savepoint")
@_new
@click.argument("old_uid", metavar="OLD-UID")
@click.argument("new_uid", metavar="NEW-UID")
def rename_uid(savepoint: str, new: str, old_uid: str, new_uid: str) -> None:
    """Make the savepoint NEW, in which the operator with the uid NEW-UID has the state of OLD-UID.

    OLD-UID can be an OperatorID, for operators that had no uid. Nothing is unpickled.

    Examples:
      penstock savepoint rename-uid /data/savepoints/before /data/savepoints/after sum total
    """
    from penstock.savepoints import SavepointWriter

    with guard():
        click.echo(SavepointWriter(savepoint).rename_uid(old_uid, new_uid).write(new).place)


@click.command(cls=Command)
@_opens()
@_new
@_uid
@click.argument("groups", metavar="N", type=int)
def set_max_parallelism(savepoint: Savepoint, new: str, operator: str, groups: int) -> str:
    """Make the savepoint NEW, in which the keyed state of an operator has N key groups.

    UID is the operator's, or its OperatorID. Operators in one chain need the same N.

    Examples:
      penstock savepoint set-max-parallelism /data/savepoints/before /data/savepoints/after sum 1024
    """
    from penstock.savepoints import SavepointWriter

    return SavepointWriter(savepoint).set_max_parallelism(operator, groups).write(new).place


@click.command(cls=Command)
@click.argument("one", metavar="SAVEPOINT")
@click.argument("other", metavar="SAVEPOINT")
@_new
def merge(one: str, other: str, new: str) -> None:
    """Make the savepoint NEW, with the operators and sources of two; none may be in both. Nothing is unpickled.

    Examples:
      penstock savepoint merge /data/savepoints/orders /data/savepoints/clicks /data/savepoints/both
    """
    from penstock.savepoints import Savepoint, SavepointWriter

    with guard():
        click.echo(SavepointWriter(one).merge(Savepoint(other)).write(new).place)


COMMANDS = read, export, drop, rename_uid, set_max_parallelism, merge
