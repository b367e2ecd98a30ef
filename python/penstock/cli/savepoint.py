"""``penstock savepoint``: take savepoints of jobs, and look at what is in them; with the commands of
:mod:`penstock.cli.savepoint_data`, which make others of them, and :mod:`penstock.cli.savepoint_files`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from penstock.cli import savepoint_data, savepoint_files, savepoint_flink, savepoint_import
from penstock.cli.options import Group, prints_json, refers, waits
from penstock.cli.report import guard

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.job.savepoint.contents import Content, OperatorContent

_MOST = 20  # splits of a source that are shown


@click.group("savepoint", Group)
def command() -> None:
    """Take savepoints of jobs, look at what is in them, and make others of them.

    Where a SAVEPOINT is asked for, it can be a savepoint's folder, a checkpoint directory for its newest version, or
    JOB@VERSION; a path or a URL. It is never changed. No object in it is unpickled without --unpickle, so one of a
    stranger can be looked at. show, verify, diff, check, read and export also take a savepoint or checkpoint of Apache
    Flink: the folder that has its _metadata; entries prints what is in the states of one, and import makes one of ours.

    Examples:
      penstock savepoint create /data/jobs/counts /data/savepoints
      penstock savepoint show /data/savepoints/savepoint-1f0c2a-6d3b9c01e7f2
      penstock savepoint show /data/jobs/counts@17
      penstock savepoint verify s3://bucket/savepoints/savepoint-1f0c2a-6d3b9c01e7f2
      penstock savepoint diff /data/jobs/counts@17 /data/jobs/counts
      penstock savepoint check /data/flink/savepoint-1f0c2a-6d3b9c01e7f2 counts.py
    """


_OTHERS = (*savepoint_data.COMMANDS, *savepoint_files.COMMANDS, *savepoint_flink.COMMANDS, savepoint_import.command)
for _command in _OTHERS:
    command.add_command(_command)


@command.command()
@waits("the job's driver")
@refers(
    "Refer to the state in the checkpoint directory, which keeps it, instead of copying it; else as the job's "
    "settings say."
)
@click.argument("job", metavar="JOB[@VERSION]")
@click.argument("folder", metavar="[FOLDER]", required=False)
def create(timeout: float, reference: bool | None, job: str, folder: str | None) -> None:
    """Take a savepoint of a job, which goes on if it runs.

    JOB is its checkpoint directory. The savepoint gets a folder of its own in FOLDER, which is printed.

    Examples:
      penstock savepoint create /data/jobs/counts /data/savepoints
      penstock savepoint create /data/jobs/counts@17 /data/savepoints   an older version
      penstock savepoint create /data/jobs/counts                       in its state.savepoints.dir
      penstock savepoint create --reference /data/jobs/counts           without a copy of the state
    """
    from penstock.job.savepoint.commands import create

    with guard():
        click.echo(create(job, folder, seconds=timeout, reference=reference))


@command.command()
@prints_json
@click.argument("savepoint")
def show(as_json: bool, savepoint: str) -> None:
    """Print what is in a savepoint: operators, states, sources.

    Of a checkpoint directory, also which versions it has.

    Examples:
      penstock savepoint show /data/savepoints/savepoint-1f0c2a-6d3b9c01e7f2
      penstock savepoint show --json /data/jobs/counts
    """
    from rich.console import Group

    from penstock.cli.render import printer
    from penstock.job.savepoint.contents import as_json as to_json
    from penstock.job.savepoint.contents import content_of
    from penstock.job.savepoint.store import kept, read_savepoint, versions_of

    with guard():
        if savepoint_flink.is_flinks(savepoint):
            content = savepoint_flink.content(savepoint)
            document, drawn = json.dumps(asdict(content), indent=2), savepoint_flink.drawn(content)
        else:
            stored = read_savepoint(savepoint)
            content, versions, pinned = content_of(stored), versions_of(stored), kept(stored)
            document = to_json({**asdict(content), "versions": versions, "kept": pinned})
            drawn = _drawn(content, versions, pinned)
        if as_json:
            click.echo(document)
        else:
            printer()(Group(*drawn))


@command.command()
@click.argument("savepoints", metavar="SAVEPOINT...", nargs=-1, required=True)
def verify(savepoints: tuple[str, ...]) -> None:
    """Read all files of savepoints, and compare them with their checksums.

    Flink's savepoints have none: of these the files must be there, with their sizes, and their headers readable. There
    is a line for each savepoint, and one for each file that is damaged; the exit status is 1 if there is such.

    Examples:
      penstock savepoint verify /data/savepoints/savepoint-1f0c2a-6d3b9c01e7f2
    """
    from penstock.cli.report import explanation
    from penstock.display.tables import count
    from penstock.errors import SavepointError
    from penstock.job.savepoint.contents import verify
    from penstock.job.savepoint.store import read_savepoint

    good = True
    with guard():
        for place in savepoints:
            try:
                if savepoint_flink.is_flinks(place):
                    good = savepoint_flink.verify(place) and good
                    continue
                savepoint = read_savepoint(place)
                report = verify(savepoint)
            except SavepointError as error:
                good = False
                click.echo(explanation(error), err=True)
                continue
            good = good and not report.problems
            for problem in report.problems:
                click.echo(f"damaged: {problem}", err=True)
            for name in report.unnamed:
                click.echo(f"{place}: state/{name} belongs to nothing, and can be removed", err=True)
            if not report.problems:
                where = "" if savepoint.home is None else f" in the checkpoint directory {savepoint.home}"
                click.echo(f"good: {place}, {count(report.files, 'file')}, {report.bytes:,} bytes of state{where}")
    if not good:
        sys.exit(1)


@command.command()
@prints_json
@click.argument("one", metavar="SAVEPOINT")
@click.argument("other", metavar="SAVEPOINT")
def diff(as_json: bool, one: str, other: str) -> None:
    """Print what differs between two savepoints: operators, states, types, positions.

    Operators are compared by their IDs. Values are not: a state of another size is another one, but one of the same
    size may be another one, too.

    Examples:
      penstock savepoint diff /data/savepoints/before /data/savepoints/after
      penstock savepoint diff --json /data/jobs/counts@17 /data/jobs/counts
    """
    from penstock.flink.cursor import plain
    from penstock.job.savepoint.contents import as_json as to_json
    from penstock.job.savepoint.contents import content_of
    from penstock.job.savepoint.difference import differences
    from penstock.job.savepoint.store import read_savepoint

    with guard():
        listed = savepoint_flink.differences(one, other)
        if listed is None:
            listed = differences(content_of(read_savepoint(one)), content_of(read_savepoint(other)))
        if as_json:
            click.echo(to_json([asdict(difference) for difference in listed]))
            return
        for difference in listed:
            values = f": {_value(difference.before)} -> {_value(difference.after)}"
            if difference.change in ("added", "removed") or difference.change.endswith((": added", ": removed")):
                value = difference.after if difference.before is None else difference.before
                values = "" if value is None else f" ({value})"
            where = f", {difference.where}" if difference.where else ""
            click.echo(plain(f"{difference.what} {difference.name}{where}: {difference.change}{values}"))
        if not listed:
            click.echo("no difference")


def _value(value: object) -> str:
    return f"{value:,}" if type(value) is int else "nothing" if value is None else str(value)


def _drawn(content: Content, versions: Iterable[int], pinned: Iterable[int]) -> Iterator[RenderableType]:
    from rich.text import Text

    from penstock.display.tables import Shown, heading, section

    about = content.about
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about.created / 1000))
    kind = {"version": "Version", "stop": "Savepoint at the end", "drain": "Savepoint of the drained end"}
    yield heading(f"{kind.get(about.kind, 'Savepoint')} of job {about.job!r}, version {about.version}, {when}")
    yield Text(f"  {content.place}")
    if content.home is not None:
        yield Text(f"  its state is in the checkpoint directory {content.home}, which keeps it")
    yield Text(f"  id {about.id}, run {about.job_id}, parallelism {about.parallelism}")
    if versions:
        yield Text(f"  the checkpoint directory has the versions {', '.join(map(str, versions))}")
    if pinned:
        yield Text(f"  of these it keeps for savepoints by reference {', '.join(map(str, pinned))}")
    columns = ("operator", "uid", "operator ID", "p", ">max p", ">entries", ">bytes", ">timers")
    yield section("Operators with state", *Shown(1000).listed(columns, map(_operator, content.operators), "operators"))
    if states := list(_states(content)):
        yield section("States", *Shown(1000).listed(("operator", "state", "kind", "types"), states, "states"))
    if sources := list(_sources(content)):
        columns = ("source", "uid", "operator ID", "split", "position")
        yield section("Sources", *Shown(1000).listed(columns, sources, "splits"))


def _operator(operator: OperatorContent) -> tuple[str, ...]:
    numbers = (operator.entries, operator.bytes, operator.event_timers + operator.clock_timers)
    sizes = (str(operator.parallelism), str(operator.max_parallelism))
    return (operator.name, operator.uid or "", operator.operator_id, *sizes, *(f"{number:,}" for number in numbers))


def _states(content: Content) -> Iterator[tuple[str, ...]]:
    for operator in content.operators:
        if operator.key is not None:
            yield operator.name, "", "key", operator.key[0] or operator.key[1].rpartition(".")[2]
        for state in operator.states:
            types = zip(state.types, state.serializers, strict=False)
            names = ", ".join(declared or serializer.rpartition(".")[2] for declared, serializer in types)
            yield operator.name, state.name, state.kind, names
        if operator.list_bytes:
            yield operator.name, "", "operator state", f"{operator.list_bytes:,} bytes of lists"


def _sources(content: Content) -> Iterator[tuple[str, ...]]:
    for source in content.sources:
        named = (source.name, source.uid or "", source.operator_id)
        for split, position in list(source.positions.items())[:_MOST]:
            yield (*named, split, str(position))
        left = len(source.positions) - _MOST
        if left > 0:
            yield (*named, "", f"… and {left:,} more splits")
        if source.splits_ended or not source.positions:
            yield (*named, "", f"{source.splits_ended:,} splits read to their end")
