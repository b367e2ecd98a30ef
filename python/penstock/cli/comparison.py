"""The work of ``penstock check``: the comparison, the lines that are written, the output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from penstock.analysis.model import ProgramModel
from penstock.cli.compared_plans import model_with_classes, opened, planned_apart
from penstock.cli.program import Planning
from penstock.cli.program_processes import same_program
from penstock.cli.savepoint_flink import is_flinks
from penstock.compare.difference import Difference, compare
from penstock.compare.texts import FORMATS as MAKERS
from penstock.compare.texts import Fix, in_brackets, place, problem_lines, shown
from penstock.errors import FileFormatError
from penstock.lock.format import model_of_lock, program_of, written
from penstock.lock.pins import Pin, pins

_ROUNDS = 5
"""How often pins are written and the program is planned again: a uid of its own moves what is behind an operator."""


def old_of(file: str, lock: Path, savepoint: str | None, *, explicit: bool) -> ProgramModel:
    """The model that the program is compared with."""
    locked = None
    if explicit and savepoint is not None and not lock.is_file():
        raise FileFormatError(
            f"There is no lock file {str(lock)!r}. Leave --lock out to compare with {savepoint!r} alone."
        )
    if lock.is_file() and (savepoint is None or explicit or _is_of(lock, file)):
        locked = model_of_lock(lock.read_text(encoding="utf-8", errors="replace"), str(lock))
    if savepoint is not None:
        from penstock.compare.savepoints import joined

        saved = opened(savepoint, Planning())
        return saved if locked is None else joined(locked, saved)
    if locked is None:
        raise FileFormatError(
            f"There is no lock file {str(lock)!r} to compare {file!r} with. Write it while the program is as it runs "
            f"now: {same_program('lock')}; or compare with a savepoint: --from-savepoint PLACE."
        )
    if not explicit:
        refuse_other_program(lock, file)
    return locked


def refuse_other_program(lock: Path, file: str) -> None:
    """Raise a FileFormatError if a lock file is that of another program."""
    if not _is_of(lock, file):
        other = _program_in(lock)
        raise FileFormatError(
            f"{str(lock)!r} is the lock file of another program, {other!r}. Give each program in a folder a lock file "
            f"of its own: penstock lock --lock {Path(file).stem}.lock {file}, and the same with check. If {other!r} "
            f"was renamed to {Path(file).name!r}: compare them by penstock check --lock {lock} {file}, then remove the "
            "lock file and write it again."
        )


def refuse_other_job(lock: Path, difference: Difference, file: str) -> None:
    """Raise a FileFormatError if a lock file is that of another job of a program than the one it was compared with."""
    locked, job = difference.old.name, difference.new.name
    if locked != job:
        raise FileFormatError(
            f"{str(lock)!r} is the lock file of the job {locked!r}, and this is the job {job!r} of {file}. Give each "
            f"job a lock file of its own, by --lock. If {locked!r} was renamed to {job!r}: compare them by "
            f"penstock check --lock {lock}, then remove the lock file and write it again."
        )


def _is_of(lock: Path, file: str) -> bool:
    return _program_in(lock) in ("", Path(file).name)


def _program_in(lock: Path) -> str:
    """The name of the program that a lock file says; "" where the file cannot be read as one."""
    try:
        document = json.loads(lock.read_text(encoding="utf-8", errors="replace"))
    except ValueError:
        return ""  # reading it says what is wrong
    return program_of(document) if isinstance(document, dict) else ""


@dataclass(frozen=True)
class Check:
    """A program, and what it is compared with; ``savepoint``: the place of one, if it is that."""

    file: str
    planning: Planning
    old: ProgramModel
    allow: bool
    savepoint: str | None = None

    def first(self) -> Difference:
        """The comparison."""
        if self.savepoint is None or is_flinks(self.savepoint):
            return compare(self.old, opened(self.file, self.planning), allow=self.allow)
        from penstock.job.savepoint.store import read_savepoint
        from penstock.job.steps.versions import ended_operators

        pipeline = self.planning.plan(self.file)
        ended = ended_operators(pipeline, read_savepoint(self.savepoint))
        return compare(self.old, model_with_classes(pipeline), allow=self.allow, ended=ended)

    def fixed(self, difference: Difference) -> Difference:
        """The comparison after pins have been written into the program, as long as that helps."""
        from penstock.lock.fixer import fix

        left: dict[str, str] = {}
        for _ in range(_ROUNDS):
            done = fix(pins(difference))
            left = {f"{shown(pin.operator)}: {pin.text}": why for pin, why in done.left}
            for pin in done.written:
                click.echo(f"written: {place(pin.site)}  {pin.text}  ({shown(pin.operator)})", err=True)
            if not done.written:
                break
            difference = compare(self.old, planned_apart(self.file, self.planning), allow=self.allow)
            if difference.passes:
                break
        for pin, why in left.items():
            click.echo(f"not written: {pin}: {why}", err=True)
        return difference


def tell(difference: Difference, form: str, file: str) -> None:
    """Print what was found, in one of the formats."""
    if form != "text":
        click.echo(MAKERS[form](difference, [*fixes(difference)]), nl=False)
        return
    if difference.passes:
        click.echo(f"{file}: no state is {'known to be ' * bool(difference.unknown)}lost.")
    else:
        click.echo("\n".join([f"{file} would lose state.", *problem_lines(difference)]))
    # what nobody knows before it runs, and what a reviewer wants to see
    for problem in difference.unknown:
        click.echo(f"  unknown until it runs: {shown(problem.text, 1000)}{in_brackets(problem.site)}")
    for operator in difference.operators:
        for note in operator.facts:
            click.echo(f"  note: {shown(operator.name)}: {shown(note, 1000)}")
    if difference.passes:
        return
    if wanted := [*fixes(difference)]:
        click.echo("\nTo keep it, give these operators the IDs of that state:")
        for to_write in wanted:
            click.echo(f"  {to_write.line}")
        click.echo(f"or have these lines written: {same_program('check', '--fix')}")


def fixes(difference: Difference) -> Iterator[Fix]:
    """The lines that keep state which has moved, as texts tell them."""
    for pin in pins(difference):
        call = "" if pin.site is None else f"{pin.site.call}(…)"
        instead = "" if pin.instead_of is None else f"  instead of {Pin('', pin.method, pin.instead_of, None).text}"
        yield Fix(pin.operator, f"{call}{pin.text}{instead}", pin.site)


def tell_age(difference: Difference, lock: Path, file: str) -> None:
    """Whether the lock file is of an older program."""
    if written(difference.new, file) != lock.read_text(encoding="utf-8", errors="replace"):
        click.echo(f"{lock} is of an older program; when this one is deployed, write it again: {same_program('lock')}")
