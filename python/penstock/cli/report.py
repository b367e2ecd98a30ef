"""How a failure is shown: one block that a person can read, with the line of their program in it.

``guard`` is the only entry. Errors that Penstock raises on purpose are explained without a Python traceback; any
other exception is the program's own and keeps its traceback, minus the frames of Penstock that led into the program.
"""

from __future__ import annotations

import os
import sys
import textwrap
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from penstock.errors import PenstockError

WIDTH = 100  # columns of everything that is laid out for a reader
PACKAGE = Path(__file__).resolve().parents[1]
LIBRARIES = tuple(f"{os.sep}{name}{os.sep}" for name in ("pyspark", "py4j", "cloudpickle", "click"))


@contextmanager
def guard(program: str | None = None, *, full_traceback: bool = False) -> Iterator[None]:
    """Turn an exception of the block into a message on standard error and exit status 1, with the lines of the user's
    program, if one is running; or into Python's whole traceback."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("penstock: interrupted", err=True)
        sys.exit(130)
    except click.ClickException:
        raise
    except Exception as error:
        if isinstance(error, BrokenPipeError):
            _close_stdout()
        elif full_traceback:
            traceback.print_exception(error)
        elif isinstance(error, PenstockError):
            click.echo(explanation(error), err=True)
        else:
            _print_foreign(error, program)
        sys.exit(1)


def explanation(error: PenstockError) -> str:
    """The readable form of an error: kind, message, cause with its line, and the line of the program that led to it."""
    lines = [click.style(f"error: {type(error).__name__}", fg="red", bold=True), *_wrapped(str(error))]
    if error.flink_class and error.flink_class.rpartition(".")[2] != type(error).__name__:
        lines.append(f"  (Flink: {error.flink_class})")
    cause = error.__cause__
    if cause is not None and str(cause) not in str(error):  # a failed job's message shows its cause already
        lines += ["", f"  caused by {type(cause).__name__}: {cause}", *_location(cause)]
    location = _location(error)
    if location:
        lines += ["", "  from this line of the program", *location]
    return "\n".join(lines)


def _location(error: BaseException) -> list[str]:
    """The innermost line of the user's own code in an error's traceback; no lines when there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_users(frame.filename):
            lines = [f"    {frame.filename}:{frame.lineno}, in {frame.name}"]
            return [*lines, f"      {frame.line}"] if frame.line else lines
    return []


def _is_users(filename: str) -> bool:
    if filename.startswith("<") or any(part in filename for part in LIBRARIES):
        return False
    path = Path(filename).resolve()
    return not path.is_relative_to(PACKAGE) and not path.is_relative_to(Path(os.__file__).resolve().parent)


def _wrapped(message: str) -> list[str]:
    lines: list[str] = []
    for line in message.splitlines() or [""]:
        if line[:1].isspace() or not line:  # laid out by whoever wrote it: code, a list, a traceback
            lines.append(f"  {line}".rstrip())
        else:
            lines += textwrap.wrap(line, WIDTH - 2, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return lines


def _print_foreign(error: Exception, program: str | None) -> None:
    """An exception that is not Penstock's: the program's own from the first frame of its file on, as if Python had run
    it. Without such a frame a program was not compiled or output not written, or it is a mistake of ours."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    if trace is not None or isinstance(error, SyntaxError):
        traceback.print_exception(type(error), error, trace)
    elif isinstance(error, OSError):
        click.echo(f"penstock: {error}", err=True)
        _close_stdout()
    else:
        traceback.print_exception(error)


def _close_stdout() -> None:
    """Keep Python from complaining about an output that takes nothing a second time, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
