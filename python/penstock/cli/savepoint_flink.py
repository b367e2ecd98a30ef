"""``penstock savepoint check | facts | restores``, and how ``show``, ``verify`` and ``diff`` do with savepoints of
Apache Flink."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from penstock.cli.options import ProgramCommand, means_pyflink, of_job, program_arguments, program_file
from penstock.cli.report import guard
from penstock.errors import ConfigurationError, UnsupportedError
from penstock.plan import PROFILES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.common.findings import Difference
    from penstock.flink.contents import Content, OperatorContent


def is_flinks(place: str) -> bool:
    """Whether a place has a savepoint of Flink; what is no place at all has none."""
    from penstock.flink import places

    try:
        return places.is_flinks(place)
    except (OSError, ConfigurationError, UnsupportedError):
        return False


def show(place: str, *, as_json: bool) -> None:
    """Print what is in a savepoint of Flink."""
    from penstock.flink.contents import content_of
    from penstock.flink.places import newest
    from penstock.flink.savepoint import read_savepoint

    content = content_of(read_savepoint(newest(place)))
    if as_json:
        click.echo(json.dumps(asdict(content), indent=2))
        return
    from rich.console import Group

    from penstock.cli.render import printer

    printer()(Group(*_drawn(content)))


def verify(place: str) -> bool:
    """Say what is wrong with a savepoint of Flink; whether nothing is."""
    from penstock.flink.contents import verify
    from penstock.flink.cursor import plain
    from penstock.flink.savepoint import read_savepoint

    savepoint = read_savepoint(place)
    problems, files = verify(savepoint)
    for problem in problems:
        click.echo(plain(f"damaged: {problem}"), err=True)
    if not problems:
        size, beside = savepoint.metadata.total_state_size, f"{files:,} file{'s' * (files != 1)} beside _metadata"
        click.echo(f"good: {place}, {beside}, {size:,} bytes of state; Flink keeps no checksums")
    return not problems


def differences(one: str, other: str) -> list[Difference] | None:
    """What differs between two savepoints of Flink; None if none of both is one.

    Raises:
        ConfigurationError: only one is.
    """
    kinds = is_flinks(one), is_flinks(other)
    if not any(kinds):
        return None
    if not all(kinds):
        theirs, ours = (one, other) if kinds[0] else (other, one)
        raise ConfigurationError(
            f"{theirs} is a savepoint of Apache Flink, and {ours} is not. Two of Flink's are compared, or two of ours."
        )
    from penstock.flink import contents
    from penstock.flink.contents import content_of
    from penstock.flink.savepoint import read_savepoint

    return contents.differences(content_of(read_savepoint(one)), content_of(read_savepoint(other)))


@click.command(
    epilog="""\b
Examples:
  penstock savepoint facts /data/flink/savepoint-1f0c2a-6d3b9c01e7f2
  penstock savepoint facts --flink 1.11 /data/flink/checkpoints/8a1f/chk-17 | jq .savepoint.operators
"""
)
@click.option("--flink", type=click.Choice(PROFILES), help="Whose facts.  [default: those of who has written it]")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
def facts(flink: str | None, folders: tuple[str, ...]) -> None:
    """Print all that Flink's classes read in savepoints of Flink: a line of JSON for each.

    FOLDER has a file _metadata, or is that file. A savepoint that cannot be read gives a line with the error that Flink
    throws, and the exit status 0: the line is the answer.
    """
    from penstock.flink.facts import line

    with guard():
        for folder in folders:
            click.echo(json.dumps(line(folder, flink)))


@click.command(
    epilog="""\b
Examples:
  penstock savepoint restores --flink 2.3 < pairs.jsonl
"""
)
@click.option("--flink", type=click.Choice(PROFILES), default=PROFILES[0], show_default=True, help="Who restores.")
def restores(flink: str) -> None:
    """Say what Flink does with restores, without Flink: a line of JSON for each line of standard input.

    A line is {"savepoint": FOLDER, "spec": GRAPH, "allow_non_restored_state": BOOL}. The answer tells whether it is
    restored and which max parallelism each vertex ends up with, or at which stage and with which error it is refused.
    """
    from penstock.flink import batch

    with guard():
        lines = (line.decode(errors="replace") for line in sys.stdin.buffer)
        for verdict in batch.restores(lines, flink):
            click.echo(json.dumps(verdict))


@click.command(
    cls=ProgramCommand,
    epilog="""\b
