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

from penstock.cli.report import guard
from penstock.errors import PenstockError, SpecError

PROFILES = ("1.11",)
"""Flink versions whose plans Penstock makes."""

_OPENING = re.compile(r"\s*\{\s*")
_COLON = re.compile(r"\s*:\s*")
_COMMA = re.compile(r"\s*,\s*")


@click.command(
    name="plan",
    epilog="""\b
Examples:
  penstock plan graphs.jsonl > plans.jsonl
  generate-graphs | penstock plan - | head -n 1
""",
)
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
    throws there; a line that is no graph at all gives such an object alone. Blank lines are skipped.
    """
    with guard():
        out = sys.stdout.buffer
        for result in results(specs, flink):
            out.write(result.encode() + b"\n")
            out.flush()


def results(lines: Iterable[bytes], flink: str = "1.11") -> Iterator[str]:
    """The RESULT line of each SPEC line, lazily.

    Args:
        lines: UTF-8 lines, each a SPEC or a record with a member "spec".
        flink: the profile to plan by.
    """
    from penstock.plan import plan_record

    for line in lines:
        if line.isspace():
            continue
        try:
            yield plan_record(_spec_text(line.decode("utf-8")), flink)
        except UnicodeDecodeError as error:
            yield _refusal(SpecError(f"The line is not UTF-8 text: {error}."))
        except PenstockError as error:
            yield _refusal(error)


def _refusal(error: PenstockError) -> str:
    return json.dumps({"error": {"class": error.flink_class, "message": str(error)}})


def _spec_text(line: str) -> str:
    """The SPEC in a line: the line itself, or the text of its member "spec"; never parsed and written anew."""
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
