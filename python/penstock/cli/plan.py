"""``penstock plan``: graphs in, plans out, a line for a line.

Memory is that of one graph; a line is answered before the next one is read.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import click

from penstock.cli.options import Command
from penstock.cli.report import guard
from penstock.errors import PenstockError
from penstock.plan import PROFILES, plan_record

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"  # what Flink's own readers throw at a description that is none

_OPENING, _COLON, _COMMA = (re.compile(rf"\s*{mark}\s*") for mark in (r"\{", ":", ","))


@click.command("plan", Command)
@click.option(
    "--flink", type=click.Choice(PROFILES), default=PROFILES[0], show_default=True, help="Plan as this Flink."
)
@click.argument("specs", type=click.File("rb"))
def command(flink: str, specs: BinaryIO) -> None:
    """Plan bare graphs: print one RESULT line for each SPEC line of the file SPECS, in order ('-' reads standard
    input).

    A SPEC is a StreamGraph as one line of JSON (docs/planning.md has its fields), or a record {"spec": SPEC}. A
    RESULT holds the StreamGraph's edges, the operator IDs, both plan JSON texts, the JobGraph and the ExecutionGraph.
    Where a step is refused, the RESULT has {"error": {"class", "message"}} in its place, with the class that Flink
    throws there; a line that is not a graph gives such an object alone. Blank lines are skipped.

    Examples:
      penstock plan graphs.jsonl > plans.jsonl
      generate-graphs | penstock plan - | head -n 1
    """
    with guard():
        out = sys.stdout.buffer
        for result in results(specs, flink):
            out.write(result.encode() + b"\n")
            out.flush()


def results(lines: Iterable[bytes], flink: str = PROFILES[0]) -> Iterator[str]:
    """The RESULT line of each SPEC line, lazily; a line is UTF-8: a SPEC or a record with a member "spec"."""
    for line in lines:
        if line.isspace():
            continue
        try:
            yield _result(line.decode("utf-8"), flink)
        except UnicodeDecodeError as error:
            yield _refusal(f"The line is not UTF-8 text: {error}.", ILLEGAL_ARGUMENT)
        except PenstockError as error:
            yield _refusal(str(error), error.flink_class)


def _result(line: str, flink: str) -> str:
    """The planner's answer to a line. For a line that is not a JSON object it is the error."""
    spec = _spec_text(line)
    result = plan_record(spec, flink)
    if '"stream_graph":{"error":' not in result:
        return result
    try:
        if isinstance(json.loads(spec), dict):
            return result
    except (ValueError, RecursionError):
        pass
    error = json.loads(result)["stream_graph"]["error"]
    return _refusal(error["message"], error["class"])


def _refusal(message: str, flink_class: str | None) -> str:
    return json.dumps({"error": {"class": flink_class, "message": message}})


def _spec_text(line: str) -> str:
    """The SPEC in a line: the line itself, or the text of its member "spec"; never parsed and written again."""
    if '"spec"' not in line:
        return line
    try:
        return next((value for key, value in _members(line) if key == "spec"), line)
    except (ValueError, RecursionError):
        return line  # broken or bottomless JSON: the planner says so


def _members(text: str) -> Iterator[tuple[str, str]]:
    """The members of a JSON object, values as the text they were written in."""
    decode = json.JSONDecoder().raw_decode
    separator, position = _OPENING.match(text), 0
    while separator is not None:
        key, position = decode(text, separator.end())
        colon = _COLON.match(text, position)
        if not isinstance(key, str) or colon is None:
            return
        start = colon.end()
        _, position = decode(text, start)
        yield key, text[start:position]
        separator = _COMMA.match(text, position)
