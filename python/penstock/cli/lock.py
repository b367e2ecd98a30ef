"""``penstock lock``: the lock file of a program, for review and for ``penstock check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.compared_plans import opened, reading
from penstock.cli.options import ProgramCommand, lock_file, planned, program
from penstock.cli.program import Planning
from penstock.cli.program_processes import same_program
from penstock.errors import FileFormatError

if TYPE_CHECKING:
    from penstock.analysis.model import ProgramModel
    from penstock.compare.difference import Difference


@click.command("lock", ProgramCommand)
@lock_file
@click.option("--accept-loss", is_flag=True, help="Write it although the program loses state that the file there has.")
@planned()
@program
def command(path: str | None, accept_loss: bool, planning: Planning, file: str) -> None:
    """Write the lock file of the program FILE: its operators with their IDs, uids, states and types.

    The file is for version control: what an edit of the program does to operator IDs and state is a change of few
    lines in it, and `penstock check` compares with it. The program runs with its arguments ARGS until its first
    env.execute(), or that of --job; each job of a program has a lock file of its own.

    If there is a lock file already and the program would lose state compared with it, the file stays as it is and the
    exit status is 1, unless --accept-loss is given. The lock file of another program is never overwritten; the exit
    status is 2 then.

    Examples:
      penstock lock counts.py
      penstock lock --accept-loss counts.py              although state is lost
      penstock lock --lock locks/counts.lock counts.py --window 20   its own options after FILE
    """
    from penstock.cli.comparison import refuse_other_job
    from penstock.compare.difference import compare
    from penstock.compare.texts import shown
    from penstock.lock.format import NAME, written

    target = Path(path) if path is not None else Path(file).parent / NAME
    with reading(file):
        before = target.read_text(encoding="utf-8", errors="replace") if target.is_file() else None
        locked = None if before is None else _locked(before, target, file, accept_loss=accept_loss)
        model = opened(file, planning)
        text = written(model, file)
        difference = None if locked is None else compare(locked, model)
        if difference is not None and planning.job is not None:
            refuse_other_job(target, difference, file)
    if difference is not None and difference.problems and not accept_loss:
        _refuse(difference, target, file)
        sys.exit(1)
    with reading(file):
        target.write_text(text, encoding="utf-8", newline="\n")
    for problem in () if difference is None else difference.problems:
        click.echo(f"accepted: {problem.severity}: {shown(problem.full, 1000)}", err=True)
    outcome = "written" if before is None else "as it was" if before == text else "written again"
    click.echo(f"{target}: {outcome}, {text.count(chr(10) + '  {')} operators")


def _locked(text: str, place: Path, file: str, *, accept_loss: bool) -> ProgramModel | None:
    """The model of the existing lock file; None if it is damaged and does not matter.

    Raises:
        FileFormatError: it is not a lock file, or that of another program, or damaged.
    """
    from penstock.cli.comparison import refuse_other_program
    from penstock.lock.format import looks_like_lock, model_of_lock

    if not looks_like_lock(text):
        raise FileFormatError(
            f"{str(place)!r} is not a lock file, so it is not overwritten. Give another path to --lock."
        )
    refuse_other_program(place, file)
    try:
        return model_of_lock(text, str(place))
    except FileFormatError:
        if accept_loss:
            return None
        raise


def _refuse(difference: Difference, target: Path, file: str) -> None:
    from penstock.cli.comparison import tell

    tell(difference, "text", file)
    again = same_program("lock", "--accept-loss")
    click.echo(f"\n{target} stays as it is. If that state is not needed any more: {again}")
