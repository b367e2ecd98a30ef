"""``penstock savepoint read | drop | rename-uid | set-max-parallelism | merge``: savepoints as data."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.options import Command, means_pyflink, program_path, written_as
from penstock.cli.program import within
from penstock.cli.report import guard

if TYPE_CHECKING:
    from penstock.savepoints import Savepoint, StateTable

_new = click.argument("new", metavar="NEW")
_uid = click.argument("operator", metavar="UID")


def _read_with_classes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The argument SAVEPOINT, which the command gets open, and options for objects of any class in it. The command runs
    where the classes of the program are, and what it returns is printed if it is a place, and else called."""

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
        from penstock.savepoints import Savepoint

        if file is None and pyflink:
            raise click.UsageError("--pyflink needs a program: add --program FILE.")
        if file is not None and not unpickle:
            raise click.UsageError(
                "--program is only needed for objects of its classes: add --unpickle, or leave --program out."
            )

        def action() -> Any:
            return function(savepoint=Savepoint(savepoint, unpickle=unpickle), **options)

        with guard(file):
            done = action() if file is None else within(file, action, pyflink=pyflink)
            click.echo(done) if isinstance(done, str) else done()

    return command


@click.command(cls=Command)
@written_as(("json", "csv", "arrow"), "Lines of JSON, CSV, or Arrow's IPC stream.")
@click.option("--timers", is_flag=True, help="The timers of the operator.")
@_read_with_classes
@_uid
@click.argument("state", required=False)
def read(form: str, timers: bool, savepoint: Savepoint, operator: str, state: str | None) -> Callable[[], None]:
    """Print a state of the operator with the uid, or OperatorID, UID: a line for each key.

    Of a source, and without STATE, the positions of its splits.

    Examples:
      penstock savepoint read /data/jobs/counts sum total
      penstock savepoint read --timers --format csv /data/jobs/counts@17 sum
      penstock savepoint read --unpickle --program counts.py /data/jobs/counts sum baskets
      penstock savepoint read --format arrow /data/savepoints/before sum total > total.arrows
    """
    if timers and state is not None:
        raise click.UsageError("--timers shows the timers of the whole operator: leave STATE out.")
    if timers:
        table = savepoint.timers(operator)
    else:
        table = savepoint.positions(operator) if state is None else savepoint.read(operator, state)
    return functools.partial(_print, table, form)


def _print(table: StateTable, form: str) -> None:
    if form == "arrow":
        import pyarrow as pa

        columns, target = table.to_arrow(), sys.stdout.buffer
        with pa.ipc.new_stream(target, columns.schema) as writer:
            writer.write_table(columns)
        return
    import csv
    import json

    from penstock.savepoints.table import plain

    as_json = functools.partial(json.dumps, default=repr)
    if form == "json":
        for row in table:
            click.echo(as_json({name: plain(value) for name, value in row.items()}))
        return
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(table.columns)
    for values in table.rows:  # what has parts is JSON
        cells = map(plain, values)
        lines.writerow([as_json(cell) if isinstance(cell, dict | list) else cell for cell in cells])


@click.command(cls=Command)
@_read_with_classes
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
@_read_with_classes
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


COMMANDS = read, drop, rename_uid, set_max_parallelism, merge
