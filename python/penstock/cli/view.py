"""``penstock view``: the plan of a program as a page."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from penstock.cli.program import capture_plan
from penstock.cli.report import guard
from penstock.plan import PROFILES


@click.command(
    name="view",
    context_settings={"allow_interspersed_args": False},
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
@click.option(
    "--flink", type=click.Choice(PROFILES), help="Plan as this Flink.  [default: as the program says, or 1.11]"
)
@click.option("--pyflink", is_flag=True, help="Let the program's `import pyflink` mean penstock.pyflink.")
@click.option("--traceback", "full_traceback", is_flag=True, help="Show Python's whole traceback when planning fails.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True))
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(
    output: str,
    old: str | None,
    show: bool,
    flink: str | None,
    pyflink: bool,
    full_traceback: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Write the plan of the program FILE as a page: one HTML file that needs nothing else.

    The program runs with its arguments ARGS until its first env.execute(); what it prints goes to standard error. The
    page shows its three graphs, chains, operator IDs, states, why edges are not chained, and the lines of the program
    that made the operators.
    """
    from penstock.cli.opening import Planning, opened
    from penstock.viewer import view

    with guard(file, full_traceback=full_traceback):
        plan = capture_plan(file, arguments, flink, pyflink=pyflink)
        before = None if old is None else opened(old, Planning(flink, pyflink, arguments), apart=True)
        place = view(plan, before).save(output)
        click.echo(str(place))
        if show:
            webbrowser.open(Path(place).resolve().as_uri())
