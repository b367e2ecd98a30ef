"""``penstock explain``: the three graphs of a program, why each edge that is not chained is not, and why an operator
has the ID that it has."""

from __future__ import annotations

import sys

import click

from penstock.analysis.texts import FORMATS, LEVELS
from penstock.cli import options
from penstock.cli.program import Planning
from penstock.cli.report import explanation, guard
from penstock.errors import PenstockError
from penstock.plan import PROFILES, Pipeline


@click.command("explain", options.ProgramCommand)
@options.planned(options.of_jobs, options.as_flink, options.means_pyflink)
@options.written_as(FORMATS, "As what the plan is written; the last two are Flink's own.")
@click.option("--level", type=click.Choice(LEVELS), help="Only this graph.  [default: all; in a picture, job]")
@click.option("--why", metavar="OPERATOR", help="Say what made this operator's ID, and which edits would move it.")
@click.option("--native", is_flag=True, help="Say of each function whether native code runs it, and if not, why.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--no-color", is_flag=True, help="No colours (there are none anyway when the output is piped).")
@click.option("--limit", type=click.IntRange(min=0), default=200, show_default=True, help="Rows per table; 0 for all.")
@options.full_traceback("when planning fails")
@options.program
def command(
    planning: Planning,
    form: str,
    level: str | None,
    why: str | None,
    native: bool,
    as_json: bool,
    no_color: bool,
    limit: int,
    full_traceback: bool,
    file: str,
) -> None:
    """Show how the program FILE is planned, without running a job.

    The program runs with its arguments ARGS until its first env.execute(), or that of --job; what it prints goes to
    standard error. With --job all there is a plan, or a document, for each job. Shown are the StreamGraph (its
    operators, their IDs and where these come from, and for each edge whether it is chained or the rule that forbids
    it), the JobGraph (vertices, their chains, what they read) and the ExecutionGraph (subtasks and fan-out). Functions
    are opened to see which states they declare, except for pictures and Flink's own formats.

    Examples:
      penstock explain word_count.py
      penstock explain word_count.py --window 20         options after FILE are the program's
      penstock explain --why word-counter word_count.py  what made the ID of this uid, name or number
      penstock explain --native word_count.py            which functions native code runs
      penstock explain --format mermaid --level stream word_count.py
      penstock explain --format flink-stream word_count.py   for Flink's plan visualizer
      penstock explain --job all etl.py                  a program with several jobs
      penstock explain --json word_count.py | jq '.operators[].operator_id'
      penstock explain --limit 0 big_program.py | less   every row of a big graph
    """
    with guard(file, full_traceback=full_traceback):
        form = "json" if as_json else form
        if native and (why is not None or level is not None or form not in ("terminal", "json")):
            raise click.UsageError(
                "--native has a form of its own, for terminals or as JSON. Leave out --why, --level and other formats."
            )
        for number, pipeline in enumerate(planning.plans(file).pipelines):
            if native:
                _show_native(pipeline, as_json=form == "json", gap=number > 0, no_color=no_color)
            elif why is not None or form != "terminal":
                from penstock.analysis.explain import explain, explain_id

                click.echo(explain(pipeline, form, level) if why is None else explain_id(pipeline, why, form))
            else:
                click.echo("\n" * (number > 0), nl=False)
                _show(pipeline, LEVELS if level is None else (level,), no_color=no_color, limit=limit or sys.maxsize)


def _show_native(pipeline: Pipeline, *, as_json: bool, gap: bool, no_color: bool) -> None:
    """Print the verdicts about the functions of a program."""
    from rich.console import Group

    from penstock.analysis import native_code
    from penstock.cli.render import printer

    if as_json:
        click.echo(native_code.as_json(pipeline))
        return
    click.echo("\n" * gap, nl=False)
    printer(no_color=no_color)(Group(*native_code.drawn(pipeline)))


def _show(pipeline: Pipeline, levels: tuple[str, ...], *, no_color: bool, limit: int) -> None:
    """Print the graphs one after the other; a graph that is refused ends the output with the reason."""
    from penstock.analysis import drawing
    from penstock.analysis.builder import model_of
    from penstock.cli.render import printer
    from penstock.display.tables import Shown, heading

    show, shown = printer(no_color=no_color), Shown(limit, " (--limit 0 shows all)")
    title = f'Plan of job "{pipeline.name}"' + (f" as Flink {pipeline.flink}" if pipeline.flink != PROFILES[0] else "")
    show(heading(title), *drawing.program(model_of(pipeline, states="stream" in levels), shown, levels))
    if levels != ("stream",):
        try:
            pipeline.job_graph().execution_graph()
        except PenstockError as error:
            click.echo()
            click.echo(explanation(error), err=True)
            sys.exit(1)
