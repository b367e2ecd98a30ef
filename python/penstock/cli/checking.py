"""What ``penstock check`` does: the comparison, the lines that are written, and what is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from penstock.analysis.model import ProgramModel
from penstock.cli.opening import Planning, opened
from penstock.compare.difference import Difference, compare
from penstock.compare.texts import FORMATS as MAKERS
from penstock.compare.texts import place, shown
from penstock.errors import FileFormatError
from penstock.lock.format import model_of_lock, program_of, written
from penstock.lock.pins import Pin, pins

_ROUNDS = 5
"""How often pins are written and the program is planned anew: a uid of its own moves what is behind an operator."""


def old_of(file: str, lock: Path, savepoint: str | None, *, explicit: bool) -> ProgramModel:
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
class Check:
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


def tell(found: Difference, form: str, file: str) -> None:
    """Print what was found, in one of the formats."""
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


def tell_age(found: Difference, lock: Path, file: str) -> None:
    """Whether the lock file is of an older program."""
    if written(found.new, file) != lock.read_text(encoding="utf-8", errors="replace"):
        click.echo(f"{lock} is of an older program; when this one is deployed, write it anew: penstock lock {file}")
