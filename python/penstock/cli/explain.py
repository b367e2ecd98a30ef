"""``penstock explain``: the three graphs of a program, and why each edge that is not chained is not."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from penstock.cli.program import capture_plan
from penstock.cli.report import explanation, guard
from penstock.errors import PenstockError
from penstock.plan import PROFILES, Pipeline, plan_record

T = TypeVar("T")


@click.command(
    name="explain",
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  penstock explain word_count.py
  penstock explain word_count.py --window 20         options after FILE are the program's
  penstock explain --json word_count.py | jq .result.hashes
  penstock explain --limit 0 big_program.py | less   every row of a big graph
""",
)
@click.option(
    "--flink", type=click.Choice(PROFILES), help="Plan as this Flink.  [default: as the program says, or 1.11]"
)
@click.option("--pyflink", is_flag=True, help="Let the program's `import pyflink` mean penstock.pyflink.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: spec, result, verdicts.")
@click.option("--no-color", is_flag=True, help="No colours (there are none anyway when the output is piped).")
@click.option("--limit", type=click.IntRange(min=0), default=200, show_default=True, help="Rows per table; 0 for all.")
@click.option("--traceback", "full_traceback", is_flag=True, help="Show Python's whole traceback when planning fails.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True))
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(
    flink: str | None,
    pyflink: bool,
    as_json: bool,
    no_color: bool,
    limit: int,
    full_traceback: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Show how the program FILE is planned, without running a job.

    The program runs with its arguments ARGS until its first env.execute(); what it prints goes to standard error.
    Shown are the StreamGraph (its operators, their IDs, and for each edge whether it is chained or the rule that
    forbids it), the JobGraph (vertices, their chains, what they read) and the ExecutionGraph (subtasks and fan-out).
    """
    with guard(file, full_traceback=full_traceback):
        pipeline = capture_plan(file, arguments, flink, pyflink=pyflink)
        if as_json:
            click.echo(json.dumps(document(pipeline), indent=2))
        else:
            _show(pipeline, no_color=no_color, limit=limit or sys.maxsize)


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


def _show(pipeline: Pipeline, *, no_color: bool, limit: int) -> None:
    """Print the graphs one after the other; a graph that is refused ends the output with the reason."""
    from penstock.cli.render import printer
    from penstock.display.tables import Shown, heading
    from penstock.plan import drawing

    show, shown = printer(no_color=no_color), Shown(limit, " (--limit 0 shows all)")
    title = f'Plan of job "{pipeline.name}"' + (f" as Flink {pipeline.flink}" if pipeline.flink != PROFILES[0] else "")
    show(heading(title), drawing.stream_graph(pipeline.stream_graph, shown))
    if pipeline.descriptions:
        show(*drawing.descriptions(pipeline.descriptions, shown))
    job_graph = _step(pipeline.job_graph)
    show(drawing.job_graph(job_graph, shown))
    show(drawing.execution_graph(_step(job_graph.execution_graph), shown))


def _step(make: Callable[[], T]) -> T:
    try:
        return make()
    except PenstockError as error:
        click.echo()
        click.echo(explanation(error), err=True)
        sys.exit(1)
