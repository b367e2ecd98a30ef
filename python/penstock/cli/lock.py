"""``penstock lock``: the lock file of a program, for review and for ``penstock check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.opening import Planning, opened, reading
from penstock.cli.options import as_flink, means_pyflink, program_arguments, program_file
from penstock.errors import FileFormatError

if TYPE_CHECKING:
    from penstock.analysis.model import ProgramModel
    from penstock.compare.difference import Problem


@click.command(
    name="lock",
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  penstock lock counts.py
  penstock lock --lock locks/counts.lock counts.py --window 20   its own options after FILE
""",
)
@click.option("--lock", "path", type=click.Path(dir_okay=False), help="The file.  [default: penstock.lock beside FILE]")
@as_flink
@means_pyflink
@program_file
@program_arguments
def command(path: str | None, flink: str | None, pyflink: bool, file: str, arguments: tuple[str, ...]) -> None:
    """Write the lock file of the program FILE: its operators with their IDs, uids, states and types.

    The file is for version control: what an edit of the program does to operator IDs and state is a change of few
    lines in it, and `penstock check` compares with it. The program runs with its arguments ARGS until its first
    env.execute().
    """
    from penstock.lock.format import NAME, written

    target = Path(path) if path is not None else Path(file).parent / NAME
    with reading(file):
        model = opened(file, Planning(flink, pyflink, arguments))
        text = written(model, file)
        before = target.read_text(encoding="utf-8", errors="replace") if target.is_file() else None
        lost = _accepted(before, model, str(target))
        target.write_text(text, encoding="utf-8", newline="\n")
    for problem in lost:
        click.echo(f"accepted: {problem.severity}: {problem.text}", err=True)
    said = "written" if before is None else "as it was" if before == text else "written anew"
    click.echo(f"{target}: {said}, {text.count(chr(10) + '  {')} operators")


def _accepted(before: str | None, model: ProgramModel, place: str) -> tuple[Problem, ...]:
    """What the lock file that was there would say of the program; nothing if that is damaged, as by a merge."""
    from penstock.compare.difference import compare
    from penstock.lock.format import model_of_lock

    try:
        return () if before is None else compare(model_of_lock(before, place), model).problems
    except FileFormatError:
        return ()