Examples:
  penstock savepoint check /data/flink/savepoint-1f0c2a-6d3b9c01e7f2 counts.py
  penstock savepoint check --flink 2.3 --json /data/flink/checkpoints/8a1f/chk-17 counts.py --window 20
  penstock savepoint check --allow-non-restored-state /data/jobs/counts counts.py
""",
)
@click.option("--flink", type=click.Choice(PROFILES), help="Who restores.  [default: as the program says, or 1.11]")
@of_job
@means_pyflink
@click.option("-n", "--allow-non-restored-state", "allow", is_flag=True, help="State may be left behind.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("place", metavar="SAVEPOINT")
@program_file
@program_arguments
def check(
    flink: str | None,
    job: str | None,
    pyflink: bool,
    allow: bool,
    as_json: bool,
    place: str,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Say whether the program FILE can be restored from a savepoint, before anything runs.

    The program runs with ARGS until its first env.execute(), or that of --job. Of a savepoint of Apache Flink it is
    said what Flink does: refused with which message, or which max parallelism each vertex ends up with; and what Flink
    says nothing about, such as state that another operator gets, or that is lost. The exit status is 1 if it is
    refused, or state is lost or wrong without a word.
    """
    from penstock.cli.program import capture_plan
    from penstock.cli.savepoint_check import checked, print_verdict

    with guard(file):
        pipeline = capture_plan(file, arguments, flink, pyflink=pyflink, job=job)
        verdict = checked(place, pipeline, allow=allow, flinks=is_flinks(place))
        print_verdict(verdict, file, as_json=as_json)
    if not verdict.good:
        sys.exit(1)


COMMANDS = (check, facts, restores)


def _drawn(content: Content) -> Iterator[RenderableType]:
    """A savepoint, for people."""
    from rich.text import Text

    from penstock.display.tables import Shown, heading, section
    from penstock.flink.cursor import plain

    what = content.kind or "Savepoint or checkpoint"
    form = f", {content.form.lower()}" if content.form else ""
    yield heading(
        f"{what} {content.checkpoint_id} of Flink (written by {content.flink}, format {content.version}{form})"
    )
    yield Text(f"  {content.place}")
    inside = f"{content.bytes:,} bytes of state, {content.metadata_bytes:,} bytes of metadata"
    yield Text(plain(f"  {inside}" + (f"; hooks: {', '.join(content.hooks)}" if content.hooks else "")))
    shown = Shown(1000)
    columns = ("operator", "uid", "operator ID", "p", ">max p", ">bytes", "key", ">key groups", "subtasks")
    rows = [tuple(map(plain, _row(each))) for each in content.operators]
    yield section("Operators", *shown.table(columns, rows, len(rows), "operators"))
    states = [
        tuple(map(plain, (each.name or each.operator_id, state.name, state.kind, state.types, _number(state.elements))))
        for each in content.operators
        for state in each.states
    ]
    if states:
        columns = ("operator", "state", "kind", "types", ">elements")
        yield section("States", *shown.table(columns, states, len(states), "states"))
    for each in content.operators:
        if each.unread:
            yield Text(plain(f"  not all states of {each.name or each.operator_id} are known: {each.unread}"))
    for path in content.missing:
        yield Text(plain(f"  missing: {path}"))


def _row(each: OperatorContent) -> tuple[str, ...]:
    """A line of the table of operators."""
    subtasks = "ended" if each.ended == each.parallelism else f"{each.subtasks}" if each.subtasks else "no state"
    subtasks += f", {each.ended} ended" if 0 < each.ended < each.parallelism else ""
    named = (each.name or "", each.uid or "", each.operator_id, str(each.parallelism), str(each.max_parallelism))
    return (*named, f"{each.bytes:,}", each.key or "", _number(each.key_groups), subtasks)


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
