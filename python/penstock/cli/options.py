"""Options and arguments that several commands have: the program, and how it is planned."""

from __future__ import annotations

import click

from penstock.plan import PROFILES

__all__ = ["as_flink", "means_pyflink", "program_arguments", "program_file"]

as_flink = click.option(
    "--flink", type=click.Choice(PROFILES), help="Plan as this Flink.  [default: as the program says, or 1.11]"
)
means_pyflink = click.option(
    "--pyflink", is_flag=True, help="Let the program's `import pyflink` mean penstock.pyflink."
)
program_file = click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True))
program_arguments = click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
