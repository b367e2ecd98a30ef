"""``penstock view``: the plan of a program as a page."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from penstock.cli.options import ProgramCommand, as_flink, means_pyflink, of_job, program_arguments, program_file
from penstock.cli.program import capture_plan
from penstock.cli.report import guard


@click.command(
    name="view",
    cls=ProgramCommand,
    epilog="""\b
Examples:
  penstock view word_count.py                          writes plan.html
  penstock view --open word_count.py --window 20       options after FILE: its own
  penstock view --diff old/word_count.py word_count.py
""",
)
@click.option("-o", "--output", default="plan.html", show_default=True, metavar="PAGE", help="The file to write.")
@click.option("--diff", "old", metavar="OLD", help="Show what has changed since OLD, whatever `penstock diff` takes.")
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
@of_job
@as_flink
@means_pyflink
@click.option("--traceback", "full_traceback", is_flag=True, help="Show Python's whole traceback when planning fails.")
@program_file
@program_arguments
def command(
    output: str,
    old: str | None,
    show: bool,
    job: str | None,
    flink: str | None,
    pyflink: bool,
    full_traceback: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Write the plan of the program FILE as a page: one HTML file that needs nothing else.

    The program runs with its arguments ARGS until its first env.execute(), or that of --job; what it prints goes to
    standard error. The page shows its three graphs, chains, operator IDs, states, why edges are not chained, and the
    lines of the program that made the operators.
    """
    from penstock.cli.compared_plans import Planning, opened
    from penstock.viewer import view

    with guard(file, full_traceback=full_traceback):
        plan = capture_plan(file, arguments, flink, pyflink=pyflink, job=job)
        before = None if old is None else opened(old, Planning(flink, pyflink, arguments, job), apart=True)
        place = view(plan, before).save(output)
        click.echo(str(place))
        if show:
            webbrowser.open(Path(place).resolve().as_uri())
