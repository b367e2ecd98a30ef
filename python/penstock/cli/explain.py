"""``penstock explain``: the three graphs of a program, why each edge that is not chained is not, and why an operator
has the ID that it has."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from penstock.analysis.formats.lines import FORMATS, LEVELS
from penstock.cli.options import as_flink, means_pyflink, program_arguments, program_file
from penstock.cli.program import capture_plan
from penstock.cli.report import explanation, guard
from penstock.errors import PenstockError
from penstock.plan import PROFILES, Pipeline, plan_record


@click.command(
    name="explain",
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  penstock explain word_count.py
  penstock explain word_count.py --window 20         options after FILE are the program's
  penstock explain --why word-counter word_count.py  what made the ID of this uid, name or number
  penstock explain --format mermaid --level stream word_count.py
  penstock explain --format flink-stream word_count.py   for Flink's plan visualizer
  penstock explain --json word_count.py | jq .result.hashes
  penstock explain --limit 0 big_program.py | less   every row of a big graph
""",
)
@as_flink
@means_pyflink
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="terminal",
    show_default=True,
    help="As what the plan is written; the last two are Flink's own.",
)
@click.option("--level", type=click.Choice(LEVELS), help="Only this graph.  [default: all; in a picture, job]")
@click.option("--why", metavar="OPERATOR", help="Say what made this operator's ID, and which edits would move it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: spec, result, verdicts.")
@click.option("--no-color", is_flag=True, help="No colours (there are none anyway when the output is piped).")
@click.option("--limit", type=click.IntRange(min=0), default=200, show_default=True, help="Rows per table; 0 for all.")
@click.option("--traceback", "full_traceback", is_flag=True, help="Show Python's whole traceback when planning fails.")
@program_file
@program_arguments
def command(
    flink: str | None,
    pyflink: bool,
    form: str,
    level: str | None,
    why: str | None,
    as_json: bool,
    no_color: bool,
    limit: int,
    full_traceback: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Show how the program FILE is planned, without running a job.

    The program runs with its arguments ARGS until its first env.execute(); what it prints goes to standard error.
    Shown are the StreamGraph (its operators, their IDs and where these come from, and for each edge whether it is
    chained or the rule that forbids it), the JobGraph (vertices, their chains, what they read) and the ExecutionGraph
    (subtasks and fan-out). With --format json, functions are opened to see which states they declare.
    """
    with guard(file, full_traceback=full_traceback):
        pipeline = capture_plan(file, arguments, flink, pyflink=pyflink)
        if as_json:
            click.echo(json.dumps(document(pipeline), indent=2))
        elif why is not None or form != "terminal":
            _write(pipeline, form, level, why)
        else:
            _show(pipeline, LEVELS if level is None else (level,), no_color=no_color, limit=limit or sys.maxsize)


def _write(pipeline: Pipeline, form: str, level: str | None, why: str | None) -> None:
    from penstock.analysis.explain import explain, explain_id

    text = explain(pipeline, form, level) if why is None else explain_id(pipeline, why, form)
    click.echo(text)


def document(pipeline: Pipeline) -> dict[str, Any]:
    """What ``--json`` prints: the StreamGraph as a SPEC, everything planned from it as a RESULT, and the verdicts.

    Args:
        pipeline: the captured program.
    """
    graph = pipeline.stream_graph
    verdicts = [
        {"edge": verdict.edge, "chained": verdict.chained, "rule": verdict.rule, "reason": verdict.reason}
        for verdict in graph.verdicts()
    ]
    described = {"descriptions": {str(node): text for node, text in sorted(pipeline.descriptions.items())}}
    return {
        "job": pipeline.name,
        "spec": graph.to_dict(),
        "result": json.loads(plan_record(graph.to_json(), pipeline.flink)),
        "verdicts": verdicts,
        **(described if pipeline.descriptions else {}),
    }


def _show(pipeline: Pipeline, levels: tuple[str, ...], *, no_color: bool, limit: int) -> None:
    """Print the graphs one after the other; a graph that is refused ends the output with the reason."""
    from penstock.cli.render import printer
    from penstock.display.tables import Shown, heading
    from penstock.plan import drawing

    show, shown = printer(no_color=no_color), Shown(limit, " (--limit 0 shows all)")
    title = f'Plan of job "{pipeline.name}"' + (f" as Flink {pipeline.flink}" if pipeline.flink != PROFILES[0] else "")
    parts: list[Any] = [heading(title)]
    try:
        for part in drawing.program(pipeline, shown, levels):
            parts.append(part)
            show(*parts)
            parts = []
    except PenstockError as error:
        show(*parts)
        click.echo()
        click.echo(explanation(error), err=True)
        sys.exit(1)
