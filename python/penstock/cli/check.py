"""``penstock check``: whether a program goes on with its state, and which lines make it do so."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from penstock.analysis.model import ProgramModel
from penstock.cli.diff import FORMATS
from penstock.cli.opening import Planning, opened, reading
from penstock.cli.options import as_flink, means_pyflink, program_arguments, program_file
from penstock.compare.difference import Difference, compare
from penstock.compare.texts import FORMATS as MAKERS
from penstock.compare.texts import place, shown
from penstock.errors import FileFormatError
from penstock.lock.format import NAME, model_of_lock, program_of, written
from penstock.lock.pins import Pin, pins

_ROUNDS = 5
"""How often pins are written and the program is planned anew: a uid of its own moves what is behind an operator."""


@click.command(
    name="check",
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  penstock check counts.py
  penstock check --fix counts.py
  penstock check --from-savepoint /data/savepoints/savepoint-1f0c2a counts.py
  penstock check --format github counts.py
""",
)
@click.option("--lock", "path", type=click.Path(dir_okay=False), help="The file.  [default: penstock.lock beside FILE]")
@click.option("--from-savepoint", "savepoint", metavar="PLACE", help="Compare with a savepoint, or a job folder.")
@click.option("--fix", is_flag=True, help="Write the lines that keep the state into the program.")
@click.option("--allow-non-restored-state", is_flag=True, help="State may be left behind.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the output.")
@as_flink
@means_pyflink
@program_file
@program_arguments
def command(
    path: str | None,
    savepoint: str | None,
    fix: bool,
    allow_non_restored_state: bool,
    form: str,
    flink: str | None,
    pyflink: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Fail if the program FILE would lose state.

    It is compared with its lock file, or with a savepoint; then the lock file says more of why operators have moved. If
    state would be lost, the lines are printed that give its operators the IDs that their state lies under.

    The exit status is 0 if no state is lost, 1 if some is or a restore would be refused, and 2 if something cannot be
    read.
    """
    lock = Path(path) if path is not None else Path(file).parent / NAME
    planning = Planning(flink, pyflink, arguments)
    with reading(file):
        old = _old(file, lock, savepoint, explicit=path is not None)
        check = _Check(file, planning, old, allow_non_restored_state)
        found = check.first()
        if fix and not found.safe:
            found = check.fixed(found)
        _tell(found, form, file)
        if found.safe and form == "text" and savepoint is None:
            _tell_age(found, lock, file)
    sys.exit(0 if found.safe else 1)


def _old(file: str, lock: Path, savepoint: str | None, *, explicit: bool) -> ProgramModel:
    """What the program is compared with."""
    locked = None
    if lock.is_file() and (savepoint is None or explicit or _is_of(lock, file)):
        locked = model_of_lock(lock.read_text(encoding="utf-8", errors="replace"), str(lock))
    if savepoint is not None:
        from penstock.compare.saved import joined

        saved = opened(savepoint, Planning())
        return saved if locked is None else joined(locked, saved)
    if locked is None:
        raise FileFormatError(
            f"There is no lock file {str(lock)!r} to compare {file!r} with. Write it while the program is as it runs "
            f"now: penstock lock {file}; or compare with a savepoint: --from-savepoint PLACE."
        )
    if not explicit and not _is_of(lock, file):
        raise FileFormatError(
            f"{str(lock)!r} is of another program than {Path(file).name!r}. Give each program in a folder a lock "
            f"file of its own: penstock lock --lock {Path(file).stem}.lock {file}, and the same with check."
        )
    return locked


def _is_of(lock: Path, file: str) -> bool:
    import json

    try:
        document = json.loads(lock.read_text(encoding="utf-8", errors="replace"))
    except ValueError:
        return True  # reading it says what is wrong
    return not isinstance(document, dict) or program_of(document) in ("", Path(file).name)


@dataclass(frozen=True)
class _Check:
    """A program, and what it is compared with."""

    file: str
    planning: Planning
    old: ProgramModel
    allow: bool

    def first(self) -> Difference:
        """The comparison."""
        return compare(self.old, opened(self.file, self.planning), allow=self.allow)

    def fixed(self, found: Difference) -> Difference:
        """The comparison after pins have been written into the program, as long as that helps."""
        from penstock.lock.fixing import fix

        left: dict[str, str] = {}
        for _ in range(_ROUNDS):
            done = fix(pins(found))
            left = {f"{shown(pin.operator)}: {pin.text}": why for pin, why in done.left}
            for pin in done.written:
                click.echo(f"written: {place(pin.site)}  {pin.text}  ({shown(pin.operator)})", err=True)
            if not done.written:
                break
            found = compare(self.old, self.planning.apart(self.file), allow=self.allow)
            if found.safe:
                break
        for pin, why in left.items():
            click.echo(f"not written: {pin}: {why}", err=True)
        return found


def _tell(found: Difference, form: str, file: str) -> None:
    if form != "text":
        click.echo(MAKERS[form](found), nl=False)
        return
    if found.safe:
        click.echo(f"{file}: no state is lost.")
        return
    click.echo(f"{file} would lose state.")
    for problem in found.problems:
        where = place(problem.site)
        click.echo(f"  {problem.severity}: {shown(problem.text, 1000)}" + (f" ({where})" if where else ""))
    wanted = pins(found)
    if wanted:
        click.echo("\nTo keep it, give these operators the IDs that it lies under:")
        for pin in wanted:
            click.echo(f"  {_line(pin)}")
        click.echo(f"or have these lines written: penstock check --fix {file}")


def _line(pin: Pin) -> str:
    where = place(pin.site) or shown(pin.operator)
    call = "" if pin.site is None else f"{pin.site.call}(…)"
    instead = "" if pin.instead_of is None else f"  instead of {Pin('', pin.method, pin.instead_of, None).text}"
    return f"{where}  {call}{pin.text}{instead}"


def _tell_age(found: Difference, lock: Path, file: str) -> None:
    """Whether the lock file is of an older program."""
    if written(found.new, file) != lock.read_text(encoding="utf-8", errors="replace"):
        click.echo(f"{lock} is of an older program; when this one is deployed, write it anew: penstock lock {file}")
