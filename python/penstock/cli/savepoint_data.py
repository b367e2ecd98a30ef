"""``penstock savepoint read | drop | rename-uid | set-max-parallelism | merge``: savepoints as data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from penstock.cli.options import Command, means_pyflink
from penstock.cli.report import guard

if TYPE_CHECKING:
    from penstock.savepoints import StateTable

T = TypeVar("T")
_unpickle = click.option(
    "--unpickle",
    is_flag=True,
    help="Make objects of any class, which can run any code: for savepoints that you trust only.",
)
_program = click.option(
    "--program",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True),
    help="The program whose own file has classes of objects: it runs until its first env.execute(). With --unpickle.",
)


def _done(action: Callable[[], T], file: str | None, *, pyflink: bool, unpickle: bool) -> T:
    """What an action returns, with the classes of a program if one is given."""
    if file is None:
        if pyflink:
            raise click.UsageError("--pyflink says how the program runs, and there is none: give --program FILE.")
        return action()
    if not unpickle:
        raise click.UsageError("--program gives the classes of objects, which are made with --unpickle only.")
    from penstock.cli.program import within

    return within(file, action, pyflink=pyflink)


@click.command(cls=Command)
@click.option(
    "--format",
    "as_what",
    type=click.Choice(["json", "csv", "arrow"]),
    default="json",
    show_default=True,
    help="Lines of JSON, CSV, or Arrow's IPC stream.",
)
@click.option("--timers", is_flag=True, help="The timers of the operator.")
@_unpickle
@_program
@means_pyflink
@click.argument("savepoint")
@click.argument("operator", metavar="UID")
@click.argument("state", required=False)
def read(
    as_what: str,
    timers: bool,
    unpickle: bool,
    file: str | None,
    pyflink: bool,
    savepoint: str,
    operator: str,
    state: str | None,
) -> None:
    """Print a state of the operator with the uid, or OperatorID, UID: a line for each key.

    Of a source, and without STATE, the positions of its splits.

    Examples:
      penstock savepoint read /data/jobs/counts sum total
      penstock savepoint read --timers --format csv /data/jobs/counts@17 sum
      penstock savepoint read --unpickle --program counts.py /data/jobs/counts sum baskets
      penstock savepoint read --format arrow /data/savepoints/before sum total > total.arrows
    """
    from penstock.savepoints import Savepoint

    if timers and state is not None:
        raise click.UsageError("--timers are those of the whole operator: leave STATE out.")

    def table() -> StateTable:
        found = Savepoint(savepoint, unpickle=unpickle)
        if timers:
            return found.timers(operator)
        return found.positions(operator) if state is None else found.read(operator, state)

    with guard(file):
        _print(_done(table, file, pyflink=pyflink, unpickle=unpickle), as_what)


def _print(table: StateTable, as_what: str) -> None:
    if as_what == "arrow":
        import pyarrow as pa

        made, target = table.to_arrow(), sys.stdout.buffer
        with pa.ipc.new_stream(target, made.schema) as writer:
            writer.write_table(made)
        return
    import json

    from penstock.savepoints.table import plain

    if as_what == "json":
        for row in table:
            click.echo(json.dumps({name: plain(value) for name, value in row.items()}, default=repr))
        return
    import csv

    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(table.columns)
    for values in table.rows:
        lines.writerow([_cell(plain(value)) for value in values])


def _cell(value: object) -> object:
    """A value in CSV: what has parts as JSON."""
    import json

    return json.dumps(value, default=repr) if isinstance(value, dict | list) else value


@click.command(cls=Command)
@_unpickle
@_program
@means_pyflink
@click.argument("savepoint")
@click.argument("new", metavar="NEW")
@click.argument("operator", metavar="UID")
@click.argument("state", required=False)
def drop(
    unpickle: bool, file: str | None, pyflink: bool, savepoint: str, new: str, operator: str, state: str | None
) -> None:
    """Make the savepoint NEW, without the state of an operator.

    UID is the operator's, or its OperatorID; of a source, it begins anew. With STATE, only that state goes.

    Examples:
      penstock savepoint drop /data/savepoints/before /data/savepoints/after fraud
      penstock savepoint drop /data/jobs/counts /data/savepoints/after sum history
    """
    from penstock.savepoints import Savepoint, SavepointWriter

    def place() -> str:
        return SavepointWriter(Savepoint(savepoint, unpickle=unpickle)).drop(operator, state).write(new).place

    with guard(file):
        click.echo(_done(place, file, pyflink=pyflink, unpickle=unpickle))


@click.command(cls=Command)
@click.argument("savepoint")
@click.argument("new", metavar="NEW")
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
@_unpickle
@_program
@means_pyflink
@click.argument("savepoint")
@click.argument("new", metavar="NEW")
@click.argument("operator", metavar="UID")
@click.argument("groups", metavar="N", type=int)
def set_max_parallelism(
    unpickle: bool, file: str | None, pyflink: bool, savepoint: str, new: str, operator: str, groups: int
) -> None:
    """Make the savepoint NEW, in which the keyed state of an operator has N key groups.

    UID is the operator's, or its OperatorID. Operators in one chain need the same N.

    Examples:
      penstock savepoint set-max-parallelism /data/savepoints/before /data/savepoints/after sum 1024
    """
    from penstock.savepoints import Savepoint, SavepointWriter

    def place() -> str:
        writer = SavepointWriter(Savepoint(savepoint, unpickle=unpickle))
        return writer.set_max_parallelism(operator, groups).write(new).place

    with guard(file):
        click.echo(_done(place, file, pyflink=pyflink, unpickle=unpickle))


@click.command(cls=Command)
@click.argument("one", metavar="SAVEPOINT")
@click.argument("other", metavar="SAVEPOINT")
@click.argument("new", metavar="NEW")
def merge(one: str, other: str, new: str) -> None:
    """Make the savepoint NEW, with the operators and sources of two; none may be in both. Nothing is unpickled.

    Examples:
      penstock savepoint merge /data/savepoints/orders /data/savepoints/clicks /data/savepoints/both
    """
    from penstock.savepoints import Savepoint, SavepointWriter

    with guard():
        click.echo(SavepointWriter(one).merge(Savepoint(other)).write(new).place)


COMMANDS = read, drop, rename_uid, set_max_parallelism, merge
