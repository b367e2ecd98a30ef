"""``penstock view``: the plan of a program as a page."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from penstock.cli.options import ProgramCommand, full_traceback, opens_browser, planned, program
from penstock.cli.program import Planning
from penstock.cli.report import guard


@click.command("view", ProgramCommand)
@click.option("-o", "--output", default="plan.html", show_default=True, metavar="PAGE", help="The file to write.")
@click.option("--diff", "old", metavar="OLD", help="Show what has changed since OLD, whatever `penstock diff` takes.")
@opens_browser
@planned()
@full_traceback("when planning fails")
@program
def command(output: str, old: str | None, show: bool, planning: Planning, full_traceback: bool, file: str) -> None:
    """Write the plan of the program FILE as a page: one HTML file that needs nothing else.

    The program runs with its arguments ARGS until its first env.execute(), or that of --job; what it prints goes to
    standard error. The page shows its three graphs, chains, operator IDs, states, why edges are not chained, and the
    lines of the program that made the operators.

    Examples:
      penstock view word_count.py                          writes plan.html
      penstock view --open word_count.py --window 20       options after FILE: its own
      penstock view --diff old/word_count.py word_count.py
    """
    from penstock.cli.compared_plans import opened
    from penstock.viewer import view

    with guard(file, full_traceback=full_traceback):
        plan = planning.plan(file)
        before = None if old is None else opened(old, planning, apart=True)
        place = view(plan, before).save(output)
        click.echo(str(place))
        if show:
            webbrowser.open(Path(place).resolve().as_uri())
