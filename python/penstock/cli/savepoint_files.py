"""``penstock savepoint copy | remove | release``: savepoints as files."""

from __future__ import annotations

import click

from penstock.cli.options import Command
from penstock.cli.report import guard


@click.command(cls=Command)
@click.argument("savepoint")
@click.argument("new", metavar="NEW")
def copy(savepoint: str, new: str) -> None:
    """Copy a savepoint to NEW, its own folder, with all files: also of one by reference, which cannot be moved itself.

    It keeps its id.

    Examples:
      penstock savepoint copy /data/savepoints/savepoint-1f0c2a-6d3b9c01e7f2 /backup/counts
      penstock savepoint copy s3://bucket/savepoints/savepoint-1f0c2a-6d3b9c01e7f2 /tmp/counts
    """
    from penstock.job.savepoint.store import copy_savepoint, read_savepoint

    with guard():
        click.echo(copy_savepoint(read_savepoint(savepoint), new).place)


@click.command(cls=Command)
@click.argument("savepoints", metavar="SAVEPOINT...", nargs=-1, required=True)
def remove(savepoints: tuple[str, ...]) -> None:
    """Remove savepoints with their files.

    Of one by reference, the job's next start, or one of its next clean-ups, removes the state that only it needs.

    Examples:
      penstock savepoint remove /data/savepoints/savepoint-1f0c2a-6d3b9c01e7f2
    """
    from penstock.job.savepoint.store import read_savepoint, remove_savepoint

    with guard():
        for place in savepoints:
            remove_savepoint(read_savepoint(place))


@click.command(cls=Command)
@click.argument("version", metavar="JOB@VERSION")
def release(version: str) -> None:
    """Keep a version of a job no longer for savepoints by reference, whose folders were removed by other means.

    Those that are still there cannot be used when the job has removed the version.

    Examples:
      penstock savepoint release /data/jobs/counts@17
    """
    from penstock.job.savepoint.store import read_savepoint, release

    with guard():
        count = release(read_savepoint(version))
        click.echo(f"{version} was kept for {count} savepoint{'s' * (count != 1)}")


COMMANDS = copy, remove, release
