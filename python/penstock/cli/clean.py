"""``penstock clean``: finish or remove what jobs whose driver died have left."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from penstock.cli.options import Command
from penstock.cli.report import guard

if TYPE_CHECKING:
    from penstock.job.commit.leftovers import Leftover


@click.command("clean", Command)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--dead", is_flag=True, help="On stores: do not wait for leases, as the drivers are known to be dead.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
def command(dry_run: bool, dead: bool, paths: tuple[str, ...]) -> None:
    """Finish or remove what jobs that died have left of outputs.

    PATH is an output, or a folder that has outputs in it; on a store its URL. Of a job that was committed, all outputs
    are published; of any other, the pending files are removed. A job that still runs is left alone, and so is whatever
    Penstock does not know as its own.

    There is one line per job. The exit status is 1 when something had to be left.

    Examples:
      penstock clean counts                  what crashes have left of the output `counts`
      penstock clean --dry-run /data         and of all outputs in /data; only show it
    """
    from penstock.job.commit.leftovers import pending_at, recover
    from penstock.storage.storage import is_local

    with guard():
        leftovers: dict[str, Leftover] = {}  # one per job, though a job can have several folders
        for path in paths:
            if dead and is_local(path):
                raise click.UsageError(
                    f"--dead is for stores. {path!r} is local, where a lock says whether a driver lives. Leave the "
                    "option out."
                )
            for folder in pending_at(path):
                leftover = recover(folder, dry_run=dry_run, dead=dead)
                if leftover is not None:
                    leftovers.setdefault(leftover.folder, leftover)
        for leftover in leftovers.values():
            click.echo(_line(leftover, dry_run))
        if not leftovers:
            click.echo("nothing to clean")
        if any(leftover.verdict.value == "leave" for leftover in leftovers.values()):
            sys.exit(1)


def _line(leftover: Leftover, dry_run: bool) -> str:
    """Such as "removed: job 'counts', output /data/counts"."""
    verdict = leftover.verdict.value
    done = {"publish": "published", "remove": "removed", "running": "still running", "leave": "left"}[verdict]
    done = f"would {verdict}" if dry_run and verdict != "running" else done
    job = f"job {leftover.job!r}, " if leftover.job is not None else ""
    reason = f"\n  {leftover.folder}: {leftover.reason}" if leftover.reason else ""
    return f"{done}: {job}output {', '.join(leftover.targets)}{reason}"
