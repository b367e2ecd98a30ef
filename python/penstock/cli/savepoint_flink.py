"""``penstock savepoint check | entries | facts | restores``, and how ``show``, ``verify`` and ``diff`` do with
savepoints of Apache Flink."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from penstock.cli.options import Command, ProgramCommand, means_pyflink, of_job, planned, prints_json, program
from penstock.cli.program import Planning
from penstock.cli.report import guard
from penstock.errors import ConfigurationError, FlinkSavepointError, UnsupportedError
from penstock.plan import PROFILES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.common.findings import Difference
    from penstock.flink.contents import Content, OperatorContent


def is_flinks(place: str) -> bool:
    """Whether a place has a savepoint of Flink; what is not a place has none."""
    from penstock.flink import places

    try:
        return places.is_flinks(place)
    except (OSError, ConfigurationError, UnsupportedError):
        return False


def content(place: str) -> Content:
    """What is in a savepoint of Flink."""
    from penstock.flink.contents import content_of
    from penstock.flink.places import newest
    from penstock.flink.savepoint import read_savepoint

    return content_of(read_savepoint(newest(place)))


def verify(place: str) -> bool:
    """Say what is wrong with a savepoint of Flink; whether nothing is."""
    from penstock.display.tables import count
    from penstock.flink.contents import verify
    from penstock.flink.cursor import plain
    from penstock.flink.savepoint import read_savepoint

    savepoint = read_savepoint(place)
    problems, files = verify(savepoint)
    for problem in problems:
        click.echo(plain(f"damaged: {problem}"), err=True)
    if not problems:
        beside, size = f"{count(files, 'file')} beside _metadata", savepoint.metadata.total_state_size
        click.echo(f"good: {place}, {beside}, {size:,} bytes of state; Flink keeps no checksums")
    return not problems


def differences(one: str, other: str) -> list[Difference] | None:
    """The differences of two savepoints of Flink; None if neither is one, a ConfigurationError if only one is."""
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


@click.command(cls=Command)
@click.option("--flink", type=click.Choice(PROFILES), help="Version of Flink.  [default: the writer's]")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
def facts(flink: str | None, folders: tuple[str, ...]) -> None:
    """Print all that Flink's classes read in savepoints of Flink: a line of JSON for each.

    FOLDER has a file _metadata, or is that file. A savepoint that cannot be read gives a line with the error that Flink
    throws, and the exit status 0: the line is the answer.

    Examples:
      penstock savepoint facts /data/flink/savepoint-1f0c2a-6d3b9c01e7f2
      penstock savepoint facts --flink 1.11 /data/flink/checkpoints/8a1f/chk-17 | jq .savepoint.operators
    """
    from penstock.flink.facts import line

    with guard():
        for folder in folders:
            click.echo(json.dumps(line(folder, flink)))


@click.command(cls=Command)
@click.option(
    "--operator", "operators", metavar="NAME", multiple=True, help="Only of this operator: an ID, uid or name."
)
@click.option("--state", "states", metavar="NAME", multiple=True, help="Only of states with this name.")
@click.argument("folder")
def entries(operators: tuple[str, ...], states: tuple[str, ...], folder: str) -> None:
    """Print the entries of all states in a savepoint of Flink: a line of JSON for each.

    FOLDER has a file _metadata, or is that file. A line has the operator, the state, its kind, the subtask, and, as
    far as there are such, key group, key, namespace (the window) and value. Nothing is unpickled. A state that cannot
    be read is an error on standard error, the others are printed, and the exit status is 1.

    Examples:
      penstock savepoint entries /data/flink/savepoint-1f0c2a-6d3b9c01e7f2
      penstock savepoint entries --operator counts --state total /data/flink/savepoint-1f0c2a-6d3b9c01e7f2 | jq .value
    """
    from penstock.cli.report import explanation
    from penstock.flink.entries import read_entries
    from penstock.flink.entries.documents import lines
    from penstock.flink.places import newest
    from penstock.flink.savepoint import read_savepoint

    refusals: list[FlinkSavepointError] = []
    with guard():
        read = read_entries(
            read_savepoint(newest(folder)),
            operators=operators or None,
            states=states or None,
            refused=refusals.append,
        )
        out = sys.stdout
        for line in lines(read):
            out.write(f"{line}\n")
    for refusal in refusals:
        click.echo(explanation(refusal), err=True)
    if refusals:
        sys.exit(1)


@click.command(cls=Command)
@click.option("--flink", type=click.Choice(PROFILES), default=PROFILES[0], show_default=True, help="Version of Flink.")
def restores(flink: str) -> None:
    """Say what Flink does with restores, without Flink: a line of JSON for each line of standard input.

    A line is {"savepoint": FOLDER, "spec": GRAPH, "allow_non_restored_state": BOOL}. The answer tells whether it is
    restored and which max parallelism each vertex ends up with, or at which stage and with which error it is refused.

    Examples:
      penstock savepoint restores --flink 2.3 < pairs.jsonl
    """
    from penstock.flink import batch

    with guard():
        lines = (line.decode(errors="replace") for line in sys.stdin.buffer)
        for verdict in batch.restores(lines, flink):
            click.echo(json.dumps(verdict))


@click.command(cls=ProgramCommand)
@planned(
    click.option("--flink", type=click.Choice(PROFILES), help="Version of Flink.  [default: the program's, or 1.11]"),
    of_job,
    means_pyflink,
)
@click.option("-n", "--allow-non-restored-state", "allow", is_flag=True, help="State may be left behind.")
@prints_json
@click.argument("place", metavar="SAVEPOINT")
@program
def check(planning: Planning, allow: bool, as_json: bool, place: str, file: str) -> None:
    """Say whether the program FILE can be restored from a savepoint, before anything runs.

    The program runs with ARGS until its first env.execute(), or that of --job. Of a savepoint of Apache Flink it is
    said what Flink does: refused with which message, or which max parallelism each vertex ends up with; and what Flink
    says nothing about, such as state that another operator gets, or that is lost. The exit status is 1 if it is
    refused, or state is lost or wrong without a word.

    Examples:
      penstock savepoint check /data/flink/savepoint-1f0c2a-6d3b9c01e7f2 counts.py
      penstock savepoint check --flink 2.3 --json /data/flink/checkpoints/8a1f/chk-17 counts.py --window 20
      penstock savepoint check --allow-non-restored-state /data/jobs/counts counts.py
    """
    from penstock.cli.savepoint_check import checked, print_verdict

    with guard(file):
        verdict = checked(place, planning.plan(file), allow=allow, flinks=is_flinks(place))
        print_verdict(verdict, file, as_json=as_json)
    if not verdict.good:
        sys.exit(1)


COMMANDS = (check, entries, facts, restores)


def drawn(content: Content) -> Iterator[RenderableType]:
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
    columns = ("operator", "uid", "operator ID", "p", ">max p", ">bytes", "key", ">key groups", "subtasks")
    rows = (map(plain, _row(operator)) for operator in content.operators)
    yield section("Operators", *Shown(1000).listed(columns, rows, "operators"))
    states = [
        tuple(map(plain, (operator.title, state.name, state.kind, state.types, _number(state.elements))))
        for operator in content.operators
        for state in operator.states
    ]
    if states:
        columns = ("operator", "state", "kind", "types", ">elements")
        yield section("States", *Shown(1000).listed(columns, states, "states"))
    for operator in content.operators:
        if operator.unread:
            yield Text(plain(f"  not all states of {operator.title} are known: {operator.unread}"))
    for path in content.missing:
        yield Text(plain(f"  missing: {path}"))


def _row(operator: OperatorContent) -> tuple[str, ...]:
    ended, parallelism = operator.ended, operator.parallelism
    subtasks = "ended" if ended == parallelism else f"{operator.subtasks}" if operator.subtasks else "no state"
    subtasks += f", {ended} ended" if 0 < ended < parallelism else ""
    named = operator.name or "", operator.uid or "", operator.operator_id, str(parallelism)
    sizes = str(operator.max_parallelism), f"{operator.bytes:,}"
    return (*named, *sizes, operator.key or "", _number(operator.key_groups), subtasks)


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
