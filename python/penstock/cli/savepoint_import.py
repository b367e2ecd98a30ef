"""``penstock savepoint import``: a savepoint of Apache Flink as one of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from penstock.cli.options import ProgramCommand, planned, prints_json, program_arguments, program_path
from penstock.cli.program import Planning
from penstock.cli.report import guard

if TYPE_CHECKING:
    from penstock.job.restore.from_flink.importer import ImportedSavepoint

_MOST = 8  # positions of a source that are shown


@click.command("import", cls=ProgramCommand)
@planned()
@click.option("-n", "--allow-non-restored-state", "allow", is_flag=True, help="State may be left behind.")
@click.option(
    "--unpickle",
    is_flag=True,
    help="Make objects of any class of PyFlink's pickles, which can run any code: for savepoints that you trust only.",
)
@prints_json
@click.argument("place", metavar="FLINK")
@click.argument("file", type=program_path)
@click.argument("new", metavar="NEW")
@program_arguments
def command(planning: Planning, allow: bool, unpickle: bool, as_json: bool, place: str, file: str, new: str) -> None:
    """Make a savepoint NEW of one of Apache Flink, for the program FILE to begin from.

    FLINK has a file _metadata, or is that file. The program runs with ARGS until its first env.execute(), or that of
    --job. What has come over is printed for each operator; state that does not is a refusal, or is listed with
    --allow-non-restored-state. `penstock run --from-savepoint FLINK` does the same when a job starts.

    Examples:
      penstock savepoint import /data/flink/savepoint-1f0c2a-6d3b9c01e7f2 counts.py /data/savepoints/from-flink
      penstock savepoint import --json -n /data/flink/checkpoints/8a1f/chk-17 counts.py s3://bucket/from-flink
    """
    from penstock.job.restore.from_flink.importer import import_savepoint
    from penstock.savepoints.pyflink_pickles import loads_of_pyflink

    with guard(file):
        loads = loads_of_pyflink(unpickle=unpickle)
        imported = import_savepoint(place, planning.plan(file), new, allow=allow, loads=loads)
        if as_json:
            click.echo(json.dumps(_document(imported), indent=2))
        else:
            from penstock.flink.cursor import plain

            for line in _lines(place, imported):
                click.echo(plain(line))


def _document(imported: ImportedSavepoint) -> dict[str, object]:
    operators = [asdict(operator) for operator in imported.operators]
    return {
        "savepoint": imported.savepoint.place,
        "operators": operators,
        "losses": [asdict(loss) for loss in imported.losses],
    }


def _lines(place: str, imported: ImportedSavepoint) -> Iterator[str]:
    yield f"{imported.savepoint.place}: made of {place}"
    for operator in imported.operators:
        uid = "" if operator.uid is None else f"uid {operator.uid!r}, "
        yield f"  {operator.name!r} ({uid}ID {operator.operator_id})"
        for state, count in operator.states.items():
            yield f"    {state}: {count:,}"
        shown = list(operator.positions.items())[:_MOST]
        for split, position in shown:
            yield f"    {split}: at {position}"
        if len(operator.positions) > len(shown):
            yield f"    and {len(operator.positions) - len(shown):,} more positions"
        if not operator.states and not operator.positions:
            yield "    nothing: its state is empty"
    if imported.losses:
        yield "Not taken over, as allowed:"
        for loss in imported.losses:
            yield f"  {loss.text}"
