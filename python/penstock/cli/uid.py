"""``penstock uid``: the OperatorID that a uid stands for, and the uid or operator that an OperatorID stands for."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.options import Command, as_flink, of_jobs, prints_json
from penstock.cli.program import Planning
from penstock.cli.report import guard
from penstock.plan import PROFILES, operator_id

if TYPE_CHECKING:
    from penstock.flink.uids import Search

_ID = re.compile(r"[0-9a-f]{32}")


def _decoded(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments, if the shell's bytes were text: Python keeps the others as surrogates."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise click.BadParameter("the bytes are not text in this locale's encoding") from None
    return texts


def _ids(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    ids: list[str] = []
    for text in texts:
        words = sys.stdin.buffer.read().decode(errors="replace").split() if text == "-" else [text]
        for word in words:
            if not _ID.fullmatch(word.lower()):
                raise click.BadParameter(f"{word!r} is not an OperatorID: those have 32 hex digits")
            ids.append(word.lower())
    return tuple(dict.fromkeys(ids))


@click.command("uid", Command)
@click.option("--find", metavar="ID", multiple=True, callback=_ids, help="An OperatorID to look up; - reads many.")
@click.option("--program", "programs", metavar="FILE", multiple=True, help="Look in this program; it is not run.")
@click.option("--spec", "specs", metavar="FILE", multiple=True, help="Look in this described graph.")
@click.option("--words", metavar="FILE", multiple=True, help="Try each line of this file as a uid.")
@click.option("--savepoint", "savepoints", metavar="PLACE", multiple=True, help="Look in this savepoint.")
@of_jobs
@as_flink
@prints_json
@click.argument("texts", metavar="[TEXT]...", nargs=-1, callback=_decoded)
def command(
    find: tuple[str, ...],
    programs: tuple[str, ...],
    specs: tuple[str, ...],
    words: tuple[str, ...],
    savepoints: tuple[str, ...],
    job: str | None,
    flink: str | None,
    as_json: bool,
    texts: tuple[str, ...],
) -> None:
    """Print the OperatorID of an operator whose uid is TEXT; or with --find, what has an OperatorID.

    The ID is what `.uid(TEXT)` gives an operator in Flink and in Penstock, as 32 hex digits: murmur3_128 with seed 0
    over the UTF-8 bytes of TEXT. State, metrics and errors are addressed by it.

    An ID cannot be computed back; so it is looked for where its uid or operator may be: in programs, described graphs,
    savepoints of ours and of Flink, and among words. The exit status is 1 if one was not found.

    Examples:
      penstock uid word-counter
      penstock uid "source of orders" counts totals
      penstock uid --find b71731f1c0df9c3076c4a455334d0ad6 --program counts.py
      penstock uid --find - --words /usr/share/dict/words < ids.txt
      penstock uid --find cbc357ccb763df2852fee8c4fc7d55f2 --savepoint /data/savepoints/before
    """
    places = (programs, specs, words, savepoints)
    if not find:
        if any(places) or not texts:
            raise click.UsageError("Give a TEXT, or --find ID and where to look for it.")
        with guard():
            _print_ids(texts, as_json)
        return
    if texts or not any(places):
        raise click.UsageError("With --find, say where to look: --program, --spec, --words or --savepoint.")
    with guard():
        _print_found(_searched(find, places, job, flink), as_json)


def _print_ids(texts: tuple[str, ...], as_json: bool) -> None:
    ids = {text: operator_id(text) for text in texts}
    if as_json:
        click.echo(json.dumps(ids))
    for text, known_id in ids.items() if not as_json else ():
        click.echo(known_id if len(ids) == 1 else f"{known_id}  {text}")


def _searched(find: tuple[str, ...], places: tuple[tuple[str, ...], ...], job: str | None, flink: str | None) -> Search:
    from penstock.flink.plans import plan_of
    from penstock.flink.uids import Search

    search, (programs, specs, words, savepoints) = Search(find), places
    for file in programs:
        for pipeline in Planning(flink, job=job).plans(file).pipelines:
            search.in_program(plan_of(pipeline, pipeline.flink), file)
    for file in specs:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
        with suppress(ValueError):  # the planner says what is wrong with it
            document = json.loads(text)  # the graph itself, or what `explain --json` has printed around it
            if isinstance(document, dict) and "spec" in document:
                text = json.dumps(document["spec"])
        search.in_program(plan_of(text, flink or PROFILES[0]), file)
    for file in words:
        with open(file, encoding="utf-8", errors="replace") as lines:
            search.in_words(lines, file)
    for place in savepoints:
        _in_savepoint(search, place)
    return search


def _in_savepoint(search: Search, place: str) -> None:
    from penstock.flink.places import is_flinks

    if is_flinks(place):
        from penstock.flink.savepoint import read_savepoint

        operators = read_savepoint(place).operators
        search.in_operators(((state.operator_id, state.name, state.uid) for state in operators), place)
        return
    from penstock.job.savepoint.store import read_savepoint as read_ours

    manifest = read_ours(place).manifest
    known = {**manifest.operators, **manifest.sources}
    search.in_operators(((known_id, state.name, state.uid) for known_id, state in known.items()), place)


def _print_found(search: Search, as_json: bool) -> None:
    if as_json:
        documents = {identity: [asdict(origin) for origin in origins] for identity, origins in search.origins.items()}
        click.echo(json.dumps(documents, indent=2))
    else:
        from penstock.flink.cursor import plain

        for line in search.lines():
            click.echo(plain(line))
    if not all(search.origins.values()):
        sys.exit(1)
